import { describe, expect, it, onTestFinished } from 'vitest';
import { watchObjects, all, kinds, stopping, take } from './helpers/observed.ts';
import { listObjects } from '../../src/kube/get.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { type Asked, bookmark, connected, json, line, nowhere, pod, podList, serve, status } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { type Answer, podIn, questionOf, serveAnswers } from './helpers/scripted-api.ts';
import { casesIn } from '../helpers/case-file.ts';

const pods = '/api/v1/namespaces/shop/pods';
const target = { stream: 'pod', path: pods, name: 'web' } as const;

const isStreamingList = ({ query }: Asked) => query['sendInitialEvents'] !== undefined;
const isList = ({ path, query }: Asked) => path === pods && query['watch'] === undefined;

interface Case {
  /** Absent: of the pod web. */
  stream?: 'siblings';
  /** How much faster than the wall clock its clock runs. */
  speed?: number;
  api: Answer[];
  /** The kinds of all that it delivers until then. */
  seen?: string[];
  /** Parts of what it delivers, by its number. Pods are written as `web 5`. */
  of?: Record<number, Record<string, unknown>>;
  /** Times that are those of the arrival of another. */
  at?: Record<number, Record<string, number>>;
  throws?: object;
  waits?: number;
  /** How many requests of a kind arrive. */
  asks?: Partial<Record<Answer['to'], number>>;
  /** Parts of the queries, by the number of the request, and of all, or of the last, of a kind. */
  asked?: Record<number, object>;
  askedLists?: object;
  lastList?: object;
  lastWatch?: object;
  listsAccept?: string;
}

const fields = [
  ...(['stream', 'speed', 'api', 'seen', 'of', 'at', 'throws', 'waits', 'asks', 'asked'] as const),
  ...(['askedLists', 'lastList', 'lastWatch', 'listsAccept'] as const),
];

/** Pods that are written as `web 5`. */
const withPods = ({ object, objects, ...more }: Record<string, unknown>): object => ({
  ...more,
  ...(object !== undefined && { object: podIn(object as string) }),
  ...(objects !== undefined && { objects: (objects as string[]).map(podIn) }),
});

it.each(casesIn<Case>(new URL('watch.yaml', import.meta.url), fields))('%s', async (_, one) => {
  const api = await serveAnswers(one.api);
  const env = testEnv({ speed: one.speed ?? 20 });
  const siblings = { stream: 'siblings', path: pods, labelSelector: 'app=web' } as const;
  const watching = watchObjects(await connected(api, { env }), one.stream ? siblings : target);
  const isOdd = one.seen?.includes('resumed') ?? false;
  if (one.throws) await expect(all(watching)).rejects.toMatchObject(one.throws);
  else checkSeen(await take(watching, one.seen?.length ?? 0, isOdd ? ['dated'] : undefined), one);
  if (one.waits !== undefined) expect(env.waits).toContain(one.waits);
  checkAsked(api.asked, one);
});

function checkSeen(seen: RawObservation[], { seen: wanted, of = {}, at = {} }: Case): void {
  expect(kinds(seen)).toEqual(wanted);
  for (const [index, part] of Object.entries(of)) expect(seen[Number(index)]).toMatchObject(withPods(part));
  for (const [index, times] of Object.entries(at))
    for (const [field, other] of Object.entries(times))
      expect(seen[Number(index)]).toHaveProperty(field, seen[other]?.at);
}

function checkAsked(asked: Asked[], { asks = {}, asked: wanted = {}, ...more }: Case): void {
  const of = (kind: Answer['to']) => asked.filter((one) => kind === 'any' || questionOf(one) === kind);
  for (const [kind, count] of Object.entries(asks)) expect(of(kind as Answer['to'])).toHaveLength(count);
  for (const [index, query] of Object.entries(wanted)) expect(asked[Number(index)]?.query).toMatchObject(query);
  if (more.askedLists) for (const { query } of of('list')) expect(query).toMatchObject(more.askedLists);
  if (more.lastList) expect(of('list').at(-1)?.query).toMatchObject(more.lastList);
  if (more.lastWatch) expect(of('watch').at(-1)?.query).toMatchObject(more.lastWatch);
  if (more.listsAccept !== undefined) expect(of('list').at(-1)?.headers.accept).toContain(more.listsAccept);
}

