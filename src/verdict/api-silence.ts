/** When the API server did not answer, as far as the broken streams of the run show it. Pure. */
import type { Timeline, TimelineGap } from '../infer/timeline.ts';
import { second, type Span } from '../model/span.ts';

/** A client repeats what the API server did not answer or refused after this time (SIGNALS.md §2 S15). */
export const retryMs = 10 * second;

const breaks: ReadonlySet<TimelineGap['cause']> = new Set(['disconnected', 'expired', 'late']);

/**
 * Stretches of client time in which the streams of three resources, with the pod's, were broken at once. A stream is
 * silent since its last line, so each stretch is an upper bound. It may also be this machine that had no connection.
 */
export function apiSilences({ gaps }: Timeline): Span[] {
  const broken = gaps.filter(({ cause, to }) => to !== undefined && breaks.has(cause));
  return broken.flatMap((gap) => {
    if (gap.resource !== 'pods') return [];
    const together = broken.filter(({ from, to = Infinity }) => from < (gap.to ?? Infinity) && to > gap.from);
    if (new Set(together.map(({ resource }) => resource)).size < 3) return [];
    const lo = Math.max(...together.map(({ from }) => from));
    const hi = Math.min(...together.map(({ to = Infinity }) => to));
    return hi - lo > second ? [{ lo, hi }] : [];
  });
}

/** The part of `span` in which a client may have waited for the API server: its silence, and until the next try. */
export function waitWithin(timeline: Timeline, { lo, hi }: Span): Span | undefined {
  const waits = apiSilences(timeline).map((silence) => ({
    lo: Math.max(lo, silence.lo),
    hi: Math.min(hi, silence.hi + retryMs),
  }));
  return waits.find((wait) => wait.hi - wait.lo >= second);
}

/** ms of that part. */
export function waitedWithin(timeline: Timeline, span: Span): number {
  const wait = waitWithin(timeline, span);
  return wait ? wait.hi - wait.lo : 0;
}
