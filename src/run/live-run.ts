/** What a live run is asked for, and what all its parts share. */
import type { JsonObject } from '../model/observe/read.ts';
import type { PodexitError } from '../errors.ts';
import type { Cluster } from '../kube/cluster.ts';
import type { Deliver, Interrupted, Mode, RawObservation, StreamName } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import type { Clock } from './clock.ts';
import type { FoundPod } from './pod-checks.ts';
import type { DeletionProgress } from './leaving.ts';
import type { StreamHealth } from './stream-health.ts';
import type { Probing } from './probing.ts';
import type { Scope } from './scope.ts';
import type { ExitOptions } from './trace-options.ts';
import type { Target } from './watched.ts';

/** A run over several pods: which they are. */
export interface Several extends Scope {
  /** The first that terminates is traced, and no other. */
  readonly isNext?: boolean;
  /** Called when all is watched: starts what the run follows. */
  start?(this: void): void;
  /** Whether one more terminating pod is traced. */
  wants(this: void, uid: string, pod: JsonObject): boolean;
  readonly listener: PodListener;
  /** The deletion of one of the named pods failed: the others go on. */
  readonly refused?: ((pod: JsonObject, error: PodexitError) => void) | undefined;
  /** The trace of the pod `uid` has come to its end. */
  ended(this: void, uid: string): void;
}

/** Follows more of the pods and their owners than their traces hold. */
export interface PodListener {
  /** Every state of every pod; undefined: it is gone. */
  seen(this: void, uid: string, pod: JsonObject | undefined): void;
  /** It is gone, and its termination was not observed; `why` ends the sentence. */
  missed(this: void, pod: JsonObject, why: string): void;
  /** All pods that there are. */
  listed(this: void, pods: readonly JsonObject[]): void;
  /** Whether silence of their stream means that nothing happens. */
  onAlive?(this: void, isSo: boolean): void;
  /** What an owner's stream brings. */
  owner?(this: void, rawObservation: RawObservation, target: Target): void;
  /** Whether silence of that stream means that nothing happens. */
  ownerAlive?(this: void, target: Target, isSo: boolean): void;
}

/** What it is asked for, of what the command was given. */
type Given = Pick<ExitOptions, 'mode' | 'graceSeconds' | 'insist' | 'waitReplacement' | 'followLogs'> &
  Partial<Pick<ExitOptions, 'retryEvict' | 'probes' | 'command'>>;

export interface LiveOptions extends FoundPod, Given {
  cluster: Cluster;
  clock: Clock;
  namespace: string;
  /** ms; null: never; `by-grace`: effective grace + 120 s. */
  timeoutMs: number | null | 'by-grace';
  /** Client ms at which that time is over, where some of it was spent before the run. */
  until?: number | undefined;
  /** Of the program; probes say it too. */
  version?: string;
  /** The run is about these, and not about the one pod `name`. */
  several?: Several;
  /** One sentence for stderr. */
  warn(message: string): void;
}

export interface Live {
  /** Delivers all that the run observes, until it is over. Throws what ends it, also what `deliver` throws. */
  source(this: void, deliver: Deliver): Promise<void>;
  /** To be called with each new trace: the source ends by it. */
  onTrace(trace: Trace, key?: string): void;
  /** Ends the run with what is known so far; the deletions themselves go on. */
  interrupt(signal: Interrupted['signal']): void;
  /** No further pod is wanted: ends when those that are traced have ended. */
  finish(): void;
  /** Closes what is still open, also before the end. */
  stop(): void;
  /** How many traces go on. */
  going(): number;
  /** How far the deletion of a trace's pod is by now. */
  progressOf(key: string): DeletionProgress;
}

/** What all parts of one run share. */
export interface Run {
  readonly options: LiveOptions;
  /** Aborted when the run is over. */
  readonly signal: AbortSignal;
  readonly streams: StreamHealth;
  readonly timers: Map<string, () => void>;
  /** Streams whose refusal has been said. */
  readonly warned: Set<StreamName>;
  /** The stream of the pods that the run is about. */
  readonly pods: Target;
  /** How many raw observations were delivered. */
  delivered: number;
  /** A DELETE (or an eviction) has been sent. */
  requested: boolean;
  /** While requests are sent. */
  probing: Probing | undefined;
  /** The last of them is on its way. */
  isProbingOver?: boolean;
  /** Called when a trace first shows the deletion of its pod. */
  onDeletion: ((trace: Trace) => void) | undefined;
  /** The newest trace of a pod's uid; of a run about one pod whatever the key. */
  traceOf(this: void, key: string): Trace | undefined;
  traces(this: void): Trace[];
  /** Names the pod in what is delivered about it; needless in a run about one pod. */
  ofPod(this: void, uid: string): { pod?: string };
  /** Starts the default time limit of the one pod, with its grace (s). */
  limitByGrace(this: void, seconds: number): void;
  /** Held back until `begin`. */
  readonly deliver: Deliver;
  /** Delivers how the run began, before all that was seen until now: its mode is known only by the pod. */
  begin(this: void, mode: Mode): void;
  /** Ends the run with an error. */
  fail(this: void, error: unknown): void;
  /** Delivers one more raw observation and ends. */
  last(this: void, rawObservation: RawObservation): void;
}
