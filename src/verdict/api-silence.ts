/** When the API server did not answer, as far as broken streams and late answers show it. Pure. */
import type { TimelineGap } from '../infer/timeline.ts';
import { second, type Span } from '../model/span.ts';
import { allNotes, type RuleInput } from './rule-input.ts';

/** A client repeats what the API server did not answer or refused after this time (SIGNALS.md §2 S15). */
export const retryMs = 10 * second;

const breaks: ReadonlySet<TimelineGap['cause']> = new Set(['disconnected', 'expired', 'late']);

/**
 * Stretches of client time in which the streams of three resources, with the pod's, were broken at once. A stream is
 * silent since its last line, so each stretch is an upper bound. It may also be this machine that had no connection.
 */
export function apiSilences(input: RuleInput): Span[] {
  const broken = input.timeline.gaps.filter(({ cause, to }) => to !== undefined && breaks.has(cause));
  const silences = broken.flatMap((gap) => {
    if (gap.resource !== 'pods') return [];
    const together = broken.filter(({ from, to = Infinity }) => from < (gap.to ?? Infinity) && to > gap.from);
    if (new Set(together.map(({ resource }) => resource)).size < 3) return [];
    const lo = Math.max(...together.map(({ from }) => from));
    const hi = Math.min(...together.map(({ to = Infinity }) => to));
    return hi - lo > second ? [{ lo, hi }] : [];
  });
  return [...silences, ...standstills(input)];
}

/**
 * A server that stands still breaks nothing. Then the kubelet's renewal of its Lease arrives long after it was sent, and
 * the answer to a request of ours as late: one alone may be the node's connection or ours.
 */
const standstills = ({ trace, network }: RuleInput): Span[] =>
  trace.nodeSigns.renewals.flatMap(({ value: { stamp }, at }) => {
    const sent = network.toClient('node', { lo: stamp, hi: stamp }).hi;
    const isOurs = trace.slowAnswers.some(({ lo, hi }) => lo < at && Math.abs(hi - at) < second);
    if (at - sent < 2 * second || !isOurs) return [];
    return [{ lo: allNotes(trace.notes).findLast((note) => note.at <= sent)?.at ?? sent, hi: at }];
  });

/** The part of `span` in which a client may have waited for the API server: its silence, and until the next try. */
export function waitWithin(input: RuleInput, { lo, hi }: Span): Span | undefined {
  const waits = apiSilences(input).map((silence) => ({
    lo: Math.max(lo, silence.lo),
    hi: Math.min(hi, silence.hi + retryMs),
  }));
  return waits.find((wait) => wait.hi - wait.lo >= second);
}

/** ms of that part. */
export function waitedWithin(input: RuleInput, span: Span): number {
  const wait = waitWithin(input, span);
  return wait ? wait.hi - wait.lo : 0;
}
