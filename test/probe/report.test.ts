/** The report of a probe, from its observations alone. */
import { expect, it } from 'vitest';
import { probeReportOf, probeResultsOf } from '../../src/infer/probes.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { bucketOf, quantile } from '../../src/model/probe-numbers.ts';
import type { ProbeCounts, ProbeFailures, ProbeObservation } from '../../src/model/probe-observation.ts';
import { reduce } from '../../src/model/reduce.ts';

const started: ProbeObservation = {
  ...{ kind: 'probe-started', probe: 0, target: 'http://shop', via: 'url' },
  ...{ ratePerSecond: 20, timeoutMs: 1000, keepalive: true },
};

const counts = (since: number, more: Partial<ProbeCounts>): ProbeCounts => ({
  ...{ kind: 'probe-counts', probe: 0, since, new: { sent: 5, failed: 0 }, kept: { sent: 5, failed: 0 } },
  ...{ failures: [], latency: [], ...more },
});

const refused = (first: number, last: number, count: number): ProbeFailures => ({
  ...{ kind: 'refused', connection: 'new', first, last, count },
});

function traceOf(observations: readonly (ProbeObservation & { at: number })[]) {
  return observations.map((one, index) => ({ ...one, seq: index + 1 })).reduce(reduce, emptyTrace);
}

it('joins failures that are at most a second apart into one window, across observations', () => {
  const trace = traceOf([
    { at: 0, ...started },
    { at: 500, ...counts(0, { failures: [refused(450, 490, 2)], new: { sent: 5, failed: 2 } }) },
    { at: 1500, ...counts(1000, { failures: [refused(1490, 1490, 1)], new: { sent: 5, failed: 1 } }) },
    { at: 3000, ...counts(2500, { failures: [refused(2491, 2700, 3)], new: { sent: 5, failed: 3 } }) },
  ]);
  const [report] = probeResultsOf(trace.probes, {}).map(probeReportOf);
  expect(report).toMatchObject({
    ...{ sent: 30, succeeded: 24, failed: 6, failures: [{ kind: 'refused', count: 6 }] },
    connections: { new: { sent: 15, failed: 6 }, kept: { sent: 15, failed: 0 } },
  });
  expect(report?.windows.map(({ start, end, failed }) => [start.earliest, end.earliest, failed])).toEqual([
    ['1970-01-01T00:00:00.450Z', '1970-01-01T00:00:01.490Z', 3],
    ['1970-01-01T00:00:02.491Z', '1970-01-01T00:00:02.700Z', 3],
  ]);
  expect(report?.windows[0]?.start).toMatchObject({ latest: '1970-01-01T00:00:00.451Z', evidence: [2, 3] });
});

it('counts NOT_SERVING of gRPC as an unexpected answer, as the schema knows it', () => {
  const notServing: ProbeFailures = { kind: 'not-serving', connection: 'new', first: 450, last: 490, count: 2 };
  const unexpected: ProbeFailures = { ...notServing, kind: 'http', count: 1 };
  const trace = traceOf([
    { at: 0, ...started },
    { at: 500, ...counts(0, { failures: [notServing, unexpected], new: { sent: 5, failed: 3 } }) },
  ]);
  const [report] = probeResultsOf(trace.probes, {}).map(probeReportOf);
  expect(report?.failures).toEqual([{ kind: 'http', status: undefined, count: 3 }]);
});

it('has separate latencies before the request, until the removal and after it, if there were answers', () => {
  const at = (ms: number): ProbeCounts['latency'] => [[bucketOf(ms), 100]];
  const trace = traceOf([
    { at: 0, ...started },
    { at: 500, ...counts(0, { latency: at(2) }) },
    { at: 1500, ...counts(1000, { latency: at(300) }) },
  ]);
  const [report] = probeResultsOf(trace.probes, { requested: 800, removed: 9000 }).map(probeReportOf);
  expect(report?.latencyMs.before?.p50).toBeCloseTo(2, 1);
  expect(report?.latencyMs.during?.p99).toBeGreaterThan(292);
  expect(report?.latencyMs.during?.p99).toBeLessThan(308);
  expect(report?.latencyMs.after).toBeUndefined();
});

it('has bounded memory over an hour without losing a count or a window', () => {
  const hours = Array.from({ length: 5000 }, (_, index) => {
    const since = index * 500;
    const fails = index % 1000 === 7;
    const failures = fails ? [refused(since + 10, since + 20, 1)] : [];
    return { at: since + 500, ...counts(since, { failures, new: { sent: 5, failed: fails ? 1 : 0 } }) };
  });
  const trace = traceOf([{ at: 0, ...started }, ...hours]);
  expect(trace.probes.get(0)?.slices.length).toBeLessThan(1300);
  const [report] = probeResultsOf(trace.probes, {}).map(probeReportOf);
  expect(report).toMatchObject({ sent: 50_000, failed: 5 });
  expect(report?.windows.map(({ start }) => Date.parse(start.earliest))).toEqual(
    [7, 1007, 2007, 3007, 4007].map((index) => index * 500 + 10),
  );
});

it('has bounded memory if a target fails for half an hour', () => {
  const hours = Array.from({ length: 4000 }, (_, index) => {
    const since = index * 500;
    const failures = [refused(since + 10, since + 490, 5)];
    return { at: since + 500, ...counts(since, { failures, new: { sent: 5, failed: 5 } }) };
  });
  const slices = traceOf([{ at: 0, ...started }, ...hours]).probes.get(0)?.slices ?? [];
  expect(slices.flatMap(({ value }) => value.failures).length).toBeLessThan(1300);
});

it.each([0.05, 17, 59_000])('measures a quantile of %d ms to within 2.5 percent', (ms) => {
  const found = quantile(new Map([[bucketOf(ms), 3]]), 0.5) ?? 0;
  expect(Math.abs(found / ms - 1)).toBeLessThan(0.026);
});
