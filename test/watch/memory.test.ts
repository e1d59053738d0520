/** What a watch keeps of pods that do not terminate: little, and nothing once they are gone. */
import { createRequire } from 'node:module';
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { narrowPod, type Pod } from '../../src/model/kube.ts';
import { observe } from '../../src/model/observe.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { createMemory, createPacker, type PodSeen } from '../../src/watch/memory.ts';
import { watchedTraces } from '../../src/watch/traces.ts';
import { heapBounds } from '../../src/run/group/run-live.ts';
import { tracesOfTerminating } from '../../src/run/traces/traces-of-log.ts';
import { rawObservationsOf } from '../helpers/recordings.ts';
import { loadRecording } from '../demo/helpers/load.ts';

/** The pods of a recording on a real cluster. */
const recorded = (): Pod[] =>
  loadRecording('second/rollout-25').rows.flatMap((row) => {
    const { event } = row as { event?: { object?: { kind?: string } } };
    return event?.object?.kind === 'Pod' ? [narrowPod(event.object)] : [];
  });

const seen = (object: Pod, seq: number): PodSeen => ({
  at: 1_800_000_000_000 + seq,
  seq,
  kind: 'changed',
  stream: 'pods',
  change: 'MODIFIED',
  object,
});

it('a packed pod takes at most 400 bytes, and loses nothing', () => {
  const { pack, unpack } = createPacker();
  const pods = recorded();
  const packed = pods.map((pod, seq) => pack(seen(pod, seq), 'checkout'));
  // A string has 16 bytes of its own, the packed pod 28, and its entry in a map with its uid as the key 60.
  const sizes = packed.slice(1).map(({ bytes }) => bytes.length + 16 + 28 + 60);
  expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeLessThanOrEqual(400);
  expect(packed.map(unpack)).toEqual(pods.map(seen));
});

it('keeps nothing of hundreds of pods that came, terminated and went', () => {
  const traces = watchedTraces(
    false,
    () => {},
    () => {},
  );
  const [template] = recorded();
  let seq = 0;
  const take = (raw: Omit<RawObservation, 'at'>): void => {
    seq += 1;
    traces.add(observe({ at: seq * 100, ...raw } as RawObservation, seq, { logText: false }));
  };
  take({ kind: 'listed', stream: 'pods', resourceVersion: '1', objects: [] } as never);
  for (let count = 0; count < 300; count++) {
    const metadata = { ...template?.metadata, name: `web-${count}`, uid: `uid-${count}`, deletionTimestamp: undefined };
    const gone = { ...metadata, deletionTimestamp: '2026-11-28T10:00:00Z', deletionGracePeriodSeconds: 30 };
    for (const [change, one] of [
      ['ADDED', metadata],
      ['MODIFIED', gone],
      ['DELETED', gone],
    ] as const) {
      const involvedObject = { kind: 'Pod', namespace: metadata.namespace, name: metadata.name, uid: metadata.uid };
      const event = {
        kind: 'Event',
        metadata: { ...metadata, uid: `${change}-${count}` },
        reason: change,
        involvedObject,
      };
      if (change !== 'DELETED') take({ kind: 'changed', stream: 'events', change: 'ADDED', object: event } as never);
      take({ kind: 'changed', stream: 'pods', change, object: { ...template, metadata: one } } as never);
    }
    expect(traces.keys()).toEqual([`uid-${count}`]);
    traces.close(`uid-${count}`);
  }
  expect(traces.keys()).toEqual([]);
  expect(traces.sizes()).toEqual({ pods: 0, objects: 0 });
});

it('does not open a trace again for a pod that has ended, even if a server that is behind shows it', () => {
  const traces = watchedTraces(
    false,
    () => {},
    () => {},
  );
  const [pod] = recorded();
  const metadata = { ...pod?.metadata, deletionTimestamp: '2026-11-28T10:00:00Z' };
  const take = (seq: number) =>
    traces.add(observe({ ...seen({ ...pod, metadata } as Pod, seq) }, seq, { logText: false }));
  expect(take(1)).toHaveLength(1);
  traces.close(metadata.uid ?? '');
  expect(take(2)).toEqual([]);
});

/** Traces of terminating pods that `change` and then go, and how many were dropped. */
function terminating() {
  let [seq, dropped] = [0, 0];
  const traces = watchedTraces(
    false,
    () => {},
    () => (dropped += 1),
  );
  const [pod] = recorded();
  const take = (uid: string, change: 'MODIFIED' | 'DELETED' = 'MODIFIED'): void => {
    seq += 1;
    const metadata = { ...pod?.metadata, name: uid, uid, deletionTimestamp: '2026-11-28T10:00:00Z' };
    const one = { ...seen({ ...pod, metadata } as Pod, seq), change } as RawObservation;
    traces.add(observe(one, seq, { logText: false }));
  };
  return { traces, take, dropped: () => dropped };
}

