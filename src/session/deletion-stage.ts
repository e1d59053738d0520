/** How far the deletion has come, for whoever leaves: what is said of it must be true. Pure. */
import type { Trace } from '../trace/trace.ts';

/** `in-doubt`: asked for, and neither an answer nor the pod has told yet whether the server took it. */
export type DeletionStage = 'not-asked' | 'in-doubt' | 'under-way' | 'gone';

/** `requested`: a request is on its way, though the trace may not know of it yet. */
export function deletionStage(trace: Trace | undefined, requested: boolean): DeletionStage {
  if (trace?.gone) return 'gone';
  const answers = trace?.requests.map(({ answer }) => answer?.value.status) ?? [];
  if (trace?.deletion || answers.some(isSuccess)) return 'under-way';
  const isAnswered = answers.length > 0 && !answers.includes(undefined);
  return requested && !isAnswered ? 'in-doubt' : 'not-asked';
}

const isSuccess = (status: number | undefined): boolean => status !== undefined && status >= 200 && status < 300;
