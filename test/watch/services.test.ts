/** For how long a Service had no ready endpoint: an outage counts, scaling to zero does not. */
import { expect, it } from 'vitest';
import { observe } from '../../src/model/observe.ts';
import { createServices } from '../../src/watch/services.ts';

const ready = { ready: true };
const starting = { ready: false };
const terminating = { ready: false, terminating: true };

type Happening = [second: number, endpoints: object[]];

it.each<[string, Happening[], number]>([
  ['a crash', [[0, [ready]], [10, [starting]], [25, [ready]]], 15], // prettier-ignore
  [
    'an outage that goes on',
    [
      [0, [ready]],
      [10, [starting]],
    ],
    990,
  ],
  ['a Recreate rollout', [[0, [ready]], [10, [terminating]], [15, []], [20, [starting]], [30, [ready]]], 20], // prettier-ignore
  ['scaling to zero and back', [[0, [ready]], [10, [terminating]], [40, []], [500, [starting]], [520, [ready]]], 0], // prettier-ignore
  [
    'a Service whose pods start for the first time',
    [
      [0, [starting]],
      [10, [ready]],
    ],
    0,
  ],
])('%s', (_name, happenings, seconds) => {
  let counted = 0;
  const services = createServices((_namespace, _service, ms) => (counted += ms / 1000));
  happenings.forEach(([second, endpoints], seq) => {
    const metadata = { name: 'web-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } };
    const object = {
      kind: 'EndpointSlice',
      metadata,
      endpoints: endpoints.map((conditions) => ({ addresses: ['10.0.0.1'], conditions })),
    };
    const change = { kind: 'changed', stream: 'endpointslices', change: 'MODIFIED' } as const;
    services.take(observe({ ...change, at: second * 1000, object }, seq, { logText: false }));
    services.countTo(second * 1000 + 500);
  });
  services.countTo(1_000_000);
  expect(counted).toBe(seconds);
});

it('counts only the Services of the namespaces that are this process’s', () => {
  const counted: string[] = [];
  const services = createServices(
    (namespace) => counted.push(namespace),
    (namespace) => namespace === 'shop',
  );
  const at = [0, 10_000];
  for (const namespace of ['shop', 'other'])
    at.forEach((ms, seq) => {
      const metadata = { name: 'web-1', namespace, labels: { 'kubernetes.io/service-name': 'web' } };
      const endpoints = [{ addresses: ['10.0.0.1'], conditions: seq === 0 ? ready : starting }];
      const object = { kind: 'EndpointSlice', metadata, endpoints };
      const change = { kind: 'changed', stream: 'endpointslices', change: 'MODIFIED' } as const;
      services.take(observe({ ...change, at: ms, object }, seq, { logText: false }));
    });
  services.countTo(20_000);
  expect(counted).toEqual(['shop']);
});

it.each<[string, object]>([
  ['a gap, until the next list', { kind: 'gap', from: 12_000, to: 60_000, cause: 'expired' }],
  ['a cut that was resumed', { kind: 'resumed', since: 12_000 }],
])('does not count the seconds of %s', (_name, lost) => {
  let counted = 0;
  const services = createServices((_namespace, _service, ms) => (counted += ms / 1000));
  const metadata = { name: 'web-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } };
  const slice = (conditions: object) => ({
    kind: 'EndpointSlice',
    metadata,
    endpoints: [{ addresses: ['10.0.0.1'], conditions }],
  });
  const changed = (object: object) => ({ kind: 'changed', change: 'MODIFIED', object });
  const listed = { kind: 'listed', resourceVersion: '9', objects: [slice(starting)] };
  const seen: [second: number, what: object][] = [
    [0, changed(slice(ready))],
    [10, changed(slice(starting))],
    [60, lost],
    [60, listed],
    [65, changed(slice(ready))],
  ];
  seen.forEach(([second, what], seq) =>
    services.take(observe({ stream: 'endpointslices', at: second * 1000, ...what } as never, seq, { logText: false })),
  );
  expect(counted).toBe(2 + 5);
});
