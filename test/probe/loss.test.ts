/** The causes of lost requests, from the other events at that time, and the gate of `--max-lost`. */
import { expect, it } from 'vitest';
import type { FailureStretch, ProbeResult } from '../../src/infer/probes.ts';
import type { Interval, Timeline } from '../../src/infer/timeline.ts';
import { probeResultsOf } from '../../src/infer/probes.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import type { ProbeCounts, ProbeObservation } from '../../src/model/probe-observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import { exactly } from '../../src/output/time-text.ts';
import { lossOf, noLossText, requestsText, servedText } from '../../src/verdict/loss.ts';
import { lostWithin, withImpliedLoss } from '../../src/verdict/gates.ts';
import { casesIn } from '../helpers/case-file.ts';

const zero = 100_000;
const at = (ms: number): Interval => exactly(zero + ms);

interface Story {
  failures?: Partial<FailureStretch>[];
  probe?: Partial<ProbeResult>;
  otherReady?: number;
  unrouted?: number;
  signal?: number;
  exit?: number;
  ready?: number;
  /** ms in which podexit had no connection to the API server. */
  cut?: readonly [from: number, to: number];
  lostStreams?: readonly string[];
  /** The container with a readiness probe. */
  probed?: 'app' | 'proxy' | 'none';
}

/** A pod that is removed from its Service and gets SIGTERM at once by default. Times: ms from the request. */
function timelineOf({
  failures = [],
  probe = {},
  otherReady = 1,
  unrouted = 0,
  signal = 20,
  exit,
  ready,
  cut = [-9000, -8000],
  lostStreams = ['pods', 'nodes', 'leases'],
  probed = 'app',
}: Story): Timeline {
  const specOf = (name: string) => ({ name, readinessProbe: name === probed ? { httpGet: {} } : undefined });
  const stretches = failures.map((one): FailureStretch => ({
    ...{ kind: 'refused', connection: 'new', count: 1, seq: 7, ...one },
    ...{ first: zero + (one.first ?? 0), last: zero + (one.last ?? one.first ?? 0) },
  }));
  const failed = stretches.reduce((sum, { count }) => sum + count, 0);
  const [start, end] = [Math.min(...stretches.map((one) => one.first)), Math.max(...stretches.map((one) => one.last))];
  const result: ProbeResult = {
    ...{ target: 'http://shop', via: 'url', ratePerSecond: 20, sent: 412, failed, succeeded: 412 - failed },
    ...{ new: { sent: 412, failed }, slices: [], latencyMs: {}, notMeasured: [] },
    windows: failed === 0 ? [] : [{ start, end, failed, stretches }],
    ...probe,
  };
  return {
    zero,
    pod: { spec: { containers: [specOf('app')], initContainers: [specOf('proxy')] } },
    gaps: lostStreams.map((resource) => ({ resource, cause: 'expired', from: zero + cut[0], to: zero + cut[1] })),
    probes: [result],
    containers: [{ name: 'app', stopSignal: at(signal), exit: exit && { at: at(exit) } }, { name: 'proxy' }],
    endpoints: [{ service: 'checkout', slice: 'checkout-1', unroutedAt: at(unrouted), otherReady }],
    replacement: ready === undefined ? undefined : { name: 'new', uid: 'u', readyAt: at(ready) },
  } as unknown as Timeline;
}

const linesOf = (timeline: Timeline, race?: string): string[] =>
  timeline.probes.map((probe) => requestsText(timeline, probe, race));

interface Case extends Story {
  /** What the traffic row says about the exit, for the line about the requests. */
  race?: string;
  /** A part of the loss; none at all; one without the length of a sleep. */
  loss?: object;
  noLoss?: true;
  noSleep?: true;
  requests?: string;
}

