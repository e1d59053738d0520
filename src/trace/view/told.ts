/**
 * What of a conclusion may be told yet.
 *
 * Law: no instant that is told lies in the future of the newest observation. What is expected (a kill at the end of
 * the grace, the end of a `sleep` hook) is told only once it must have happened.
 */
import type { Estimate } from '../infer/estimate.ts';
import type { Trace } from '../trace.ts';

/** Client times are read to the millisecond. */
const tick = 1;

/** Undefined while it may not have happened: what has been reported has, so its interval ends now at the latest. */
export function told(trace: Pick<Trace, 'now'>, estimate: Estimate | undefined): Estimate | undefined {
  if (!estimate) return undefined;
  const { lo, hi } = estimate.client;
  const latest = trace.now + tick;
  if (hi <= latest) return estimate;
  if (!Number.isFinite(hi) || lo > latest || estimate.basis === 'inferred') return undefined;
  return { ...estimate, client: { lo, hi: latest } };
}
