/** The causes of lost requests, from the other events at that time. */
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
  hasReadinessProbe?: boolean;
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
  hasReadinessProbe = true,
}: Story): Timeline {
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
    pod: { spec: { containers: [{ name: 'app', readinessProbe: hasReadinessProbe ? { httpGet: {} } : undefined }] } },
    gaps: lostStreams.map((resource) => ({ resource, cause: 'expired', from: zero + cut[0], to: zero + cut[1] })),
    probes: [result],
    containers: [{ name: 'app', stopSignal: at(signal), exit: exit === undefined ? undefined : { at: at(exit) } }],
    endpoints: [{ service: 'checkout', slice: 'checkout-1', unroutedAt: at(unrouted), otherReady }],
    replacement: ready === undefined ? undefined : { name: 'new', uid: 'u', readyAt: at(ready) },
  } as unknown as Timeline;
}

it('blames nobody if the API server, which forwards the requests, was out of reach', () => {
  const failures = [{ first: 400, last: 3900, count: 20 }];
  const forwarded: Story = { failures, cut: [500, 3000], probe: { via: 'service-proxy' } };
  expect(lossOf(timelineOf(forwarded))).toMatchObject({
    cause: 'unexplained',
    why: 'the API server, which forwards them, was out of reach',
  });
  const [log, two] = [
    ['pods/log', 'pods', 'nodes'],
    ['pods', 'nodes'],
  ];
  expect(lossOf(timelineOf({ ...forwarded, lostStreams: log }))?.cause).toBe('sent-too-late');
  expect(lossOf(timelineOf({ ...forwarded, lostStreams: two }))?.cause).toBe('sent-too-late');
  expect(lossOf(timelineOf({ ...forwarded, cut: [5000, 6000] }))?.cause).toBe('sent-too-late');
  expect(lossOf(timelineOf({ ...forwarded, probe: {} }))?.cause).toBe('sent-too-late');
});

it.each<[string, Story, string]>([
  ['no new pod that is ready only after the first failure', { ready: 500, hasReadinessProbe: false }, 'sent-too-late'],
  ['a new pod that is ready as soon as it runs', { ready: 300, hasReadinessProbe: false }, 'new-pods'],
  ['one of several that leave, perhaps', { probe: { otherPods: 2 }, hasReadinessProbe: false }, 'new-pods'],
  ['no new pod that has passed its readiness probe', { ready: 300 }, 'sent-too-late'],
  [
    'no new pod where one that listened cut connections',
    { ready: 300, hasReadinessProbe: false, failures: [{ kind: 'reset', first: 400 }] },
    'sent-too-late',
  ],
  ['no new pod that came later', { ready: 2000, hasReadinessProbe: false }, 'sent-too-late'],
])('blames %s', (_, story, cause) => {
  expect(lossOf(timelineOf({ failures: [{ first: 400, last: 900 }], ...story }))?.cause).toBe(cause);
});

it('measures how long load balancers kept sending, and how long a preStop sleep would cover it', () => {
  const loss = lossOf(timelineOf({ failures: [{ first: 400, last: 900, count: 2 }, { first: 3200 }] }));
  expect(loss).toMatchObject({ cause: 'sent-too-late', preStopSeconds: 5 });
  expect(loss?.what).toBe('3 of 412 requests failed from +0.4s to +3.2s (connection refused)');
  expect(loss?.why).toBe('load balancers kept sending for 3.2s after removal from Service checkout');
});

it('blames no load balancer, and sizes no sleep, where requests failed until the probe ended', () => {
  const slices = [{ from: zero, to: zero + 3500, sent: 80, failed: 40 }];
  const loss = lossOf(timelineOf({ failures: [{ first: 400, last: 3200 }], probe: { slices } }));
  expect(loss).toMatchObject({ cause: 'unexplained', why: 'requests still failed when the probe ended' });
  expect(loss?.preStopSeconds).toBeUndefined();
});