it.each(
  casesIn<Case>(new URL('loss.yaml', import.meta.url), [
    ...(['failures', 'probe', 'otherReady', 'unrouted', 'signal', 'exit', 'ready', 'cut', 'lostStreams'] as const),
    ...(['probed', 'race', 'loss', 'noLoss', 'noSleep', 'requests'] as const),
  ]),
)('%s', (_, { race, loss, noLoss, noSleep, requests, ...story }) => {
  const timeline = timelineOf(story);
  const found = lossOf(timeline);
  if (loss) expect(found).toMatchObject(loss);
  if (noLoss) expect(found).toBeUndefined();
  if (noSleep) expect(found?.preStopSeconds).toBeUndefined();
  if (requests !== undefined) expect(linesOf(timeline, race)).toEqual([requests]);
});

it('says for each of several probes when and how its requests failed', () => {
  const one = timelineOf({ failures: [{ first: 400, last: 900, count: 3 }] });
  expect(linesOf({ ...one, probes: [...one.probes, ...one.probes] })[0]).toMatch(
    /: 412 sent · 3 failed from \+0\.4s to \+0\.9s \(connection refused\)$/,
  );
  expect([noLossText(timelineOf({})), noLossText(one)]).toEqual([
    'no loss measured (412 requests: below 1% unproven)',
    undefined,
  ]);
});

it.each([
  [2920, 2920, 'app answered new requests until 2.9s after SIGTERM'],
  [-500, -480, 'app stopped answering 0.5s before SIGTERM'],
  [10, 210, undefined],
])('reports how long the container accepted requests, from %d to %d ms: %s', (earliest, latest, words) => {
  const [container] = timelineOf({ signal: 20 }).containers;
  const servedUntil = { ...at(latest), earliest: zero + earliest };
  expect(container && servedText({ ...container, servedUntil })).toBe(words);
});

/** So many sent, failed and not measured. */
function resultsOf(sent: number, failed: number, unmeasured = 0) {
  const about = { target: 'http://shop', via: 'url', ratePerSecond: 20, timeoutMs: 1000, keepalive: false } as const;
  const started: ProbeObservation = { kind: 'probe-started', probe: 0, ...about };
  const counts: ProbeCounts = {
    ...{ kind: 'probe-counts', probe: 0, since: 0, new: { sent, failed }, latency: [] },
    failures: failed === 0 ? [] : [{ kind: 'refused', connection: 'new', first: 10, last: 20, count: failed }],
    ...(unmeasured > 0 && { notMeasured: [{ reason: 'no-network', count: unmeasured }] }),
  };
  const trace = [started, counts]
    .map((one, index) => ({ ...one, seq: index + 1, at: index * 500 }))
    .reduce(reduce, emptyTrace);
  return probeResultsOf(trace.probes, {});
}

const never = 'none of 80 requests to http://shop succeeded';

it.each([
  [[1000, 3], { count: 3 }, true],
  [[1000, 4], { count: 3 }, false],
  [[1000, 1], { share: 0.001 }, true],
  [[1000, 2], { share: 0.001 }, false],
  [[0, 0], { count: 0 }, false],
  [[100, 0, 100], { count: 0 }, true],
  [
    ...([[100, 0, 101], { count: 0 }, false] as const),
    '0 of 100 requests failed, but 101 of http://shop were not measured: not proven to be within the limit',
  ],
  [[80, 80], { count: 100 }, false, never],
] as [[number, number, number?], { count: number } | { share: number }, boolean, string?][])(
  '%j sent, failed and not measured, with the limit %o: passes %s',
  (numbers, limit, passed, message) => {
    const gate = lostWithin(resultsOf(...numbers), { kind: 'max-lost', ...limit });
    expect(gate).toMatchObject({ name: 'max-lost', passed, ...(message && { message }) });
  },
);

it('allows no lost request by default, and no proof that none was if none was ever answered', () => {
  const named = { name: 'max-lost', passed: true, message: '' };
  expect(withImpliedLoss(resultsOf(1000, 1), [])).toMatchObject([{ name: 'max-lost', passed: false }]);
  expect(withImpliedLoss(resultsOf(1000, 1), [named])).toEqual([named]);
  expect(withImpliedLoss([], [])).toEqual([]);
  const both = [...resultsOf(1000, 0), ...resultsOf(80, 80)];
  expect(withImpliedLoss(both, [])).toMatchObject([{ passed: false, message: never }]);
});
