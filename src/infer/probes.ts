/** Results of traffic probes, as numbers: counts, stretches of failures and latencies. Pure, so a replay gives the same. */
import type { WithOptional } from '../model/observe/read.ts';
import { quantile, sumByKey, sumOf } from '../model/probe-numbers.ts';
import type { ProbeCounts, ProbeFailures, ProbeTally } from '../model/probe-observation.ts';
import type { Instant, LatencyQuantiles, ProbeReport } from '../model/report.ts';
import type { Fact, ProbeFacts } from '../model/trace.ts';
import { onClient } from './estimate.ts';

/** The moments that separate latencies before, during and after the exit; ms, client clock. */
export interface ProbeMoments {
  /** The request or, if it was not ours, its acceptance. */
  readonly requested?: number;
  readonly removed?: number;
}

/** The results of all probes, in the order of their numbers. */
export const probeResultsOf = (probes: ReadonlyMap<number, ProbeFacts>, moments: ProbeMoments): ProbeResult[] =>
  [...probes].sort(([a], [b]) => a - b).map(([, facts]) => resultOf(facts, moments));

/** Probes whose failures a client would see (docs/traffic.md). One that was never answered may have a wrong address. */
export const lossProbes = (results: readonly ProbeResult[]): ProbeResult[] =>
  results.filter(
    (one) => one.via !== 'pod-proxy' && (one.succeeded > 0 || one.sent === 0 || one.otherPods !== undefined),
  );

/** How many requests were sent as a client would send them, and how many of those failed. */
export const lostBy = (results: readonly ProbeResult[]): ProbeTally => sumOf(lossProbes(results));

export const unmeasuredBy = ({ notMeasured }: ProbeResult): number =>
  notMeasured.reduce((sum, { count }) => sum + count, 0);

/** So few requests were measured that they do not prove that none was lost. */
export const isMostlyUnmeasured = (result: ProbeResult): boolean => unmeasuredBy(result) > result.sent;

/** The first and the last failure that a client would see. */
export function failureMarks(results: readonly ProbeResult[]) {
  const windows = lossProbes(results).flatMap((result) => result.windows);
  if (windows.length === 0) return [];
  const stretches = windows.flatMap((window) => window.stretches);
  const of = (name: 'first-failure' | 'last-failure', at: number) => {
    const stretch = stretches.find(({ first, last }) => first <= at && at <= last);
    const estimate = onClient({ lo: at, hi: at + 1 }, stretch ? [stretch.seq] : [], 'observed');
    const moment = { ...estimate, earliest: at, latest: at + 1, shown: at, estimate };
    return { id: name, name, at: moment, provisional: false };
  };
  return [
    of('first-failure', Math.min(...windows.map(({ start }) => start))),
    of('last-failure', Math.max(...windows.map(({ end }) => end))),
  ];
}

/** The report of one probe. */
export function probeReportOf(result: ProbeResult): ProbeReport {
  const { target, via, ratePerSecond, sent, succeeded, failed, latencyMs, notMeasured } = result;
  return {
    target,
    via,
    ratePerSecond,
    sent,
    succeeded,
    failed,
    failures: failuresOf(result.windows),
    windows: result.windows.map(({ start, end, failed, stretches }) => ({
      start: instantOf(start, stretches),
      end: instantOf(end, stretches),
      failed,
    })),
    connections: result.kept && { new: result.new, kept: result.kept },
    latencyMs,
    notMeasured: notMeasured.length === 0 ? undefined : [...notMeasured],
  };
}

export type ProbeResult = WithOptional<ReturnType<typeof resultOf>>;

function resultOf({ started, slices, otherPods }: ProbeFacts, moments: ProbeMoments) {
  const { target, via, ratePerSecond, keepalive, pod } = started.value;
  const counts = slices.map(({ value }) => value);
  const fresh = sumOf(counts.map((one) => one.new));
  const kept = keepalive ? sumOf(counts.map((one) => one.kept)) : undefined;
  const { sent, failed } = sumOf([fresh, kept]);
  const answered = lastAnswered(slices);
  return {
    target,
    via,
    ratePerSecond,
    /** The uid of the pod that was probed (`pod-proxy`). */
    pod,
    sent,
    succeeded: sent - failed,
    failed,
    new: fresh,
    kept,
    /** Other pods that left meanwhile: a failure may be theirs. */
    otherPods,
    windows: windowsOf(slices),
    /** Slices of about half a second, which are drawn as ticks. */
    slices: slices.map(({ value, at }) => ({ from: value.since, to: at, ...sumOf([value.new, value.kept]) })),
    /** When the last request that succeeded was sent. The target still accepted requests then. */
    answered,
    /** The first refused connection after the last answer. The target had stopped listening by then. */
    refusedBy: refusedAfter(slices, answered?.last ?? Infinity),
    latencyMs: latenciesOf(slices, moments),
    notMeasured: notMeasuredOf(counts),
  };
}

