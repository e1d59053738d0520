import { describe, expect, it } from 'vitest';
import { createLogLimit, isLater, readLogLine } from '../../src/kube/logs.ts';
import { followLog, all, kinds, take } from './helpers/observed.ts';
import { casesIn, pattern } from '../helpers/case-file.ts';
import { connected, serve } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { serveAnswers, type Answer } from './helpers/scripted-api.ts';

const target = { namespace: 'shop', pod: 'web', container: 'app' };
const stamp = (n: number) => `2026-11-20T23:04:29.${String(n).padStart(9, '0')}Z`;

interface Case {
  api: Answer[];
  speed?: number;
  uid?: string;
  /** The kinds of all that is delivered. */
  seen: string[];
  /** Parts of it, by its number. */
  of?: Record<number, object>;
  waits?: number[];
  /** Patterns of the parameters, by the number of the request; null: there is none. */
  asked?: Record<number, Record<string, string | null>>;
}

const fields = ['api', 'speed', 'uid', 'seen', 'of', 'waits', 'asked'] as const;

describe('following a log delivers', () => {
  it.each(casesIn<Case>(new URL('logs.yaml', import.meta.url), fields))('%s', async (_, one) => {
    const api = await serveAnswers(one.api);
    const env = testEnv({ speed: one.speed ?? 20 });
    // No `Date` of its answers: they wait for the kubelet too, not for the API server alone.
    const seen = await take(followLog(await connected(api, { env }), { ...target, uid: one.uid }), Infinity, []);
    expect(kinds(seen)).toEqual(one.seen);
    for (const [index, part] of Object.entries(one.of ?? {})) expect(seen[Number(index)]).toMatchObject(part);
    if (one.waits) expect(env.waits).toEqual(one.waits);
    for (const [index, query] of Object.entries(one.asked ?? {}))
      for (const [name, words] of Object.entries(query))
        expect(api.asked[Number(index)]?.query[name] ?? '', name).toMatch(words === null ? /^$/ : pattern(words));
  });

  it('delivers few lines of a container that logs constantly, always the last one, and counts the others', async () => {
    const count = 50_000;
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