it('is not sure of a load balancer where requests only timed out, as on a machine that is slow', () => {
  const loss = lossOf(timelineOf({ failures: [{ first: 2400, last: 2900, kind: 'timeout' }], exit: 300 }));
  expect(loss?.why).toBe('load balancers may have kept sending for 2.9s after removal from Service checkout');
});

it('gives no time after a removal that came after the last failure', () => {
  const loss = lossOf(timelineOf({ failures: [{ first: 140, last: 290 }], unrouted: 300 }));
  expect(loss?.why).toBe('load balancers kept sending until removal from Service checkout');
});

it.each<[string, string, Story]>([
  ['failures before the deletion', 'before-deletion', { failures: [{ first: -900, last: -500 }] }],
  [
    'no ready endpoint until the replacement',
    'no-ready-backend',
    { failures: [{ first: 1000, last: 4000, kind: 'http', status: 503 }], otherReady: 0, ready: 4100 },
  ],
  [
    'a kept connection that was cut',
    'kept-connection-cut',
    {
      failures: [{ first: 1000, kind: 'reset', connection: 'kept' }],
      probe: { new: { sent: 206, failed: 0 }, kept: { sent: 206, failed: 1 } },
    },
  ],
  [
    'timeouts while it drained',
    'unanswered-while-draining',
    { failures: [{ first: 500, last: 900, kind: 'timeout', count: 9 }], exit: 5000 },
  ],
  [
    'a 503 of a mesh after SIGTERM',
    'sent-too-late',
    { failures: [{ first: 500, last: 900, kind: 'http', status: 503, count: 9 }] },
  ],
  ['failures before SIGTERM', 'unexplained', { failures: [{ first: 500 }], signal: 5000 }],
  ['a name that does not resolve', 'unexplained', { failures: [{ first: 500, kind: 'dns', count: 9 }] }],
  ['a certificate that is not accepted', 'unexplained', { failures: [{ first: 500, kind: 'tls', count: 9 }] }],
])('%s: %s', (_, cause, story) => {
  expect(lossOf(timelineOf(story))?.cause).toBe(cause);
});

