/** Periods in which a Service had no ready endpoint after it had one, by arrivals. */
import { deliverableSince } from '../infer/arrival.ts';
import { second } from '../model/span.ts';
import type { SliceState, Trace } from '../model/trace.ts';
import type { RuleInput } from './rule-input.ts';

interface Period {
  readonly from: number;
  readonly to: number;
  /** `missed`: the stream was cut or late, so the period may have been longer; `open`: it lasted until the trace ended. */
  readonly end: 'seen' | 'missed' | 'open';
  readonly evidence: number[];
}

export const periodLength = ({ ms, end }: { readonly ms: number; readonly end: Period['end'] }) => ({
  min: ms,
  max: end === 'seen' ? ms : Infinity,
  shown: ms,
});

/** The longest such period of each Service. */
export function noReadyPeriods({ trace, deletion, timeline }: RuleInput) {
  const own = [...trace.slices.values()].filter(({ states }) => states.some((state) => state.value.own));
  const services = new Set(own.flatMap((facts) => facts.service ?? []));
  const lastMark = Math.max(...timeline.marks.map(({ at }) => at.latest));
  // What comes soon after the last mark is not printed.
  const until = Math.min(trace.lastReceivedAt, lastMark + second > trace.lastReceivedAt ? lastMark : Infinity);
  return [...services].flatMap((service) => {
    const periods = periodsOf(trace, service, until)
      .filter(({ to }) => to > deletion.accepted.client.lo)
      .map(({ from, to, end, evidence }) => ({ service, ms: to - from, end, evidence }))
      // One sync writes several slices one after another: a shorter period may be only the time between them.
      .filter(({ ms, end }) => end === 'open' || ms >= 100);
    return periods.sort((a, b) => b.ms - a.ms).slice(0, 1);
  });
}

function periodsOf(trace: Trace, service: string, until: number): Period[] {
  const changes = [...trace.slices]
    .filter(([, facts]) => facts.service === service)
    .flatMap(([name, facts]) => facts.states.map((state) => ({ name, state })))
    .sort((a, b) => a.state.seq - b.state.seq);
  const current = new Map<string, SliceState>();
  const ended: Period[] = [];
  let last: Period | undefined;
  let hadReady = false;
  for (const { name, state } of changes) {
    current.set(name, state.value);
    const isDeleted = state.value.deleted === true;
    const isReady = [...current.values()].some(({ otherReady, own }) => otherReady > 0 || own?.ready);
    if (last && (isReady || isDeleted)) {
      // The earliest possible time of the change; on a live stream, its arrival.
      const deliverable = deliverableSince(trace, 'endpointslices', state.at);
      const end = deliverable === state.at ? 'seen' : 'missed';
      ended.push({ ...last, to: deliverable, end, evidence: [...last.evidence, state.seq] });
      last = undefined;
    } else if (!isReady && hadReady && !last && !isDeleted) {
      const to = until > state.at ? until : trace.lastReceivedAt;
      last = { from: state.at, to, end: 'open', evidence: [state.seq] };
    }
    hadReady = isReady || (hadReady && !isDeleted);
  }
  return [...ended, ...(last ? [last] : [])].map((period) => untilGap(trace, period));
}

/** Whatever a gap of the stream hides: before the gap began, no endpoint was ready. */
function untilGap({ gaps }: Trace, period: Period): Period {
  const later = gaps.filter(({ value: { stream, from } }) => stream === 'endpointslices' && from > period.from);
  const gapStart = Math.min(...later.map(({ value }) => value.from));
  return gapStart < period.to ? { ...period, to: gapStart, end: 'missed' } : period;
}
