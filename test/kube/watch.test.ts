import { describe, expect, it, onTestFinished } from 'vitest';
import { watchObjects } from './helpers/observed.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { Asked } from './helpers/api.ts';
import { bookmark, connected, json, line, nowhere, pod, podList, serve, status } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { all, kinds, stopping, take } from './helpers/take.ts';

const pods = '/api/v1/namespaces/shop/pods';
const target = { stream: 'pod', path: pods, name: 'web' } as const;

const isStreamingList = ({ query }: Asked) => query['sendInitialEvents'] !== undefined;
const isWatch = ({ query }: Asked) => query['watch'] !== undefined && query['sendInitialEvents'] === undefined;
const isList = ({ path, query }: Asked) => path === pods && query['watch'] === undefined;

describe('watchObjects', () => {
  it('begins with a streaming list, and its changes follow on the same connection', async () => {
    const api = await serve((_, response) => {
      response.write(line('ADDED', pod('web', '5')) + bookmark('7', true));
      response.write(line('MODIFIED', pod('web', '8')));
    });
    const cluster = await connected(api);
    const seen = await take(watchObjects(cluster, target, { signal: stopping() }), 3);

    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(seen[0]).toMatchObject({ stream: 'pod', resourceVersion: '7', name: 'web', objects: [pod('web', '5')] });
    expect(seen[2]).toMatchObject({ change: 'MODIFIED', object: pod('web', '8') });
    expect(api.asked).toHaveLength(1);
    expect(api.asked[0]?.query).toEqual({
      fieldSelector: 'metadata.name=web',
      watch: '1',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
    });
  });

  it('reports how old the changes on a slow link may be, if one arrives in pieces', async () => {
    const api = await serve((_, response) => {
      response.write(bookmark('7', true));
      const slow = line('MODIFIED', pod('web', '8'));
      setTimeout(() => response.write(slow.slice(0, 20)), 100);
      setTimeout(() => response.write(slow.slice(20, 40)), 300);
      setTimeout(() => response.write(slow.slice(40) + line('DELETED', pod('web', '9'))), 500);
    });
    let slow: RawObservation | undefined;
    for await (const rawObservation of watchObjects(await connected(api), target, { signal: stopping() })) {
      if (rawObservation.kind === 'resumed') slow = rawObservation;
      if (rawObservation.kind !== 'changed') continue;
      expect(slow?.kind === 'resumed' && rawObservation.at - slow.since).toBeGreaterThan(350);
      if (rawObservation.change === 'DELETED') break;
    }
  });

  it('reports the server clock of each answer', async () => {
    const api = await serve((_, response) => {
      response.setHeader('date', 'Fri, 20 Nov 2026 23:44:14 GMT');
      response.write(bookmark('7', true));
    });
    const cluster = await connected(api);
    for await (const first of watchObjects(cluster, target, { signal: stopping() })) {
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
    const seen = await take(watchObjects(cluster, target, { signal: stopping() }), 3);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(seen[0]).toMatchObject({ objects: [{ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'web' } }] });
    expect(api.asked[2]?.query).toMatchObject({ watch: '1', resourceVersion: '10' });

    await take(
      watchObjects(cluster, { stream: 'siblings', path: pods, labelSelector: 'app=web' }, { signal: stopping() }),
      2,
    );
    expect(api.asked.filter(isStreamingList)).toHaveLength(1);
  });

  it('falls back if the server ignores the streaming list and sends no bookmark', async () => {
    const api = await serve((asked, response) => {
      if (isList(asked)) return json(response, 200, podList('10', [pod('web', '9')]));
      response.write(isStreamingList(asked) ? line('ADDED', pod('web', '9')) : line('MODIFIED', pod('web', '11')));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 3);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(seen[0]).toMatchObject({ objects: [pod('web', '9')] });
  });

  it('reads a list page by page, and starts again if the continue token expires', async () => {
    let expired = false;
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) return json(response, 400, status(400, 'BadRequest', 'no'));
      if (isWatch(asked)) return void response.write(bookmark('20'));
      if (asked.query['continue'] === undefined)
        return json(response, 200, podList('10', [pod('a', '1')], { continue: 'next' }));
      if (expired) return json(response, 200, podList('10', [pod('b', '2')]));
      expired = true;
      json(response, 410, status(410, 'Expired', 'The provided continue parameter is too old'));
    });
    const seen = await take(
      watchObjects(await connected(api), { stream: 'siblings', path: pods }, { signal: stopping() }),
      1,
    );
    expect(seen[0]).toMatchObject({ objects: [pod('a', '1'), pod('b', '2')] });
    expect(api.asked.filter(isList)).toHaveLength(4);
    expect(api.asked.filter(isList).every(({ query }) => query['limit'] === '500')).toBe(true);
  });

  it('reports how old the changes after a broken connection may be', async () => {
    const api = await serve((asked, response) => {
      if (!isStreamingList(asked)) return void response.write(line('MODIFIED', pod('web', '9')));
      response.write(bookmark('7', true) + line('MODIFIED', pod('web', '8')));
      setTimeout(() => response.destroy(), 20);
    });
    const seen: RawObservation[] = [];
    for await (const rawObservation of watchObjects(await connected(api), target, { signal: stopping() })) {
      if (rawObservation.kind !== 'dated') seen.push(rawObservation);
      if (seen.length === 5) break;
    }
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed', 'resumed', 'changed']);
    expect(seen[3]).toMatchObject({ stream: 'pod', since: seen[2]?.at });
  });

  it('resumes from the last resourceVersion after a connection breaks within a line, without a gap', async () => {
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) {
        response.write(bookmark('7', true) + line('MODIFIED', pod('web', '8')) + '{"type":"MODIFIED","obj');
        setTimeout(() => response.destroy(), 20);
        return;
      }
      response.write(line('MODIFIED', pod('web', '9')));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 4);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed', 'changed']);
    expect(api.asked[1]?.query).toMatchObject({ resourceVersion: '8' });
  });

  it('resumes from bookmarks without reporting them', async () => {
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) return void response.end(bookmark('7', true) + bookmark('70'));
      response.write(line('MODIFIED', pod('web', '71')));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 3);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(api.asked[1]?.query).toMatchObject({ resourceVersion: '70' });
  });

  it.each(['status', 'frame'])('reports a gap and lists again after a 410 as a %s', async (form) => {
    const gone = status(410, 'Expired', 'too old resource version: 7 (2461)');
    let lists = 0;
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) return void response.end(bookmark(`${++lists}7`, true));
      if (lists === 1 && form === 'status') return json(response, 410, gone);
      if (lists === 1) return void response.end(line('ERROR', gone));
      response.write(line('MODIFIED', pod('web', '30')));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 5);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'gap', 'listed', 'changed']);
    const [listed, , gap, again] = seen;
    expect(gap).toMatchObject({ cause: 'expired', from: listed?.at, to: again?.at });
  });

  it('never accepts an older state from a server that is behind: it requests NotOlderThan', async () => {
    let lists = 0;
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) return json(response, 400, status(400, 'BadRequest', 'no'));
      if (isWatch(asked) && lists === 1) return json(response, 410, status(410, 'Expired', 'too old'));
      if (isWatch(asked)) return void response.write(bookmark('120'));
      lists++;
      if (lists === 1) return json(response, 200, podList('100', [pod('web', '100')]));
      if (lists === 2) return json(response, 200, podList('50', [pod('web', '50')]));
      const cause = {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      };
      if (lists === 3)
        return json(response, 504, status(504, 'Timeout', 'Too large resource version: 100, current: 50', cause));
      json(response, 200, podList('110', [pod('web', '110')]));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 4);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'gap', 'listed']);
    expect(seen[3]).toMatchObject({ resourceVersion: '110' });
    expect(api.asked.filter(isList).at(-1)?.query).toMatchObject({
      resourceVersion: '100',
      resourceVersionMatch: 'NotOlderThan',
    });
  });

  it('finally accepts the state of a server that stays behind, and reports a gap', async () => {
    let lists = 0;
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) return json(response, 400, status(400, 'BadRequest', 'no'));
      if (isWatch(asked) && lists === 1) return json(response, 410, status(410, 'Expired', 'too old'));
      if (isWatch(asked)) return void response.write(bookmark('60'));
      lists++;
      json(response, 200, podList(lists === 1 ? '100' : '50', []));
    });
    const seen = await take(
      watchObjects(await connected(api, { env: testEnv({ speed: 200 }) }), target, { signal: stopping() }),
      4,
    );
    expect(kinds(seen)).toEqual(['listed', 'synced', 'gap', 'listed']);
    expect(seen[2]).toMatchObject({ cause: 'behind' });
  });

  it('skips changes that a server repeats', async () => {
    const api = await serve((_, response) => {
      response.write(bookmark('70', true) + line('MODIFIED', pod('web', '69')) + line('MODIFIED', pod('web', '71')));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 3);
    expect(seen[2]).toMatchObject({ object: pod('web', '71') });
  });

  it('reports the permission that a refused stream needs once, and ends', async () => {
    const message =
      'endpointslices.discovery.k8s.io is forbidden: User "dev" cannot watch resource "endpointslices" in API group "discovery.k8s.io" in the namespace "shop"';
    const api = await serve((_, response) => json(response, 403, status(403, 'Forbidden', message)));
    const path = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices';
    const seen = await all(
      watchObjects(await connected(api), { stream: 'endpointslices', path }, { signal: stopping() }),
    );
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
    const seen = await take(watchObjects(await connected(api, { env }), target, { signal: stopping() }), 2);
    expect(seen[0]).toMatchObject({ kind: 'listed', resourceVersion: '900000' });
  });

  it('waits as long as a busy server asks, and resumes', async () => {
    let watches = 0;
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) return void response.end(bookmark('7', true));
      if (watches++ === 0) return json(response, 429, status(429, 'TooManyRequests', 'later'), { 'retry-after': '2' });
      response.write(line('MODIFIED', pod('web', '8')));
    });
    const env = testEnv({ speed: 100 });
    const seen = await take(watchObjects(await connected(api, { env }), target, { signal: stopping() }), 3);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(env.waits).toContain(2200);
  });

  it('throws if the server rejects the credentials', async () => {
    const api = await serve((_, response) => json(response, 401, status(401, 'Unauthorized', 'Unauthorized')));
    const watching = all(watchObjects(await connected(api), target, { signal: stopping() }));
    await expect(watching).rejects.toMatchObject({ code: 'auth.unauthorized' });
  });

  it('waits for a server that is down and comes back, without a gap', async () => {
    let down = 0;
    const api = await serve((asked, response, request) => {
      if (isStreamingList(asked)) return void response.end(bookmark('7', true));
      if (down++ < 6) return void request.socket.destroy();
      response.write(line('MODIFIED', pod('web', '8')));
    });
    const env = testEnv({ speed: 50 });
    const seen = await take(watchObjects(await connected(api, { env }), target, { signal: stopping() }), 3);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(Math.max(...env.waits.filter((ms) => ms !== 10_000 && ms !== 1000))).toBeGreaterThan(1000);
  });

  it('throws if the server was never reached, and names it', async () => {
    const cluster = await connected({ url: nowhere });
    await expect(all(watchObjects(cluster, target, { signal: stopping() }))).rejects.toMatchObject({
      code: 'server.unreachable',
      message: expect.stringContaining(nowhere) as string,
    });
  });

  it('lists again with a gap after a change without a resourceVersion', async () => {
    let lists = 0;
    const api = await serve((asked, response) => {
      if (!isStreamingList(asked)) return void response.end();
      response.write(bookmark(`${++lists}0`, true));
      if (lists === 1) response.write(line('MODIFIED', { metadata: { name: 'web' } }));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 4);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'gap', 'listed']);
    expect(seen[2]).toMatchObject({ cause: 'disconnected' });
  });

  it('survives lines that are not JSON, nest too deeply or are not UTF-8', async () => {
    const deep = `{"type":"MODIFIED","object":${'['.repeat(200_000)}}\n`;
    const rubbish = [deep, 'not json\n', '{"type":7}\n', '[]\n', 'null\n', Buffer.from([0xff, 0xfe, 0x0a])];
    let next = 0;
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) return void response.end(bookmark('7', true));
      const bad = rubbish[next++];
      response.end(bad ?? line('MODIFIED', pod('web', '8')));
    });
    const seen = await take(
      watchObjects(await connected(api, { env: testEnv({ speed: 200 }) }), target, { signal: stopping() }),
      3,
    );
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(next).toBe(rubbish.length + 1);
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
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 4);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'gap', 'listed']);
  });

  it('may run many times on one signal without a leak warning of Node', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const api = await serve((_, response) => response.write(bookmark('7', true) + line('MODIFIED', pod('web', '8'))));
    const cluster = await connected(api);
    const signal = stopping();
    const streams = Array.from({ length: 30 }, () => take(watchObjects(cluster, target, { signal }), 3));
    expect((await Promise.all(streams)).map((seen) => seen.length)).toEqual(Array(30).fill(3));
    await new Promise((done) => setTimeout(done, 20));
    expect(warnings).toEqual([]);
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
    const api = await serve((asked, response) => {
      if (asked.path !== pods) return json(response, 200, pod('web', '7'));
      response.write(bookmark('7', true));
      setTimeout(() => response.write(line('MODIFIED', pod('web', '8'))), 1750);
    });
    const env = testEnv({ speed: 20 });
    const began = env.now();
    const seen = await take(watchObjects(await connected(api, { env }), target, { signal: stopping() }), 3);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect((seen[2]?.at ?? 0) - began).toBeGreaterThan(30_000);
    expect(api.asked.filter(({ path }) => path === pods)).toHaveLength(1);
    expect(api.asked.filter(({ path }) => path === `${pods}/web`).length).toBeGreaterThanOrEqual(3);
  });

  it('is dead if the server has a newer version, and resumes without a gap', async () => {
    const api = await serve((asked, response) => {
      if (asked.path !== pods) return json(response, 200, pod('web', '8'));
      if (isStreamingList(asked)) return void response.write(bookmark('7', true));
      response.write(line('MODIFIED', pod('web', '8')));
    });
    const seen = await take(
      watchObjects(await connected(api, { env: testEnv({ speed: 100 }) }), target, { signal: stopping() }),
      3,
    );
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(api.asked.filter(isWatch)).toHaveLength(1);
  });

  it('is dead if the object is gone and the stream did not report it', async () => {
    const api = await serve((asked, response) => {
      if (asked.path !== pods) return json(response, 404, status(404, 'NotFound', 'pods "web" not found'));
      if (isStreamingList(asked)) return void response.write(line('ADDED', pod('web', '6')) + bookmark('7', true));
      response.write(line('DELETED', pod('web', '8')));
    });
    const seen = await take(
      watchObjects(await connected(api, { env: testEnv({ speed: 100 }) }), target, { signal: stopping() }),
      3,
    );
    expect(seen[2]).toMatchObject({ kind: 'changed', change: 'DELETED' });
  });

  it('of a collection is checked with its own selectors and only for metadata', async () => {
    const api = await serve((asked, response) => {
      if (isList(asked)) return json(response, 200, podList('99', [pod('web-2', '8')]));
      if (isStreamingList(asked)) return void response.write(bookmark('7', true));
      response.write(line('ADDED', pod('web-2', '8')));
    });
    const siblings = { stream: 'siblings', path: pods, labelSelector: 'app=web' } as const;
    const seen = await take(
      watchObjects(await connected(api, { env: testEnv({ speed: 100 }) }), siblings, { signal: stopping() }),
      3,
    );
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    const question = api.asked.find(isList);
    expect(question?.query).toEqual({ labelSelector: 'app=web', limit: '50' });
    expect(question?.headers.accept).toContain('PartialObjectMetadataList');
  });

  it('of a collection is dead if one of its objects is gone: the others have no newer version', async () => {
    const left = pod('web-2', '6');
    const api = await serve((asked, response) => {
      if (isList(asked)) return json(response, 200, podList('9', [left]));
      if (isStreamingList(asked))
        return void response.write(
          line('ADDED', pod('web-1', '5')) + line('ADDED', left) + bookmark('7', true) + bookmark('8'),
        );
      response.write(line('DELETED', pod('web-1', '9')));
    });
    const siblings = { stream: 'siblings', path: pods, labelSelector: 'app=web' } as const;
    const seen = await take(
      watchObjects(await connected(api, { env: testEnv({ speed: 100 }) }), siblings, {
        signal: stopping(3000),
      }),
      3,
    );
    expect(seen[2]).toMatchObject({ kind: 'changed', change: 'DELETED', object: pod('web-1', '9') });
  });
});

