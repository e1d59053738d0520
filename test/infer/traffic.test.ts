/** Many ways to route traffic to a pod: each report must match its EndpointSlices. */
import { expect, it } from 'vitest';
import { drains, plainContainer } from '../sim/plain-story.ts';
import type { ServiceStory } from '../sim/story.ts';
import {
  adding,
  after,
  alone,
  changed,
  changesOf,
  containerOf,
  editing,
  findingCodes,
  hasMark,
  judged,
  listed,
  markedIn,
  slicesRefused,
  storyReport,
  storyObservations,
  without,
} from '../helpers/cases.ts';
import type { Raw } from '../helpers/cases.ts';

const service = (change: Partial<ServiceStory> = {}): ServiceStory => ({
  name: 'api',
  families: ['IPv4'],
  publishNotReadyAddresses: false,
  headless: false,
  others: 1,
  ...change,
});

it('dual-stack: the report has each IP family, and endpoints of one do not count for the other', () => {
  const both = storyReport({ services: [service({ families: ['IPv4', 'IPv6'] })] });
  expect(both.endpoints.map(({ addressType, otherReady }) => [addressType, otherReady]).sort()).toEqual([
    ['IPv4', 1],
    ['IPv6', 1],
  ]);
  expect(both.endpoints.every(({ unroutedAt, removedAt }) => unroutedAt && removedAt)).toBe(true);
  expect(findingCodes(both)).not.toContain('last-endpoint');
  expect(findingCodes(storyReport({ services: [service({ families: ['IPv4', 'IPv6'], others: 0 })] }))).toContain(
    'last-endpoint',
  );
});

it('dual-stack: the report names the IP family without a ready endpoint if the other one has some', () => {
  const rawObservations = storyObservations({ services: [service({ families: ['IPv4', 'IPv6'], others: 0 })] });
  const other = { conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'other-0', uid: 'uid-other' } };
  const fourHasMore = editing(rawObservations, 'endpointslices', (slice) =>
    slice['addressType'] === 'IPv4'
      ? { ...slice, endpoints: [...((slice['endpoints'] ?? []) as unknown[]), other] }
      : slice,
  );
  const last = judged(fourHasMore).verdict.findings.filter(({ code }) => code === 'last-endpoint');
  expect(last.map(({ message }) => message)).toEqual([
    'Service api had no other ready IPv6 endpoint when the pod was removed from it',
  ]);
});

it('an endpoint that became not ready did not stay ready, whatever its Service publishes', () => {
  const rawObservations = storyObservations({ services: [service()] });
  const published = editing(rawObservations, 'services', (one) => ({
    ...one,
    spec: { ...one.spec, publishNotReadyAddresses: true },
  }));
  expect(findingCodes(judged(published))).not.toContain('stays-ready');
});

it('slices written one after another do not leave the Service without endpoints in between', () => {
  const rawObservations = storyObservations({ services: [service({ others: 0 })] });
  const own = changesOf(rawObservations, 'endpointslices')[0];
  const other = (ready: boolean) => ({
    ...own?.object,
    metadata: { ...own?.object.metadata, name: 'api-second', uid: 'uid-second', managedFields: [] },
    endpoints: [{ conditions: { ready }, targetRef: { kind: 'Pod', name: 'other-0', uid: 'uid-other' } }],
  });
  const late = (ms: number) =>
    findingCodes(judged(adding(rawObservations, changed((own?.at ?? 0) + ms, 'endpointslices', other(true), 'ADDED'))));
  expect(late(3)).not.toContain('no-ready-endpoint');
  expect(late(1500)).toContain('no-ready-endpoint');
});

it('several Services: only a Service’s own endpoints count for it', () => {
  const report = storyReport({ services: [service({ name: 'api' }), service({ name: 'admin', others: 0 })] });
  expect(report.endpoints.map((one) => [one.service, one.otherReady]).sort()).toEqual([
    ['admin', 0],
    ['api', 1],
  ]);
  const last = report.verdict.findings.filter(({ code }) => code === 'last-endpoint');
  expect(last.map(({ message }) => /Service (\S+)/.exec(message)?.[1])).toEqual(['admin']);
});

