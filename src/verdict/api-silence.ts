/** When the API server did not answer, as far as broken streams and late answers show it. Pure. */
import { lastWritten } from '../model/reduce/clocks.ts';
import { second, type Span } from '../model/span.ts';
import { allNotes } from '../model/trace.ts';
import type { RuleInput } from './rule-input.ts';

/** A client repeats what the API server did not answer or refused after this time (SIGNALS.md §2 S15). */
export const retryMs = 10 * second;

/**
 * Stretches of client time in which three streams were broken at once, and the pod's brought a change late. A stream is
 * silent since its last line, so each stretch is an upper bound. It may also be this machine that had no connection.
 */
function apiSilences(input: RuleInput): Span[] {
  const { gaps, resumes } = input.trace;
  const lost = gaps.filter(({ value: { cause } }) => cause === 'disconnected' || cause === 'expired');
  const resumed = resumes.map(({ value, at }) => ({ ...value, from: value.since, to: value.until ?? at }));
  const broken = [...lost.map(({ value }) => ({ to: -Infinity, ...value, late: true })), ...resumed];
  const silences = broken.flatMap(({ stream, late, from, to }) => {
    if (!stream.startsWith('pod') || !late) return [];
    const together = broken.filter((one) => one.from < to && one.to > from);
    if (new Set(together.map((one) => one.stream)).size < 3) return [];
    const lo = Math.max(...together.map((one) => one.from));
    const hi = Math.min(...together.map((one) => one.to));
    return hi - lo >= 2 * second ? [{ lo, hi }] : [];
  });
  return [...silences, ...standstills(input)];
}

/**
 * A server that stands still breaks nothing. Then it writes what the kubelet sent, a renewal of its Lease or the exits, late
 * and as it answers a request of ours: one alone may be the node's connection or ours. What is written in time and arrives
 * late may have waited for our connection. Nothing shows when the exits were sent: they count since we asked.
 */
function standstills({ trace, network }: RuleInput): Span[] {
  const { terminal, nodeSigns, answers, notes } = trace;
  const exits = terminal && { at: terminal.at, value: { stamp: undefined, written: lastWritten(terminal.value) } };
  return [...nodeSigns.renewals, ...(exits ? [exits] : [])].flatMap(({ value: { stamp, written }, at }) => {
    const late = answers.filter(
      ({ lo, hi, read }) => read === 'stored' && hi - lo > second && Math.abs(hi - at) < second,
    );
    const asked = Math.min(...late.map(({ lo }) => lo));
    if (asked >= at || !written) return [];
    const sent = stamp ? network.toClient('node', { lo: stamp, hi: stamp }).hi : asked;
    const isWrittenLate = network.toClient('api', written).lo >= Math.max(sent + second, at - 2 * second);
    if (at - sent < 2 * second || !isWrittenLate) return [];
    return [{ lo: allNotes(notes).findLast((note) => note.at <= sent)?.at ?? sent, hi: at }];
  });
}

/** In which a client may have waited for the API server, until its next try. `isOfStorage`: it answered from memory. */
export function waitWithin(input: RuleInput, { lo, hi }: Span) {
  const fromMemory = input.trace.answers.filter((one) => one.read === 'cached' && one.hi - one.lo < second);
  const waits = apiSilences(input).map((silence) => {
    const [from, until] = [Math.max(lo, silence.lo), Math.min(hi, silence.hi + retryMs)];
    const isOfStorage = fromMemory.some((one) => one.lo > silence.lo && one.hi < silence.hi - second);
    return { ...silence, from, until, ms: until - from, isOfStorage };
  });
  return waits.find(({ ms }) => ms >= second);
}