describe('a wrong resourceVersion', () => {
  const far = '9'.repeat(38);

  it.each(['7000000', far])('in a bookmark of another server (%s) hides no change', async (foreign) => {
    const api = await serve((asked, response) => {
      if (asked.path !== pods) return json(response, 200, pod('web', '8'));
      response.write(line('ADDED', pod('web', '6')) + bookmark('7', true) + bookmark(foreign));
      response.write(line('MODIFIED', pod('web', '8')));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 3);
    expect(seen[2]).toMatchObject({ kind: 'changed', object: pod('web', '8') });
  });

  it('is not used to resume if a GET shows a missing change: nothing is lost', async () => {
    const api = await serve((asked, response) => {
      if (asked.path !== pods) return json(response, 200, pod('web', '8'));
      if (isStreamingList(asked))
        return void response.write(line('ADDED', pod('web', '6')) + bookmark('7', true) + bookmark(far));
      if (asked.query['resourceVersion'] === '6') response.write(line('MODIFIED', pod('web', '8')));
    });
    const env = testEnv({ speed: 100 });
    const seen: RawObservation[] = [];
    for await (const one of watchObjects(await connected(api, { env }), target, { signal: stopping() })) {
      if (one.kind !== 'dated') seen.push(one);
      if (seen.length === 4) break;
    }
    expect(kinds(seen)).toEqual(['listed', 'synced', 'resumed', 'changed']);
    // The bookmark proved nothing: the next changes may be as old as the list.
    expect(seen[2]).toMatchObject({ since: seen[0]?.at });
  });

  it('is not used to resume if the server has not reached it', async () => {
    const tooLarge = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] };
    const api = await serve((asked, response) => {
      if (isStreamingList(asked))
        return void response.end(line('ADDED', pod('web', '6')) + bookmark('7', true) + bookmark(far));
      if (asked.query['resourceVersion'] === far)
        return void response.end(line('ERROR', status(504, 'Timeout', 'Too large resource version', tooLarge)));
      response.write(line('MODIFIED', pod('web', '8')));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 3);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(api.asked.at(-1)?.query).toMatchObject({ resourceVersion: '7' });
  });

  it.each([
    ['a named object', target],
    ['a collection', { stream: 'siblings', path: pods, labelSelector: 'app=web' } as const],
  ])('of a change in %s that the server has not reached leads to a gap and a list', async (_, what) => {
    let lists = 0;
    const api = await serve((asked, response) => {
      if (asked.path !== pods) return json(response, 200, pod('web', '9'));
      if (isList(asked)) return json(response, 200, podList('9', [pod('web', '9')]));
      if (!isStreamingList(asked)) return;
      response.write(line('ADDED', pod('web', ++lists === 1 ? '6' : '9')) + bookmark(lists === 1 ? '7' : '9', true));
      if (lists === 1) response.write(line('MODIFIED', pod('web', far)) + line('MODIFIED', pod('web', '9')));
    });
    const env = testEnv({ speed: 100 });
    const seen = await take(watchObjects(await connected(api, { env }), what, { signal: stopping() }), 5);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed', 'gap', 'listed']);
    expect(seen[3]).toMatchObject({ cause: 'behind', from: seen[2]?.at });
    expect(seen[4]).toMatchObject({ objects: [pod('web', '9')] });
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
    const seen = await take(watchObjects(await connected(api, { env }), target, { signal: stopping() }), 19);
    expect(seen.at(-1)).toMatchObject({ kind: 'changed' });
    const waits = env.waits.filter((ms) => ms >= 100 && ms < 5000 && ms !== 1000);
    expect(waits).toEqual([188, 375, 750, 1500, 3000, 3750, 3750]);
  });
});

