/** The traces of one run, updated as its log grows, and what its parts ask of a trace without the inference. */
import type { ProbeFacts, Trace } from '../../model/trace.ts';
import type { Observation } from '../../model/observation.ts';
import { isFinished } from '../../model/pod.ts';

export interface Traces {
  /** Adds one observation of the log. Returns the keys of the traces that it concerns. */
  add(observation: Observation): readonly string[];
  /** The trace by the pod's uid, or by `onePod`. */
  get(key: string): Trace | undefined;
  /** The keys of the open traces, in the order in which they began. */
  keys(): readonly string[];
  /** The probes of the run, by number. */
  probes(): ReadonlyMap<number, ProbeFacts>;
  /** Closes a reported trace: it takes no more observations, and `replacement` can replace no other pod. */
  close(key: string, replacement?: string): void;
}

/** The key of the trace in a run about one pod, whose uid may not be known yet. */
export const onePod = '';

/** The trace of the one pod, or of several pods the open trace that began first. */
export const firstTrace = (traces: Traces): Trace | undefined => traces.get(traces.keys()[0] ?? onePod);

/** The pod is gone, or ended without a deletion. */
export const hasPodEnded = (trace: Trace): boolean => trace.gone !== undefined || endedUndeleted(trace);

/** The kubelet can end a pod without a deletionTimestamp (SIGNALS.md trap 31): then no deletion will follow. */
function endedUndeleted(trace: Trace): boolean {
  const pod = trace.pod?.value;
  const kubeletReasons = ['Evicted', 'Preempting', 'Terminated', 'DeadlineExceeded', 'NodeShutdown'];
  return (
    trace.began?.value.mode === 'attach' &&
    !trace.deletion &&
    pod !== undefined &&
    isFinished(pod) &&
    kubeletReasons.includes(pod.status.reason ?? '')
  );
}

/** ms in which shared streams deliver a pod's last changes, also once they are back: they confirm nothing (tracks.ts). */
export const sharedStreamDelayMs = 500;
