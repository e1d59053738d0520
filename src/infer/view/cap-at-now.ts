/**
 * What of a conclusion may be reported yet. Laws:
 *
 * 1. No reported instant lies in the future of the newest observation. What is expected (a kill at the end of the
 *    grace, the end of a `sleep` hook) is reported only once it must have happened.
 * 2. What later news may take back is provisional while the run lasts: a hook and a signal whose container has
 *    not been reported to have ended (a kill may fail, the kubelet may restart), an exit that only the end of a log shows.
 *    Nothing is judged by it, and a report of a run that was left before the end does not have it.
 */
import type { ContainerExit } from '../context.ts';
import type { Estimate } from '../estimate.ts';
import type { Trace } from '../../model/trace.ts';

/** Client times are read to the millisecond. */
const tick = 1;

/** Undefined while it may not have happened: what has been reported has, so its interval ends now at the latest. */
export function capAtNow(trace: Pick<Trace, 'now'>, estimate: Estimate | undefined): Estimate | undefined {
  if (!estimate) return undefined;
  const { lo, hi } = estimate.client;
  const latest = trace.now + tick;
  if (hi <= latest) return estimate;
  if (!Number.isFinite(hi) || lo > latest || estimate.basis === 'inferred') return undefined;
  return { ...estimate, client: { lo, hi: latest } };
}

type Ending = Pick<Trace, 'gone'>;
type Ended = Pick<ContainerExit, 'settled' | 'signal' | 'hook'>;

/** Hook and end of a container are not going to be taken back: its end was reported, or no news of it will come any more. */
export const isEndSettled = ({ gone }: Ending, { settled }: Ended): boolean => settled || gone !== undefined;

/**
 * The same of its stop signal, which the application itself may have named. None came where the container took its hook along
 * (SIGNALS.md §2 S6), and only the Event of the hook's failure shows that.
 */
export const isSignalSettled = (trace: Ending, container: Ended): boolean =>
  container.signal?.proved === true ||
  (isEndSettled(trace, container) && (container.hook?.mayFail !== true || trace.gone !== undefined));