describe('watchObjects', () => {
  it('reports how old the changes on a slow link may be, if one arrives in pieces', async () => {
    const env = testEnv({ speed: 20 });
    const api = await serve((_, response) => {
      response.write(bookmark('7', true));
      const slow = line('MODIFIED', pod('web', '8'));
      env.after(2000, () => response.write(slow.slice(0, 20)));
      env.after(6000, () => response.write(slow.slice(20, 40)));
      env.after(10_000, () => response.write(slow.slice(40) + line('DELETED', pod('web', '9'))));
    });
    let slow: RawObservation | undefined;
    for await (const rawObservation of watchObjects(await connected(api, { env }), target)) {
      if (rawObservation.kind === 'resumed') slow = rawObservation;
      if (rawObservation.kind !== 'changed') continue;
      expect(slow?.kind === 'resumed' && rawObservation.at - slow.since).toBeGreaterThan(7000);
      if (rawObservation.change === 'DELETED') break;
    }
  });

  it('reports the server clock of each answer', async () => {
    const api = await serve((_, response) => {
      response.setHeader('date', 'Fri, 20 Nov 2026 23:44:14 GMT');
      response.write(bookmark('7', true));
    });
    const cluster = await connected(api);
    for await (const first of watchObjects(cluster, target)) {
      expect(first).toMatchObject({ kind: 'dated', date: Date.parse('2026-11-20T23:44:14Z') });
      expect(first.kind === 'dated' && first.sentAt <= first.at).toBe(true);
      break;
    }
  });

  it('falls back to list and watch if streaming lists are refused, also for the other streams', async () => {
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) return json(response, 422, status(422, 'Invalid', 'sendInitialEvents is forbidden'));
      if (isList(asked))
        return json(response, 200, podList('10', [{ metadata: { name: 'web', resourceVersion: '9' } }]));
      response.write(line('MODIFIED', pod('web', '11')));
    });
    const cluster = await connected(api);
    const seen = await take(watchObjects(cluster, target), 3);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(seen[0]).toMatchObject({ objects: [{ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'web' } }] });
    expect(api.asked[2]?.query).toMatchObject({ watch: '1', resourceVersion: '10' });

    await take(watchObjects(cluster, { stream: 'siblings', path: pods, labelSelector: 'app=web' }), 2);
    expect(api.asked.filter(isStreamingList)).toHaveLength(1);
  });

  it('reports the permission that a refused stream needs once, and ends', async () => {
    const message =
      'endpointslices.discovery.k8s.io is forbidden: User "dev" cannot watch resource "endpointslices" in API group "discovery.k8s.io" in the namespace "shop"';
    const api = await serve((_, response) => json(response, 403, status(403, 'Forbidden', message)));
    const path = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices';
    const seen = await all(watchObjects(await connected(api), { stream: 'endpointslices', path }));
    expect(seen).toMatchObject([
      { kind: 'refused', status: 403, verb: 'watch', resource: 'endpointslices', group: 'discovery.k8s.io', message },
    ]);
    expect(api.asked).toHaveLength(1);
  });

  it('falls back if the server ignores the streaming list and sends changes constantly', async () => {
    let version = 100;
    const api = await serve((asked, response) => {
      if (isList(asked)) return json(response, 200, podList('900000', []));
      const timer = setInterval(() => response.write(line('MODIFIED', pod(`p-${++version}`, String(version)))), 4);
      response.on('close', () => clearInterval(timer));
    });
    const env = testEnv({ speed: 60 });
    const seen = await take(watchObjects(await connected(api, { env }), target), 2);
    expect(seen[0]).toMatchObject({ kind: 'listed', resourceVersion: '900000' });
  });

  it('throws if the server was never reached, and names it', async () => {
    const cluster = await connected({ url: nowhere });
    await expect(all(watchObjects(cluster, target))).rejects.toMatchObject({
      code: 'server.unreachable',
      message: expect.stringContaining(nowhere) as string,
    });
  });

  it('lists again after a line that is too long', async () => {
    let lists = 0;
    const api = await serve((asked, response) => {
      if (!isStreamingList(asked)) return void response.end();
      response.write(bookmark(`${++lists}0`, true));
      if (lists > 1) return;
      const megabyte = 'x'.repeat(1024 * 1024);
      for (let i = 0; i < 34; i++) response.write(megabyte);
    });
    const seen = await take(watchObjects(await connected(api), target), 4);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'gap', 'listed']);
  });

  it('ends without an error on abort, even before the headers arrive', async () => {
    const stop = new AbortController();
    const api = await serve(() => stop.abort());
    expect(await all(watchObjects(await connected(api), target, { signal: stop.signal }))).toEqual([]);
    expect(api.asked).toHaveLength(1);
  });
});