it('does not open the trace of a stuck pod again, however many others end before it is gone', () => {
  const { traces, take } = terminating();
  take('stuck');
  traces.close('stuck');
  for (let count = 0; count < 10_001; count++) {
    take(`web-${count}`);
    take(`web-${count}`, 'DELETED');
    traces.close(`web-${count}`);
  }
  take('stuck', 'DELETED');
  take('stuck', 'DELETED');
  expect(traces.keys()).toEqual([]);
});

it('counts a pod beyond the bound as dropped once, and does not trace it later', () => {
  const { traces, take, dropped } = terminating();
  for (let count = 0; count < 5000; count++) take(`web-${count}`);
  take('beyond');
  take('beyond');
  traces.close('web-0');
  take('beyond');
  take('beyond', 'DELETED');
  expect(dropped()).toBe(1);
  expect(traces.keys()).toHaveLength(4999);
});

it('keeps an Event once, however often the server lists it, and not if it is old', () => {
  const memory = createMemory();
  const event = (name: string, lastTimestamp: string) => ({
    kind: 'Event',
    metadata: { name, namespace: 'shop', uid: `uid-of-${name}`, resourceVersion: '7' },
    reason: 'Killing',
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-0', uid: 'uid-of-web-0' },
    lastTimestamp,
  });
  const objects = [event('new', '2026-11-28T10:00:00Z'), event('old', '2026-11-28T09:10:00Z')];
  const list = { kind: 'listed', stream: 'events', resourceVersion: '9', objects } as const;
  for (let seq = 1; seq <= 20; seq++) {
    const at = Date.parse('2026-11-28T10:01:00Z') + seq;
    memory.take(observe({ ...list, at }, seq, { logText: false }));
  }
  const about = memory.about({ uid: 'uid-of-web-0', name: 'web-0', namespace: 'shop', owners: new Map() } as never);
  expect(about.flatMap((o) => (o.kind === 'listed' ? o.objects.map(({ metadata }) => metadata.name) : []))).toEqual([
    'new',
  ]);
});

it('keeps Events for ten minutes, also those of a list', () => {
  const memory = createMemory();
  const [pod] = recorded();
  const { uid = '', name = '', namespace } = pod?.metadata ?? {};
  const at = Date.parse('2026-11-28T10:05:00Z');
  const event = (about: string, lastTimestamp: string) => ({
    kind: 'Event',
    metadata: { name: about, namespace, uid: `event-of-${about}`, resourceVersion: '7' },
    reason: 'Killing',
    involvedObject: { kind: 'Pod', namespace, name: about === uid ? name : about, uid: about },
    lastTimestamp,
  });
  const take = (seq: number, stream: 'pods' | 'events', objects: object[], afterMs = 0): void => {
    const list = { kind: 'listed', at: at + afterMs, stream, resourceVersion: '9', objects } as const;
    memory.take(observe(list, seq, { logText: false }));
  };
  take(1, 'pods', [pod ?? {}]);
  take(2, 'events', [
    event(uid, '2026-11-28T10:00:00Z'),
    event('gone', '2026-11-28T09:54:59Z'),
    event('new', '2026-11-28T10:04:50Z'),
  ]);
  expect(memory.sizes()).toEqual({ pods: 1, objects: 2 });
  take(3, 'pods', [pod ?? {}], 11 * 60_000);
  expect(memory.sizes()).toEqual({ pods: 1, objects: 0 });
});

it('forgets what a later list does not have any more', () => {
  const memory = createMemory();
  const take = (seq: number, minute: number, stream: 'services' | 'owner' | 'node', objects: object[]): void => {
    const at = Date.parse('2026-11-28T10:00:00Z') + minute * 60_000;
    memory.take(
      observe({ kind: 'listed', at, stream, resourceVersion: '9', objects } as const, seq, { logText: false }),
    );
  };
  const object = (kind: string, name: string) => ({ kind, metadata: { namespace: 'shop', name, uid: name } });
  take(1, 0, 'services', [object('Service', 'web'), object('Service', 'old')]);
  take(2, 0, 'owner', [object('Deployment', 'shop'), object('Deployment', 'gone')]);
  take(3, 0, 'owner', [object('ReplicaSet', 'shop-1')]);
  take(4, 0, 'node', [object('Node', 'node1')]);
  expect(memory.sizes().objects).toBe(6);
  take(5, 20, 'services', [object('Service', 'web')]);
  take(6, 20, 'owner', [object('Deployment', 'shop')]);
  take(7, 20, 'node', []);
  take(8, 40, 'services', [object('Service', 'web')]);
  expect(memory.sizes().objects).toBe(3);
});