export type FailureStretch = Readonly<ProbeFailures & { seq: number }>;

/** A stretch in which requests failed, at most 1 s apart. */
export type FailureWindow = ReturnType<typeof windowsOf>[number];

function windowsOf(slices: readonly Fact<ProbeCounts>[]) {
  const stretches = slices
    .flatMap(({ value, seq }) => value.failures.map((failure): FailureStretch => ({ ...failure, seq })))
    .sort((a, b) => a.first - b.first);
  const windows: { start: number; end: number; failed: number; stretches: FailureStretch[] }[] = [];
  for (const stretch of stretches) {
    const { first: start, last: end, count: failed } = stretch;
    const open = windows.at(-1);
    if (!open || start - open.end > 1000) windows.push({ start, end, failed, stretches: [stretch] });
    else {
      open.end = Math.max(open.end, end);
      open.failed += failed;
      open.stretches.push(stretch);
    }
  }
  return windows;
}

function failuresOf(windows: readonly FailureWindow[]): ProbeReport['failures'] {
  const all = new Map<string, ProbeReport['failures'][number]>();
  for (const { kind: failure, status, count } of windows.flatMap(({ stretches }) => stretches)) {
    // Readers of reports know no other kind for an answer that was not expected.
    const kind = failure === 'not-serving' ? 'http' : failure;
    const key = `${kind} ${status ?? ''}`;
    all.set(key, { kind, status, count: count + (all.get(key)?.count ?? 0) });
  }
  return [...all.values()].sort((a, b) => b.count - a.count);
}

function lastAnswered(slices: readonly Fact<ProbeCounts>[]) {
  const answers = slices.flatMap(({ value, seq }) => (value.answered ? [{ last: value.answered.lastSent, seq }] : []));
  return answers.sort((a, b) => a.last - b.last).at(-1);
}

function refusedAfter(slices: readonly Fact<ProbeCounts>[], answered: number) {
  const refused = slices.flatMap(({ value, seq }) =>
    value.failures.filter(({ kind }) => kind === 'refused').map(({ first }) => ({ at: first, seq })),
  );
  return refused.find(({ at }) => at > answered);
}

function notMeasuredOf(counts: readonly ProbeCounts[]) {
  const all = counts.flatMap(({ notMeasured = [] }) =>
    notMeasured.map(({ reason, count }) => [reason, count] as const),
  );
  return [...sumByKey(all)].map(([reason, count]) => ({ reason, count }));
}

/** A slice belongs to the part in which its middle lies, so a border is off by at most a quarter of a second. */
function latenciesOf(
  slices: readonly Fact<ProbeCounts>[],
  { requested = Infinity, removed = Infinity }: ProbeMoments,
): ProbeReport['latencyMs'] {
  const within = (from: number, to: number): LatencyQuantiles | undefined => {
    const own = slices.filter(({ value, at }) => (value.since + at) / 2 >= from && (value.since + at) / 2 < to);
    const histogram = sumByKey(own.flatMap(({ value }) => value.latency));
    const [p50, p99] = [quantile(histogram, 0.5), quantile(histogram, 0.99)];
    return p50 === undefined || p99 === undefined ? undefined : { p50, p99 };
  };
  return {
    before: within(-Infinity, requested),
    during: within(requested, removed),
    after: within(Math.max(requested, removed), Infinity),
  };
}

/** Observations carry whole milliseconds, rounded down. */
const instantOf = (at: number, stretches: readonly FailureStretch[]): Instant => ({
  earliest: new Date(at).toISOString(),
  latest: new Date(at + 1).toISOString(),
  basis: 'observed',
  evidence: [...new Set(stretches.map(({ seq }) => seq))].slice(0, 20),
});
