/** What a pod's run is told of the time before it. */
import { expect, it } from 'vitest';
import type { Cluster } from '../../src/kube/cluster.ts';
import { listenAhead, sightingsOf } from '../../src/run/foregoing.ts';
import type { ToldRoutes } from '../../src/run/routes-ahead.ts';
import { surroundings } from '../kube/helpers/surroundings.ts';

const pod = (uid: string, ending = false) => ({
  metadata: { name: 'web-0', uid, ...(ending ? { deletionTimestamp: '2031-01-01T00:00:00Z' } : {}) },
});

/** A workload's watch whose times are said; nothing answers about Services. */
function ahead({ startedAt = 1000, fields = '' } = {}) {
  let now = startedAt;
  const stop = new AbortController();
  const refuse = async (): Promise<never> => Promise.reject(new Error('nobody is there'));
  const cluster = {
    namespace: 'shop',
    reach: '',
    memory: { reached: true, streamingLists: 'given' },
    surroundings: { ...surroundings(), now: () => now, setTimeout: () => () => {} },
    closed: stop.signal,
    request: refuse,
    stream: refuse,
  } as unknown as Cluster;
  const listening = listenAhead(cluster, { labels: 'app=web', fields }, stop.signal);
  const at = (ms: number): number => {
    now = ms;
    listening.heard({ kind: 'synced', at: ms, stream: 'siblings' });
    return ms;
  };
  return { ...listening, at };
}

it('is the last state without a deletionTimestamp, and the change that brought one', () => {
  const { saw, ends, at } = ahead();
  saw({ pod: pod('a'), at: at(1100), sentAt: 1050 });
  const told = ends({ pod: pod('a', true), at: at(1900) });
  expect(told && sightingsOf(told, 1950)).toMatchObject([
    { kind: 'listed', at: 1100, sentAt: 1050, stream: 'pod', objects: [pod('a')] },
    { kind: 'changed', at: 1900, stream: 'pod', object: pod('a', true) },
    { kind: 'resumed', at: 1950, since: 1900 },
  ]);
  expect(told?.routes()).toBeUndefined();
});

it('is told in the order in which it came, but for the pod: who routed to it before its last change, and after it', () => {
  const { saw, ends, at } = ahead();
  saw({ pod: pod('a'), at: at(1100) });
  saw({ pod: pod('a'), at: at(1890) });
  const told = ends({ pod: pod('a', true), at: at(1900) });
  const listed = { kind: 'listed' as const, resourceVersion: '', objects: [] };
  const change = { kind: 'changed', at: 1920, stream: 'endpointslices', change: 'MODIFIED', object: {} } as const;
  const routes: ToldRoutes = {
    services: { ...listed, at: 1105, stream: 'services' },
    sightings: [{ ...listed, at: 1110, stream: 'endpointslices' }, change],
  };
  expect(told && sightingsOf(told, 1950, routes).map((one) => [one.at, one.kind])).toEqual([
    [1890, 'listed'],
    [1105, 'listed'],
    [1110, 'listed'],
    [1900, 'changed'],
    [1920, 'changed'],
    [1950, 'resumed'],
  ]);
});

it('may be as old as a standstill that it came after', () => {
  const { saw, ends, at } = ahead();
  saw({ pod: pod('a'), at: at(1100) });
  const told = ends({ pod: pod('a', true), at: at(9000) });
  expect(told).toMatchObject({ since: 1100, resumed: { since: 1100, at: 9000 } });
});

it('may be as old as the cut of a watch that went on', () => {
  const { saw, ends, heard, at } = ahead();
  saw({ pod: pod('a'), at: at(1100) });
  heard({ kind: 'resumed', at: 1900, stream: 'siblings', since: 1200 });
  expect(ends({ pod: pod('a', true), at: at(1950) })).toMatchObject({ since: 1200, resumed: { stream: 'pod' } });
});

it('is nothing where the pod had not been seen before, or a list no longer had it alive', () => {
  const { saw, ends, keepOnly, forget, at } = ahead();
  expect(ends({ pod: pod('a', true), at: at(1100) })).toBeUndefined();
  for (const uid of ['b', 'c']) saw({ pod: pod(uid), at: at(1200) });
  keepOnly(new Set(['c']));
  forget('c');
  for (const uid of ['b', 'c']) expect(ends({ pod: pod(uid, true), at: at(1300) })).toBeUndefined();
});

it('has who was there when a change brought the ending, of a watch that selects by labels', () => {
  const changed = (uid: string, change: 'ADDED' | 'DELETED' | 'MODIFIED', ending = false) =>
    ({ kind: 'changed', at: 1200, stream: 'siblings', change, object: pod(uid, ending) }) as const;
  const listed = (...uids: string[]) =>
    ({
      kind: 'listed',
      at: 1100,
      stream: 'siblings',
      resourceVersion: '1',
      objects: uids.map((uid) => pod(uid)),
    }) as const;
  const endsAfter =
    (...told: (ReturnType<typeof changed> | ReturnType<typeof listed>)[]) =>
    (fields?: string) => {
      const { saw, ends, heard, at } = ahead(fields === undefined ? {} : { fields });
      saw({ pod: pod('a'), at: at(1100) });
      told.forEach(heard);
      return ends({ pod: pod('a', true), at: at(1200) })?.siblings;
    };
  const uidsIn = (siblings: ReturnType<ReturnType<typeof endsAfter>>) =>
    siblings?.pods.map(({ metadata }) => (metadata as { uid: string }).uid);
  const ordered = endsAfter(
    listed('a', 'gone'),
    changed('b', 'ADDED'),
    changed('gone', 'DELETED'),
    changed('a', 'MODIFIED', true),
  );
  expect(uidsIn(ordered())).toEqual(['a', 'b']);
  expect(ordered()).toMatchObject({ labels: 'app=web' });
  expect(ordered('spec.nodeName=n')).toBeUndefined();
  // Whoever stands in a list may have come after the deletion that it tells.
  expect(endsAfter(changed('b', 'ADDED'), listed('a', 'b'))()).toBeUndefined();
});
