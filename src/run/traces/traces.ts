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

/** The pod is gone, or the kubelet ended it without a deletionTimestamp (SIGNALS.md trap 31): no deletion will follow. */
export function hasPodEnded({ gone, began, deletion, pod }: Trace): boolean {
  if (gone || deletion || began?.value.mode !== 'attach' || !pod || !isFinished(pod.value)) return gone !== undefined;
  const kubeletReasons = ['Evicted', 'Preempting', 'Terminated', 'DeadlineExceeded', 'NodeShutdown'];
  return kubeletReasons.includes(pod.value.status.reason ?? '');
}

/** ms in which shared streams deliver a pod's last changes, also once they are back: they confirm nothing (tracks.ts). */
export const sharedStreamDelayMs = 500;
