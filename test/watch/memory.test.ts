/** What a watch keeps of pods that do not terminate: little, and nothing once they are gone. */
import { createRequire } from 'node:module';
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { narrowPod, type Pod } from '../../src/model/kube.ts';
import { observe } from '../../src/model/observe.ts';
import type { RawObservation, StreamName } from '../../src/model/observation.ts';
import { createMemory, createPacker, type PodSeen } from '../../src/watch/memory.ts';
import { watchedTraces } from '../../src/watch/traces.ts';
import { heapBounds } from '../../src/run/group/run-live.ts';
import { tracesOfTerminating } from '../../src/run/traces/traces.ts';
import { rawObservationsOf } from '../helpers/recordings.ts';
import { loadRecording } from '../demo/helpers/load.ts';

/** The pods of a recording on a real cluster. */
const recorded = (): Pod[] =>
  loadRecording('second/rollout-25').rows.flatMap((row) => {
    const { event } = row as { event?: { object?: { kind?: string } } };
    return event?.object?.kind === 'Pod' ? [narrowPod(event.object)] : [];
  });

const at = Date.parse('2026-11-28T10:00:00Z');
const seen = (object: Pod, seq: number): PodSeen => ({
  ...{ at: at + seq, seq, kind: 'changed', stream: 'pods', change: 'MODIFIED', object },
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

/** The traces of a watch, what they are told, and how many pods they dropped. */
function watching(keepsLog = false) {
  let [seq, dropped] = [0, 0];
  const traces = watchedTraces(
    keepsLog,
    () => {},
    () => (dropped += 1),
  );
  const take = (raw: object): readonly string[] => {
    seq += 1;
    return traces.add(observe({ at: at + seq * 100, ...raw } as RawObservation, seq, { logText: false }));
  };
  const [template] = recorded();
  /** A change of a pod, which terminates unless it was just added. */
  const change = (uid: string, change: 'ADDED' | 'MODIFIED' | 'DELETED' = 'MODIFIED'): readonly string[] => {
    const deletionTimestamp = change === 'ADDED' ? undefined : '2026-11-28T10:00:00Z';
    const metadata = { ...template?.metadata, name: uid, uid, deletionTimestamp, deletionGracePeriodSeconds: 30 };
    return take({ kind: 'changed', stream: 'pods', change, object: { ...template, metadata } });
  };
  return { traces, take, change, namespace: template?.metadata.namespace, dropped: () => dropped };
}

it('keeps nothing of hundreds of pods that came, terminated and went', () => {
  const { traces, take, change, namespace } = watching();
  take({ kind: 'listed', stream: 'pods', resourceVersion: '1', objects: [] });
  for (let count = 0; count < 300; count++) {
    const uid = `web-${count}`;
    for (const step of ['ADDED', 'MODIFIED', 'DELETED'] as const) {
      const metadata = { namespace, name: step, uid: `${step}-${count}` };
      const object = {
        kind: 'Event',
        metadata,
        reason: step,
        involvedObject: { kind: 'Pod', namespace, name: uid, uid },
      };
      if (step !== 'DELETED') take({ kind: 'changed', stream: 'events', change: 'ADDED', object });
      change(uid, step);
    }
    expect(traces.keys()).toEqual([uid]);
    traces.close(uid);
  }
  expect(traces.keys()).toEqual([]);
  expect(traces.sizes()).toEqual({ pods: 0, objects: 0 });
});

it('does not open a trace again for a pod that has ended, even if a server that is behind shows it', () => {
  const { traces, change } = watching();
  expect(change('web')).toHaveLength(1);
  traces.close('web');
  expect(change('web')).toEqual([]);
});

it('does not open the trace of a stuck pod again, however many others end before it is gone', () => {
  const { traces, change } = watching();
  change('stuck');
  traces.close('stuck');
  for (let count = 0; count < 10_001; count++) {
    change(`web-${count}`);
    change(`web-${count}`, 'DELETED');
    traces.close(`web-${count}`);
  }
  change('stuck', 'DELETED');
  change('stuck', 'DELETED');
  expect(traces.keys()).toEqual([]);
});

it('counts a pod beyond the bound as dropped once, and does not trace it later', () => {
  const { traces, change, dropped } = watching();
  for (let count = 0; count < 5000; count++) change(`web-${count}`);
  change('beyond');
  change('beyond');
  traces.close('web-0');
  change('beyond');
  change('beyond', 'DELETED');
  expect(dropped()).toBe(1);
  expect(traces.keys()).toHaveLength(4999);
});

/** What a watch remembers, and how to tell it that a list came so many minutes later. */
function remembering() {
  const memory = createMemory();
  let seq = 0;
  const list = (stream: StreamName, objects: object[], minutes = 0): void => {
    seq += 1;
    const listed = { kind: 'listed', at: at + minutes * 60_000 + seq, stream, resourceVersion: '9', objects } as const;
    memory.take(observe(listed, seq, { logText: false }));
  };
  return { memory, list };
}

const eventAbout = (name: string, lastTimestamp: string, namespace = 'shop') => ({
  kind: 'Event',
  metadata: { name, namespace, uid: `event-of-${name}`, resourceVersion: '7' },
  reason: 'Killing',
  involvedObject: { kind: 'Pod', namespace, name, uid: name },
  lastTimestamp,
});

it('keeps an Event for ten minutes and once, however often the server lists it, and not if it is old', () => {
  const { memory, list } = remembering();
  const events = [eventAbout('web', '2026-11-28T09:59:00Z'), eventAbout('old', '2026-11-28T09:10:00Z')];
  for (let times = 0; times < 20; times++) list('events', events);
  const about = memory.about({ uid: 'web', name: 'web', namespace: 'shop', owners: new Map() } as never);
  const names = about.flatMap((o) => (o.kind === 'listed' ? o.objects.map(({ metadata }) => metadata.name) : []));
  expect(names).toEqual(['web']);
  expect(memory.sizes()).toEqual({ pods: 0, objects: 1 });
  list('pods', recorded().slice(0, 1), 11);
  expect(memory.sizes()).toEqual({ pods: 1, objects: 0 });
});

it('keeps the first state of a generation longer than those in which only the status changed', () => {
  const { memory, list } = remembering();
  const owners = new Map([['db', 'StatefulSet/db']]);
  const state = (generation: number, replicas: number, ready: number) => ({
    ...{ kind: 'StatefulSet', metadata: { namespace: 'shop', name: 'db', uid: 'db', generation } },
    ...{ spec: { replicas }, status: { replicas: ready } },
  });
  for (const ready of [1, 2, 3]) list('owner', [state(1, 3, ready)]);
  for (const ready of [3, 3, 2, 2, 1, 1, 0]) list('owner', [state(2, 0, ready)]);
  const about = memory.about({ uid: 'db-0', name: 'db-0', namespace: 'shop', owners } as never);
  const states = about.flatMap((o) => (o.kind === 'listed' && o.stream === 'owner' ? o.objects : []));
  expect(states).toMatchObject([3, 0, 0, 0].map((replicas) => ({ spec: { replicas } })));
});

it('forgets what a later list does not have any more', () => {
  const { memory, list } = remembering();
  const object = (kind: string, name: string) => ({ kind, metadata: { namespace: 'shop', name, uid: name } });
  list('services', [object('Service', 'web'), object('Service', 'old')]);
  list('owner', [object('Deployment', 'shop'), object('Deployment', 'gone')]);
  list('owner', [object('ReplicaSet', 'shop-1')]);
  list('node', [object('Node', 'node1')]);
  expect(memory.sizes().objects).toBe(6);
  list('services', [object('Service', 'web')], 20);
  list('owner', [object('Deployment', 'shop')], 20);
  list('node', [], 20);
  list('services', [object('Service', 'web')], 40);
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
  const { traces, take } = watching(true);
  let uid = '';
  for (const raw of await rawObservationsOf('graceful-exit')) {
    const isOfPod = 'stream' in raw && (raw.stream === 'pod' || raw.stream === 'siblings');
    const one = (isOfPod ? { ...raw, stream: 'pods', name: undefined } : raw) as RawObservation;
    const again = one.kind === 'changed' && one.stream === 'endpointslices' ? 800 : 0;
    for (let count = 0; count <= again; count++) for (const key of take(one)) uid = key;
  }
  const log = traces.logOf(uid);
  expect(log.length).toBeLessThan(100);
  expect(log.some((one) => one.kind === 'changed' && one.change === 'DELETED')).toBe(true);
});

it('asks of an Event only the pod that it is about', () => {
  const asked: string[] = [];
  let seq = 0;
  const traces = tracesOfTerminating({
    wants: () => true,
    history: { take: () => {}, about: () => [] },
    partsFor: ({ name }) => (asked.push(name), []),
  });
  const change = (stream: StreamName, object: object): void => {
    seq += 1;
    const raw = { at: seq, kind: 'changed', stream, change: 'MODIFIED', object } as const;
    traces.add(observe(raw, seq, { logText: false }));
  };
  const [template] = recorded();
  const event = (name: string): void => change('events', eventAbout(name, '', template?.metadata.namespace));
  for (const name of ['web-1', 'web-2']) {
    const metadata = { ...template?.metadata, name, uid: name, deletionTimestamp: '2026-11-28T10:00:00Z' };
    change('pods', { ...template, metadata });
  }
  asked.length = 0;
  event('web-2');
  event('web-3');
  traces.close('web-2');
  event('web-2');
  expect(asked).toEqual(['web-2']);
});
