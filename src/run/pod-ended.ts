/** What a run knows about the end of a pod without the inference: trace-end.ts decides when its trace ends. */
import { isFinished } from '../model/pod.ts';
import type { Trace } from '../model/trace.ts';

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

/** ms in which shared streams deliver the last changes of one pod. They are not asked to confirm (tracks.ts). */
export const sharedStreamDelayMs = 500;
