/** When the API server did not answer, as far as the broken streams of the run show it. Pure. */
import { second, type Span } from '../model/span.ts';
import type { Trace } from '../model/trace.ts';

/** A client repeats what the API server did not answer or refused after this time (SIGNALS.md §2 S15). */
export const retryMs = 10 * second;

/**
 * Stretches of client time in which three streams were broken at once, and the pod's brought a change late. A stream is
 * silent since its last line, so each stretch is an upper bound. It may also be this machine that had no connection.
 */
export function apiSilences({ gaps, resumes }: Trace): Span[] {
  const lost = gaps.filter(({ value: { cause } }) => cause === 'disconnected' || cause === 'expired');
  const resumed = resumes.map(({ value, at }) => ({ ...value, from: value.since, to: value.until ?? at }));
  const broken = [...lost.map(({ value }) => ({ ...value, late: true })), ...resumed];
  return broken.flatMap(({ stream, late, from, to = from }) => {
    if (!stream.startsWith('pod') || !late) return [];
    const together = broken.filter((one) => one.from < to && (one.to ?? one.from) > from);
    if (new Set(together.map((one) => one.stream)).size < 3) return [];
    const lo = Math.max(...together.map((one) => one.from));
    const hi = Math.min(...together.map((one) => one.to ?? one.from));
    return hi - lo > second ? [{ lo, hi }] : [];
  });
}

/** The part of `span` in which a client may have waited for the API server: its silence, and until the next try. */
export function waitWithin(trace: Trace, { lo, hi }: Span): Span | undefined {
  const waits = apiSilences(trace).map((silence) => ({
    lo: Math.max(lo, silence.lo),
    hi: Math.min(hi, silence.hi + retryMs),
  }));
  return waits.find((wait) => wait.hi - wait.lo >= second);
}

/** ms of that part. */
export function waitedWithin(trace: Trace, span: Span): number {
  const wait = waitWithin(trace, span);
  return wait ? wait.hi - wait.lo : 0;
}
