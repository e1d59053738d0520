/**
 * The pods that a run is about. One pod is a group of one: its streams are narrowed to its name, and its log is about
 * nothing else. The pods of any other group share their streams, and each observation about one of them names it.
 */
import type { PodexitError } from '../../errors.ts';
import type { Deliver, RawObservation } from '../../model/observation.ts';
import type { JsonObject } from '../../model/observe/read.ts';
import { podTarget, type Watched } from '../streams/watched.ts';

/** A pod that was named, chosen or seen. */
export interface FoundPod {
  readonly name: string;
  /** Absent if the user named the pod: then any pod of that name is meant. */
  readonly uid?: string;
}

export interface Group {
  /** Its streams are narrowed to the name of its only pod. */
  readonly isOne: boolean;
  /** In words: `pod/web-0`, `deployment/checkout`. */
  readonly target: string;
  /** Empty: all namespaces. */
  readonly namespace: string;
  /** The stream of the pods. */
  readonly pods: Watched;
  /** Whether a pod of that stream belongs to the group: labels of workloads may overlap, owners do not. */
  owns(this: void, pod: JsonObject): boolean;
  /** The common owner, if it is known before the pods. */
  readonly owner?: { readonly kind: string; readonly name: string };
  /** The pods that the user named; absent: every terminating pod. */
  readonly named?: readonly FoundPod[];
  /** Only the first pod that terminates is traced. */
  readonly isNext?: boolean;
  /** It is followed until it is stopped: everything that its pods need is watched as a whole, or while one terminates. */
  readonly isEndless?: boolean;
}

export const groupOfOne = (namespace: string, pod: FoundPod): Group => ({
  isOne: true,
  target: `pod/${pod.name}`,
  namespace,
  pods: podTarget(namespace, pod.name),
  owns: () => true,
  named: [pod],
});

/** For sentences: `pod "web-0"`, `the pods of deployment/checkout`. */
export const groupText = ({ isOne, named = [], target }: Group): string =>
  isOne ? `pod "${named[0]?.name ?? ''}"` : `the pods of ${target}`;

/** What a command decides and is told while the pods of its group are followed. */
export interface GroupListener {
  /** Called when all streams are in sync: starts the command that the run follows. */
  start?(this: void, deliver: Deliver): void;
  /** Whether to trace this terminating pod; absent: every one. */
  shouldTrace?(this: void, uid: string, pod: JsonObject): boolean;
  /** The deletion of a named pod failed: the run goes on with the others. Absent: the run fails. */
  refused?: ((pod: JsonObject, error: PodexitError) => void) | undefined;
  /** The trace of the pod `uid` has ended. */
  ended?(this: void, uid: string): void;
  /** Every state of every pod; undefined if the pod is gone. */
  seen?(this: void, uid: string, pod: JsonObject | undefined): void;
  /** The pod is gone, and its termination was not observed; `text` says so in a sentence. */
  missed?(this: void, pod: JsonObject, text: string): void;
  listed?(this: void, pods: readonly JsonObject[]): void;
  /** One observation of an owner's stream. */
  ownerSeen?(this: void, rawObservation: RawObservation, target: Watched): void;
  /** Whether a stream is alive, so that silence means that nothing happens. */
  alive?(this: void, target: Watched, isAlive: boolean): void;
}