it('reports no loss for a probe of the pod itself, only until when it answered', () => {
  const answered = { last: zero + 2920, seq: 9 };
  const timeline = timelineOf({ failures: [{ first: 3000 }], probe: { via: 'pod-proxy', answered } });
  expect(lossOf(timeline)).toBeUndefined();
  expect(linesOf(timeline)).toEqual(['412 sent · last answered at +2.9s']);
  const refusing = timelineOf({ probe: { via: 'pod-proxy', answered, refusedBy: { at: zero + 3000, seq: 9 } } });
  expect(linesOf(refusing)).toEqual(['412 sent · last answered at +2.9s · connections refused from +3.0s']);
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

it('reports sent, failed and not measured requests, or that no loss was measured', () => {
  expect(noLossText(timelineOf({}))).toBe('no loss measured (412 requests: below 1% unproven)');
  const latencyMs = { before: { p50: 2, p99: 12.4 }, during: { p50: 3, p99: 340 } };
  expect(linesOf(timelineOf({ probe: { latencyMs } }))).toEqual([
    'no loss measured (412 requests: below 1% unproven) · p99 12 → 340 ms',
  ]);
  const failures = [{ first: 400, last: 900, count: 3 }];
  const notMeasured = [{ reason: 'no-local-port' as const, count: 20 }];
  expect(
    linesOf(timelineOf({ failures, probe: { notMeasured } }), 'app was to get SIGTERM 0.02s after removal'),
  ).toEqual([
    '412 sent · 3 failed; app was to get SIGTERM 0.02s after removal · 20 not measured (no free port on this machine)',
  ]);
  expect(noLossText(timelineOf({ failures }))).toBeUndefined();
});

it('says when requests failed that no traffic row mentions: before the deletion', () => {
  const early = timelineOf({ failures: [{ first: -900, last: -400, count: 3 }] });
  expect(linesOf(early)).toEqual(['412 sent · 3 failed from -0.9s to -0.4s (connection refused)']);
});

it('says for each of several probes when and how its requests failed', () => {
  const one = timelineOf({ failures: [{ first: 400, last: 900, count: 3 }] });
  expect(linesOf({ ...one, probes: [...one.probes, ...one.probes] })[0]).toMatch(
    /: 412 sent · 3 failed from \+0\.4s to \+0\.9s \(connection refused\)$/,
  );
});

const linesOf = (timeline: Timeline, race?: string): string[] =>
  timeline.probes.map((probe) => requestsText(timeline, probe, race));

it.each([
  [3, { count: 3 }, true],
  [4, { count: 3 }, false],
  [1, { share: 0.001 }, true],
  [2, { share: 0.001 }, false],
])('%i lost of 1000 with the limit %o passes: %s', (failed, limit, passed) => {
  expect(lostWithin(resultsOf(1000, failed), { kind: 'max-lost', ...limit })).toMatchObject({
    name: 'max-lost',
    passed,
  });
});

it.each<[Partial<FailureStretch>, string]>([
  [{ kind: 'http', status: 503 }, 'status 503'],
  [{ kind: 'http', status: 14 }, 'gRPC status 14'],
  [{ kind: 'not-serving' }, 'not serving'],
  [{ kind: 'http' }, 'no valid answer'],
])('names the failure %o: %s', (failure, words) => {
  expect(lossOf(timelineOf({ failures: [{ first: 400, ...failure }] }))?.what).toContain(`(${words})`);
});

it('does not pass if nothing was measured', () => {
  expect(lostWithin(resultsOf(0, 0), { kind: 'max-lost', count: 0 })).toMatchObject({ passed: false });
});

it.each([
  [100, 100, true],
  [100, 101, false],
])('with %i requests measured and %i not measured, passes: %s', (sent, count, passed) => {
  const results = resultsOf(sent, 0, [{ reason: 'no-network', count }]);
  const gate = lostWithin(results, { kind: 'max-lost', count: 0 });
  expect(gate.passed).toBe(passed);
  if (!passed)
    expect(gate.message).toBe(
      '0 of 100 requests failed, but 101 of http://shop were not measured: not proven to be within the limit',
    );
});

it('allows no lost request by default', () => {
  const named = { name: 'max-lost', passed: true, message: '' };
  expect(withImpliedLoss(resultsOf(1000, 1), [])).toMatchObject([{ name: 'max-lost', passed: false }]);
  expect(withImpliedLoss(resultsOf(1000, 1), [named])).toEqual([named]);
  expect(withImpliedLoss([], [])).toEqual([]);
});

function resultsOf(sent: number, failed: number, notMeasured?: ProbeCounts['notMeasured']) {
  const about = { target: 'http://shop', via: 'url', ratePerSecond: 20, timeoutMs: 1000, keepalive: false } as const;
  const started: ProbeObservation = { kind: 'probe-started', probe: 0, ...about };
  const failures: ProbeCounts['failures'] =
    failed === 0 ? [] : [{ kind: 'refused', connection: 'new', first: 10, last: 20, count: failed }];
  const counts: ProbeCounts = {
    kind: 'probe-counts',
    probe: 0,
    since: 0,
    new: { sent, failed },
    failures,
    latency: [],
    notMeasured,
  };
  const trace = [started, counts]
    .map((one, index) => ({ ...one, seq: index + 1, at: index * 500 }))
    .reduce(reduce, emptyTrace);
  return probeResultsOf(trace.probes, {});
}

it('judges what was never answered as no loss, and as no proof that none was', () => {
  const results = resultsOf(80, 80);
  const gate = { passed: false, message: 'none of 80 requests to http://shop succeeded' };
  expect(withImpliedLoss([...resultsOf(1000, 0), ...results], [])).toMatchObject([gate]);
  expect(lostWithin(results, { kind: 'max-lost', count: 100 })).toMatchObject(gate);
});