describe('a silent stream', () => {
  it('stays open for more than 30 seconds, while GETs of the object check it', async () => {
    const env = testEnv({ speed: 20 });
    const api = await serve((asked, response) => {
      if (asked.path !== pods) return json(response, 200, pod('web', '7'));
      response.write(bookmark('7', true));
      env.after(35_000, () => response.write(line('MODIFIED', pod('web', '8'))));
    });
    const began = env.now();
    const seen = await take(watchObjects(await connected(api, { env }), target), 3);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect((seen[2]?.at ?? 0) - began).toBeGreaterThan(30_000);
    expect(api.asked.filter(({ path }) => path === pods)).toHaveLength(1);
    expect(api.asked.filter(({ path }) => path === `${pods}/web`).length).toBeGreaterThanOrEqual(3);
  });
});

describe('a watch that always gets 410', () => {
  it('waits longer each time, although every list succeeds, until a watch delivers a change', async () => {
    const gone = status(410, 'Expired', 'too old resource version');
    let watches = 0;
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) return json(response, 400, status(400, 'BadRequest', 'no'));
      if (isList(asked)) return json(response, 200, podList('10', [pod('web', '9')]));
      if (++watches <= 8) return void response.end(line('ERROR', gone));
      response.write(line('MODIFIED', pod('web', '11')));
    });
    // A watch that lived for seconds was well: a stall of the machine must not look like that.
    const env = testEnv({ speed: 20 });
    const seen = await take(watchObjects(await connected(api, { env }), target), 19);
    expect(seen.at(-1)).toMatchObject({ kind: 'changed' });
    const waits = env.waits.filter((ms) => ms >= 100 && ms < 5000 && ms !== 1000);
    expect(waits).toEqual([188, 375, 750, 1500, 3000, 3750, 3750]);
  });
});

it('a list that never ends is given up', async () => {
  let page = 0;
  const api = await serve((_, response) => json(response, 200, podList('7', [], { continue: `page-${++page}` })));
  const listing = listObjects(await connected(api), { stream: 'siblings', path: pods }, {});
  await expect(listing).resolves.toMatchObject({ kind: 'failed', outcome: { kind: 'cut' } });
  expect(api.asked).toHaveLength(1000);
});

it('Node prints no leak warning for two dozen open streams on one signal', async () => {
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const api = await serve((_, response) => response.write(bookmark('7', true)));
  const cluster = await connected(api);
  const signal = stopping();
  const streams = Array.from({ length: 24 }, () => take(watchObjects(cluster, target, { signal }), 2));
  expect((await Promise.all(streams)).map(kinds)).toEqual(Array(24).fill(['listed', 'synced']));
  await new Promise((done) => setTimeout(done, 20));
  expect(warned).toEqual([]);
});