it('several slices of one Service: ready endpoints in the other slices count', () => {
  const rawObservations = storyObservations({ services: [service({ others: 0 })] });
  const begin = rawObservations[0]?.at ?? 0;
  const slice = changesOf(rawObservations, 'endpointslices')[0]?.object;
  const second = {
    ...slice,
    metadata: { ...slice?.metadata, name: 'api-second', uid: 'uid-second' },
    endpoints: [{ conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'other-0', uid: 'uid-other' } }],
  };
  const report = judged(adding(rawObservations, changed(begin + 200, 'endpointslices', second, 'ADDED')));
  expect(report.endpoints.map(({ otherReady }) => otherReady)).toEqual([1]);
  expect(findingCodes(report)).not.toContain('last-endpoint');
});

it('a headless Service removes an endpoint like any other Service', () => {
  const report = storyReport({ services: [service({ headless: true })] });
  expect(report.endpoints).toHaveLength(1);
  expect(after(report, report.endpoints[0]?.unroutedAt).latest).toBeLessThan(0.2);
});

it('a Service without a selector is reported if one of its slices holds the pod', () => {
  const foreign = editing(storyObservations(), 'services', (one) => ({
    ...one,
    spec: { ...one.spec, selector: undefined },
  }));
  const rawObservations = editing(foreign, 'endpointslices', (slice) => ({
    ...slice,
    metadata: {
      ...slice.metadata,
      labels: {
        'kubernetes.io/service-name': 'api',
        'endpointslice.kubernetes.io/managed-by': 'mesh.example.com',
      },
    },
  }));
  const report = judged(rawObservations);
  expect(report.endpoints.map((one) => one.service)).toEqual(['api']);
  expect(report.endpoints[0]?.unroutedAt).toBeDefined();
});

it('a slice that never held the pod is not reported, and one never marked terminating gives no stays-ready', () => {
  const strangers = editing(storyObservations(), 'endpointslices', (slice) => ({ ...slice, endpoints: null }));
  expect(judged(strangers).endpoints).toEqual([]);
  const still = editing(storyObservations(), 'endpointslices', (slice) => {
    const endpoints = slice['endpoints'] as { conditions: Record<string, unknown> }[] | null;
    return { ...slice, endpoints: endpoints?.map((one) => ({ ...one, conditions: { ready: true } })) ?? null };
  });
  expect(hasMark(judged(still), 'endpoint-removed')).toBe(true);
  expect(findingCodes(judged(still))).not.toContain('stays-ready');
});

it('without a Service the report has no endpoints and no finding about traffic', () => {
  const report = storyReport({ services: [] });
  expect(report.endpoints).toEqual([]);
  expect(report.phases.filter(({ name }) => name === 'route-removal')).toEqual([]);
  const traffic = ['drain-race', 'last-endpoint', 'no-ready-endpoint', 'stays-ready'];
  expect(findingCodes(report).filter((code) => traffic.includes(code))).toEqual([]);
});

it('an endpoint without conditions counts as ready, serving and not terminating, as in the API', () => {
  const rawObservations = storyObservations({ services: [service({ others: 0 })] });
  const { at } = markedIn(rawObservations);
  const terse = editing(rawObservations, 'endpointslices', (slice, rawObservation) => {
    const endpoints = slice['endpoints'] as Record<string, unknown>[] | null;
    const before = rawObservation.at < at;
    return before ? { ...slice, endpoints: endpoints?.map(({ conditions: _all, ...one }) => one) ?? null } : slice;
  });
  const report = judged(terse);
  expect(report.endpoints[0]?.unroutedAt).toBeDefined();
  expect(findingCodes(report)).toContain('last-endpoint');
});