/** Prints its peak memory, in MiB, while it creates much and keeps little, as a watch does. */
const keepsLittle = `
  const { memoryUsage } = process;
  const kept = Array.from({ length: 100_000 }, (_, index) => ({ index, text: 'pod-' + index }));
  let [passing, peak] = [[], 0];
  for (let round = 0; round < 150; round++) {
    for (let each = 0; each < 4000; each++) passing.push({ each, text: 'event-' + each + round, list: [each] });
    if (passing.length > 100_000) passing = passing.slice(40_000);
    peak = Math.max(peak, memoryUsage().rss);
  }
  console.log(Math.round(peak / 2 ** 20), kept.length);`;

const peakWith = (flags: readonly string[]): number => {
  const set = `for (const flag of ${JSON.stringify(flags)}) require('node:v8').setFlagsFromString(flag);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', set + keepsLittle], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return Number.parseInt(stdout, 10);
};

it('bounds the heap of a process that keeps little of what it reads', () => {
  expect(peakWith(heapBounds)).toBeLessThan(peakWith([]) * 0.9);
});

it('leaves a code cache that the next run takes', () => {
  const { heapDefaults } = createRequire(import.meta.url)('../../bin/cache.js') as { heapDefaults: string[] };
  const set = (flags: readonly string[]): string => flags.map((flag) => `setFlagsFromString('${flag}');`).join('');
  const makes = (flags: readonly string[]): string => `
    const [{ Script }, { setFlagsFromString }] = [require('node:vm'), require('node:v8')];
    const script = new Script('(function () { return 1; })');
    ${set(flags)} process.stdout.write(script.createCachedData().toString('base64'));`;
  const taken = (flags: readonly string[]): string => {
    const cache = spawnSync(process.execPath, ['-e', makes(flags)], { encoding: 'utf8' }).stdout;
    const takes = `const cachedData = Buffer.from('${cache}', 'base64');
      console.log(!new (require('node:vm').Script)('(function () { return 1; })', { cachedData }).cachedDataRejected);`;
    return spawnSync(process.execPath, ['-e', takes], { encoding: 'utf8' }).stdout.trim();
  };
  expect([taken(heapBounds), taken([...heapBounds, ...heapDefaults])]).toEqual(['false', 'true']);
});

it('keeps in the log of a pod no change of a slice that says nothing about it, however many come', async () => {
  const traces = watchedTraces(
    true,
    () => {},
    () => {},
  );
  let [seq, uid] = [0, ''];
  const take = (raw: RawObservation): void => {
    seq += 1;
    for (const key of traces.add(observe(raw, seq, { logText: false }))) uid = key;
  };
  for (const raw of await rawObservationsOf('graceful-exit')) {
    const isOfPod = 'stream' in raw && (raw.stream === 'pod' || raw.stream === 'siblings');
    const one = (isOfPod ? { ...raw, stream: 'pods', name: undefined } : raw) as RawObservation;
    const again = one.kind === 'changed' && one.stream === 'endpointslices' ? 800 : 0;
    for (let count = 0; count <= again; count++) take(one);
  }
  const log = traces.logOf(uid);
  expect(log.length).toBeLessThan(100);
  expect(log.some((one) => one.kind === 'changed' && one.change === 'DELETED')).toBe(true);
});

it('asks of an Event only the pod that it is about', () => {
  const asked: string[] = [];
  const options = { wants: () => true, history: { take: () => {}, about: () => [] } };
  const traces = tracesOfTerminating({
    ...options,
    partsFor({ name }) {
      asked.push(name);
      return [];
    },
  });
  const [template] = recorded();
  const gone = { ...template?.metadata, deletionTimestamp: '2026-11-28T10:00:00Z', deletionGracePeriodSeconds: 30 };
  for (const name of ['web-1', 'web-2']) {
    const object = { ...template, metadata: { ...gone, name, uid: name } };
    const raw = { at: 0, kind: 'changed', stream: 'pods', change: 'MODIFIED', object } as never;
    traces.add(observe(raw, 1, { logText: false }));
  }
  const event = (name: string): void => {
    const object = { kind: 'Event', metadata: { ...gone, uid: name }, involvedObject: { kind: 'Pod', name } };
    const raw = { at: 1, kind: 'changed', stream: 'events', change: 'ADDED', object } as never;
    traces.add(observe(raw, 2, { logText: false }));
  };
  asked.length = 0;
  event('web-2');
  event('web-3');
  traces.close('web-2');
  event('web-2');
  expect(asked).toEqual(['web-2']);
});