describe('a server that ignores the selector', () => {
  const foreign = [
    pod('other', '8'),
    { ...pod('web', '8'), metadata: { name: 'web', namespace: 'elsewhere', uid: 'uid-3', resourceVersion: '8' } },
  ];

  it.each(foreign)('sends changes of other objects, which are skipped: %j', async (object) => {
    const api = await serve((_, response) => {
      response.write(line('ADDED', object) + line('ADDED', pod('web', '6')) + bookmark('7', true));
      response.write(line('MODIFIED', object) + line('DELETED', object) + line('MODIFIED', pod('web', '9')));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 3);
    expect(seen[0]).toMatchObject({ objects: [pod('web', '6')] });
    expect(seen[2]).toMatchObject({ kind: 'changed', object: pod('web', '9') });
  });

  it('sends a successor with the same name, which is reported', async () => {
    const successor = pod('web', '9', { uid: 'another' });
    const api = await serve((_, response) => {
      response.write(line('ADDED', pod('web', '6')) + bookmark('7', true) + line('ADDED', successor));
    });
    const seen = await take(watchObjects(await connected(api), target, { signal: stopping() }), 3);
    expect(seen[2]).toMatchObject({ kind: 'changed', object: successor });
  });
});

describe('an answer that is not from Kubernetes', () => {
  const page = '<!doctype html>\n<html>Please log in</html>\n';

  it.each([{ 'content-type': 'text/html' }, {}])(
    'ends the stream if no other answer ever arrived (%j)',
    async (headers) => {
      const api = await serve((_, response) => response.writeHead(200, headers).end(page));
      await expect(all(watchObjects(await connected(api), target, { signal: stopping() }))).rejects.toMatchObject({
        name: 'PodexitError',
        code: 'server.not-kubernetes',
        exitCode: 1,
      });
      expect(api.asked).toHaveLength(4);
    },
  );

  it('is retried if the stream has begun', async () => {
    let pages = 0;
    const api = await serve((asked, response) => {
      if (isStreamingList(asked)) return void response.end(line('ADDED', pod('web', '6')) + bookmark('7', true));
      if (++pages <= 6) return void response.writeHead(200, { 'content-type': 'text/html' }).end(page);
      response.write(line('MODIFIED', pod('web', '8')));
    });
    const env = testEnv({ speed: 200 });
    const seen = await take(watchObjects(await connected(api, { env }), target, { signal: stopping() }), 3);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
    expect(pages).toBe(7);
  });
});