it('a readiness gate that a load balancer clears during the drain shows neither ready-lost nor an exit', () => {
  const gate = 'target-health.example.com/api';
  const gated = (pod: Raw): Raw => ({ ...pod, spec: { ...pod.spec, readinessGates: [{ conditionType: gate }] } });
  const rawObservations = editing(storyObservations(alone({ app: drains(3000) })), 'pod', gated);
  const marked = markedIn(rawObservations);
  const cleared = {
    ...marked.object,
    metadata: {
      ...marked.object.metadata,
      resourceVersion: String(Number(marked.object.metadata['resourceVersion']) + 1),
    },
    status: {
      ...marked.object.status,
      conditions: [
        { type: gate, status: 'False', reason: 'Deregistered' },
        { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady' },
      ],
    },
  };
  const report = judged(adding(rawObservations, changed(marked.at + 500, 'pod', cleared)));
  expect(hasMark(report, 'ready-lost')).toBe(false);
  expect(after(report, containerOf(report).exit?.at).earliest).toBeGreaterThan(2.9);
  expect(report.verdict.outcome).toBe('graceful');
});

it('an endpoint that is not ready before the deletion is not reported as becoming not ready', () => {
  const rawObservations = editing(storyObservations(), 'endpointslices', (slice) => {
    const endpoints = slice['endpoints'] as { conditions: Record<string, unknown> }[] | null;
    const unready = (one: { conditions: Record<string, unknown> }) => ({
      ...one,
      conditions: { ...one.conditions, ready: false, serving: false },
    });
    return { ...slice, endpoints: endpoints?.map(unready) ?? null };
  });
  const report = judged(rawObservations);
  expect(report.endpoints[0]?.unroutedAt).toBeUndefined();
  expect(report.endpoints[0]?.removedAt).toBeDefined();
  expect(findingCodes(report)).not.toContain('drain-race');
});

it('a stop signal right after the endpoint removal gives drain-race, and a preStop sleep prevents it', () => {
  expect(findingCodes(storyReport())).toContain('drain-race');
  expect(findingCodes(storyReport(alone({ preStop: { kind: 'sleep', seconds: 3 } })))).not.toContain('drain-race');
});

it('drain-race is more severe if the application exits at once', () => {
  const severity = (report: ReturnType<typeof judged>) =>
    report.verdict.findings.find(({ code }) => code === 'drain-race')?.severity;
  const dies = { onSignal: { kind: 'dies' as const }, lost: false, lines: [] };
  expect(severity(storyReport(alone({ app: dies })))).toBe('warning');
  expect(severity(storyReport(alone({ app: drains(3000) })))).toBe('info');
});

it('no-ready-endpoint lasts as long as the slice shows no ready endpoint', () => {
  const owner = { kind: 'statefulset', name: 'api', readyAfterMs: 400 } as const;
  const report = storyReport({ owner, services: [service({ others: 0 })], tailMs: 6000 });
  const message = report.verdict.findings.find(({ code }) => code === 'no-ready-endpoint')?.message ?? '';
  expect(Number(/for ≥?([\d.]+)s/.exec(message)?.[1])).toBeGreaterThan(1);
  expect(report.replacement?.name).toBe(report.pod.name);
});

it('without access to EndpointSlices the report claims nothing about endpoints', () => {
  const rawObservations = without(storyObservations(), 'endpointslices');
  const begin = rawObservations[0]?.at ?? 0;
  const report = judged(adding(rawObservations, slicesRefused(begin + 20), listed(begin + 30, 'services')));
  expect(report.endpoints).toEqual([]);
  expect(findingCodes(report)).toContain('evidence-lost');
});

it.each([
  ['that ends in a state without one', 0],
  ['that ends in a state with one', 1],
])('a time without ready endpoint is proved only until a gap begins %s', (_, others) => {
  const rawObservations = storyObservations({ containers: [plainContainer({ app: drains(5000) })] });
  const { at } = markedIn(rawObservations);
  const slice = changesOf(rawObservations, 'endpointslices')[0]?.object;
  const other = { conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'other-0', uid: 'uid-other' } };
  const endpoints = [...((slice?.['endpoints'] ?? []) as unknown[]), ...(others > 0 ? [other] : [])];
  const gap = { kind: 'gap', stream: 'endpointslices', from: at + 1000, to: at + 3000, cause: 'expired' } as const;
  const report = judged(
    adding(rawObservations, { at: at + 3000, ...gap }, listed(at + 3000, 'endpointslices', { ...slice, endpoints })),
  );
  const found = report.verdict.findings.find(({ code }) => code === 'no-ready-endpoint');
  expect(found?.message).toBe('Service api had no ready endpoint for ≥0.9s');
});
