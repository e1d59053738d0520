/** What a check has read of a pod that nobody is deleting, and what it would be deleted with. */
import type { EndpointSlice, Node, Pod, Service } from '../../model/kube.ts';
import { isRunning, statusesOf } from '../../model/pod.ts';
import type { LoweredGrace } from '../grace-advice.ts';
import { lowered } from '../grace-advice.ts';

/** What was read, in the order of `observations`; evidence cites its number. */
export type Source = 'pod' | 'services' | 'endpointslices' | 'poddisruptionbudgets' | 'nodes';

export interface BudgetFacts {
  name: string;
  allowed: number;
  healthy: number;
  /** Healthy pods that must stay. */
  desired: number;
  /** Its unhealthyPodEvictionPolicy is AlwaysAllow. */
  evictsUnready: boolean;
  /** `PodDisruptionBudget "web" allows 0 disruptions now: …` */
  text: string;
}

export interface CheckFacts {
  /** Client clock, ms. */
  at: number;
  pod: Pod;
  /** Those that select the pod. */
  services: readonly Service[];
  slices: readonly EndpointSlice[];
  budgets: readonly BudgetFacts[];
  node?: Node;
  /** How long each container's preStop hook takes, where that can be read from it. Seconds. */
  hookSeconds: ReadonlyMap<string, number>;
  /** What follows `sh -c`, by container, where its PID 1 is such a shell. */
  commandLines: ReadonlyMap<string, string>;
  requestedSeconds: number | null;
  /** --timeout, in seconds; null: none. */
  timeoutSeconds: number | null;
  /** It would be evicted rather than deleted. */
  evict: boolean;
  /** When each source was read (ms) and what was found, in order; absent ones were refused. */
  sources: ReadonlyMap<Source, { at: number; what: string }>;
  refused: readonly { resource: Source; at: number }[];
}

/** The deletion would ask for less than the spec gives. */
export const loweredOf = ({ pod, requestedSeconds }: CheckFacts): LoweredGrace | undefined =>
  requestedSeconds === null ? undefined : lowered(requestedSeconds, pod.spec.terminationGracePeriodSeconds);

export const graceOf = ({ pod, requestedSeconds }: CheckFacts): number =>
  requestedSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30;

/** Only what runs is stopped: the kubelet kills running containers, each after its hook (SIGNALS.md §2 S5). */
export const runs = ({ pod }: CheckFacts, name: string): boolean => isRunning(stateOf(pod, name));

/** It waits or has ended. One that the status leaves out may yet run: it is unknown. */
export const isIdle = ({ pod }: CheckFacts, name: string): boolean => {
  const state = stateOf(pod, name);
  return state !== undefined && !isRunning(state);
};

const stateOf = (pod: Pod, name: string) => statusesOf(pod).find((status) => status.name === name)?.state;

/** The observation that told of a source, as evidence; none where it could not be read. */
export function cite({ sources }: CheckFacts, ...wanted: Source[]): number[] {
  const order = [...sources.keys()];
  return wanted.flatMap((source) => (order.includes(source) ? [order.indexOf(source) + 1] : []));
}
