/** When the API server did not answer, as far as broken streams and late answers show it. Pure. */
import { second, type Span } from '../model/span.ts';
import { allNotes, type RuleInput } from './rule-input.ts';

/** A client repeats what the API server did not answer or refused after this time (SIGNALS.md §2 S15). */
export const retryMs = 10 * second;

/**
 * Stretches of client time in which three streams were broken at once, and the pod's brought a change late. A stream is
 * silent since its last line, so each stretch is an upper bound. It may also be this machine that had no connection.
 */
export function apiSilences(input: RuleInput): Span[] {
  const { gaps, resumes } = input.trace;
  const lost = gaps.filter(({ value: { cause } }) => cause === 'disconnected' || cause === 'expired');
  const resumed = resumes.map(({ value, at }) => ({ ...value, from: value.since, to: value.until ?? at }));
  const broken = [...lost.map(({ value }) => ({ ...value, late: true })), ...resumed];
  const silences = broken.flatMap(({ stream, late, from, to = from }) => {
    if (!stream.startsWith('pod') || !late) return [];
    const together = broken.filter((one) => one.from < to && (one.to ?? one.from) > from);
    if (new Set(together.map((one) => one.stream)).size < 3) return [];
    const lo = Math.max(...together.map((one) => one.from));
    const hi = Math.min(...together.map((one) => one.to ?? one.from));
    return hi - lo > second ? [{ lo, hi }] : [];
  });
  return [...silences, ...standstills(input)];
}

/**
 * A server that stands still breaks nothing. Then it writes the kubelet's renewal of its Lease long after that was sent, and
 * answers a request of ours as late: one alone may be the node's connection or ours. What is written in time and arrives
 * late, as while etcd stands still, may have waited for our connection.
 */
const standstills = ({ trace, network }: RuleInput): Span[] =>
  trace.nodeSigns.renewals.flatMap(({ value: { stamp, written }, at }) => {
    const sent = network.toClient('node', { lo: stamp, hi: stamp }).hi;
    const isWrittenLate = written !== undefined && network.toClient('api', written).lo - sent >= second;
    const isOurs = trace.slowAnswers.some(({ lo, hi }) => lo < at && Math.abs(hi - at) < second);
    if (at - sent < 2 * second || !isWrittenLate || !isOurs) return [];
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
