/** For how long a Service had no ready endpoint: an outage counts, scaling to zero does not. */
import { expect, it } from 'vitest';
import { observe } from '../../src/model/observe.ts';
import { createServices } from '../../src/watch/counts.ts';

const ready = { ready: true };
const starting = { ready: false };
const terminating = { ready: false, terminating: true };

/** A slice with endpoints in these conditions. */
const slice = (endpoints: readonly object[], namespace = 'shop') => ({
  kind: 'EndpointSlice',
  metadata: { name: 'web-1', namespace, labels: { 'kubernetes.io/service-name': 'web' } },
  endpoints: endpoints.map((conditions) => ({ addresses: ['10.0.0.1'], conditions })),
});
const changed = (object: object) => ({ kind: 'changed', change: 'MODIFIED', object });

/** The seconds that are counted, by namespace, while these things happen and are looked at in between. */
function countedIn(happenings: readonly (readonly [second: number, what: object])[], owns?: (name: string) => boolean) {
  const counted: Record<string, number> = {};
  const services = createServices(
    (namespace, _service, ms) => (counted[namespace] = (counted[namespace] ?? 0) + ms / 1000),
    owns,
  );
  happenings.forEach(([second, what], seq) => {
    const raw = { stream: 'endpointslices', at: second * 1000, ...what } as never;
    services.take(observe(raw, seq, { logText: false }));
    services.countTo(second * 1000 + 500);
  });
  services.countTo(1_000_000);
  return counted;
}

it.each<[string, [second: number, endpoints: object[]][], number | undefined]>([
  ['a crash', [[0, [ready]], [10, [starting]], [25, [ready]]], 15], // prettier-ignore
  ['an outage that goes on', [[0, [ready]], [10, [starting]]], 990], // prettier-ignore
  ['a Recreate rollout', [[0, [ready]], [10, [terminating]], [15, []], [20, [starting]], [30, [ready]]], 20], // prettier-ignore
  ['scaling to zero and back', [[0, [ready]], [10, [terminating]], [40, []], [500, [starting]], [520, [ready]]], undefined], // prettier-ignore
  ['a Service whose pods start for the first time', [[0, [starting]], [10, [ready]]], undefined], // prettier-ignore
])('%s', (_name, states, seconds) => {
  const happenings = states.map(([second, endpoints]) => [second, changed(slice(endpoints))] as const);
  expect(countedIn(happenings)['shop']).toBe(seconds);
});

it('counts only the Services of the namespaces that are this process’s', () => {
  const happenings = ['shop', 'other'].flatMap((namespace) =>
    [ready, starting].map((one, index) => [index * 10, changed(slice([one], namespace))] as const),
  );
  expect(countedIn(happenings, (name) => name === 'shop')).toEqual({ shop: 990 });
});

it.each<[string, object]>([
  ['a gap, until the next list', { kind: 'gap', from: 12_000, to: 60_000, cause: 'expired' }],
  ['a cut that was resumed', { kind: 'resumed', since: 12_000 }],
])('does not count the seconds of %s', (_name, lost) => {
  const happenings: [number, object][] = [
    [0, changed(slice([ready]))],
    [10, changed(slice([starting]))],
    [60, lost],
    [60, { kind: 'listed', resourceVersion: '9', objects: [slice([starting])] }],
    [65, changed(slice([ready]))],
  ];
  // From 10 to 12 s, and from 60 to 65 s.
  expect(countedIn(happenings)['shop']).toBe(2 + 5);
});
