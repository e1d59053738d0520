import { describe, expect, it } from 'vitest';
import { createLogLimit, isLater, readLogLine } from '../../src/kube/log-lines.ts';
import { followLog } from './helpers/observed.ts';
import { connected, json, pod, serve, status, type Handler } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { all, kinds, take } from './helpers/take.ts';

const target = { namespace: 'shop', pod: 'web', container: 'app' };
const stamp = (n: number) => `2026-11-20T23:04:29.${String(n).padStart(9, '0')}Z`;

describe('followLog', () => {
  it('delivers the lines with their timestamps, and the clean end of the log', async () => {
    const api = await serve((_, response) => response.end(`${stamp(5)} bye\n`));
    // No `Date` of its answer: that waits for the kubelet too, not for the API server alone.
    const seen = await take(followLog(await connected(api), target), Infinity, []);
    expect(seen).toMatchObject([
      { kind: 'log-opened', container: 'app' },
      { kind: 'line', time: stamp(5), text: 'bye' },
      { kind: 'log-ended', clean: true },
    ]);
    expect(api.asked[0]?.query).toEqual({ container: 'app', follow: 'true', timestamps: 'true', tailLines: '0' });
  });

  it('continues after a broken connection, without repeating a line', async () => {
    let opened = 0;
    const api = await serve((_, response) => {
      if (opened++ > 0) return void response.end(`${stamp(1)} one\n${stamp(2)} two\n`);
      response.write(`${stamp(1)} one\n`);
      setTimeout(() => response.destroy(), 20);
    });
    const seen = await all(followLog(await connected(api), target));
    expect(kinds(seen)).toEqual(['log-opened', 'line', 'log-ended', 'log-opened', 'line', 'log-ended']);
    expect(seen[2]).toMatchObject({ clean: false });
    expect(seen[4]).toMatchObject({ time: stamp(2) });
    expect(seen[5]).toMatchObject({ clean: true });
    expect(api.asked[1]?.query).toMatchObject({ sinceTime: stamp(1) });
  });

  it('continues from the time of its first opening if it breaks before its first line', async () => {
    let opened = 0;
    const api = await serve((_, response) => {
      if (opened++ > 0) return void response.end(`${stamp(1)} written meanwhile\n`);
      response.flushHeaders();
      setTimeout(() => response.destroy(), 20);
    });
    const seen = await all(followLog(await connected(api), target));
    expect(kinds(seen)).toEqual(['log-opened', 'log-ended', 'log-opened', 'line', 'log-ended']);
    expect(api.asked[1]?.query).toMatchObject({ sinceSeconds: expect.stringMatching(/^[1-9]\d?$/) as string });
    expect(api.asked[1]?.query).not.toHaveProperty('tailLines');
  });

  it('gives up after growing pauses if every connection breaks', async () => {
    const api = await serve((_, response) => {
      response.flushHeaders();
      setTimeout(() => response.destroy(), 10);
    });
    const env = testEnv({ speed: 50 });
    const seen = await all(followLog(await connected(api, { env }), target));
    expect(kinds(seen)).toEqual(Array<string[]>(9).fill(['log-opened', 'log-ended']).flat());
    expect(env.waits).toEqual([500, 1000, 2000, 4000, 5000, 5000, 5000]);
  });

  it.each<[string, Handler]>([
    ['an error of the kubelet', (_, response) => json(response, 500, status(500, 'InternalError', 'no route'))],
    ['the page of a proxy', (_, response) => response.writeHead(404).end('<html>no backend</html>')],
  ])('reports that the log is not available, and retries, after %s', async (_, answer) => {
    const api = await serve((...asked) => (api.asked.length > 2 ? void asked[1].end() : answer(...asked)));
    const seen = await all(followLog(await connected(api, { env: testEnv({ speed: 50 }) }), target));
    expect(kinds(seen)).toEqual(['gap', 'log-opened', 'log-ended']);
    expect(seen[0]).toMatchObject({ stream: 'logs', container: 'app', cause: 'not-synced' });
    expect(seen[0]).not.toHaveProperty('to');
  });

  it('retries each second while the container waits to start', async () => {
    let asked = 0;
    const api = await serve((_, response) => {
      if (asked++ > 2) return void response.end();
      json(response, 400, status(400, 'BadRequest', 'container "app" in pod "web" is waiting to start: x'));
    });
    const env = testEnv({ speed: 50 });
    const seen = await all(followLog(await connected(api, { env }), target));
    expect(kinds(seen)).toEqual(['log-opened', 'log-ended']);
    expect(env.waits.filter((ms) => ms === 1000)).toHaveLength(3);
  });

  it('reports once which permission reading logs needs', async () => {
    const message =
      'pods "web" is forbidden: User "dev" cannot get resource "pods/log" in API group "" in the namespace "shop"';
    const api = await serve((_, response) => json(response, 403, status(403, 'Forbidden', message)));
    const seen = await all(followLog(await connected(api), target));
    expect(seen).toMatchObject([
      { kind: 'refused', stream: 'logs', container: 'app', status: 403, verb: 'get', resource: 'pods/log', group: '' },
    ]);
  });

  it.each<[string, string, object, string[]]>([
    ['reports a refused log if the pod still exists', 'uid-web', pod('web', '8'), ['refused']],
    ['reports nothing if another pod has taken the name', 'uid-old', pod('web', '8'), []],
    ['reports nothing about a pod that is gone', 'uid-web', status(404, 'NotFound', 'pods "web" not found'), []],
  ])('%s', async (_, uid, found, received) => {
    const api = await serve(({ path }, response) => {
      if (!path.endsWith('/log')) return json(response, 'code' in found ? 404 : 200, found);
      json(response, 404, status(404, 'NotFound', 'the server could not find the requested resource'));
    });
    expect(kinds(await all(followLog(await connected(api), { ...target, uid })))).toEqual(received);
  });

  it('retries the log while it is unknown whether the pod exists', async () => {
    let looks = 0;
    const api = await serve(({ path }, response) => {
      if (path.endsWith('/log') || ++looks > 2) return json(response, 404, status(404, 'NotFound', 'no'));
      json(response, 503, status(503, 'ServiceUnavailable', 'busy'));
    });
    const env = testEnv({ speed: 50 });
    expect(await all(followLog(await connected(api, { env }), target))).toEqual([]);
    expect(env.waits).toEqual([250, 500]);
  });

  it('delivers few lines of a container that logs constantly, always the last one, and counts the others', async () => {
    const count = 200_000;
    const api = await serve((_, response) => {
      for (let i = 1; i <= count; i++) response.write(`${stamp(i)} ${'chatter '.repeat(10)}\n`);
      response.end();
    });
    const seen = await all(followLog(await connected(api, { env: testEnv() }), target));
    const lines = seen.filter((rawObservation) => rawObservation.kind === 'line');
    const span = (lines.at(-1)?.at ?? 0) - (lines[0]?.at ?? 0);
    expect(lines.length).toBeLessThanOrEqual(span / 50 + 2);
    expect(lines.reduce((sum, { skipped = 0 }) => sum + 1 + skipped, 0)).toBe(count);
    expect(lines.at(-1)?.time).toBe(stamp(count));
    expect(kinds(seen).at(-1)).toBe('log-ended');
  });

  it('skips lines without a timestamp, and replaces invalid UTF-8', async () => {
    const api = await serve((_, response) => {
      response.write('failed to watch file\n');
      response.end(Buffer.concat([Buffer.from(`${stamp(1)} `), Buffer.from([0xff, 0xfe, 0x0a])]));
    });
    const seen = await all(followLog(await connected(api), target));
    expect(kinds(seen)).toEqual(['log-opened', 'line', 'log-ended']);
    expect(seen[1]).toMatchObject({ text: '\ufffd\ufffd' });
  });
});

it('an important line during chatter is delivered at once, but important lines are limited too', () => {
  const said = (text: string) => ({ time: stamp(1), text });
  const limit = createLogLimit(50, (text) => text.includes('SIGTERM'));
  limit.offer(said('a'), 1000);
  limit.offer(said('b'), 1010);
  expect(limit.offer(said('received SIGTERM'), 1020)).toEqual({ ...said('received SIGTERM'), skipped: 1 });
  expect(limit.offer(said('SIGTERM SIGTERM'), 1030)).toBeUndefined();
});

it('a log line is a timestamp and a text, which may be empty', () => {
  expect(readLogLine(Buffer.from(`${stamp(1)} `))).toEqual({ time: stamp(1), text: '' });
  expect(readLogLine(Buffer.from('2026-11-20T23:04:29Z a b'))).toEqual({ time: '2026-11-20T23:04:29Z', text: 'a b' });
});

it('log lines are ordered by the nanosecond, for fractions of any length', () => {
  expect(isLater('2026-11-20T23:04:29.1Z', '2026-11-20T23:04:29.09Z')).toBe(true);
  expect(isLater('2026-11-20T23:04:29.1Z', '2026-11-20T23:04:29.100Z')).toBe(false);
});
