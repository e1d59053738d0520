/** Hostile targets: the rate is never exceeded, memory stays bounded, and little CPU time is used. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { everyNth, rounds } from '../helpers/sweep.ts';
import { kindsOf, probing, unmeasuredIn } from './helpers/probing.ts';

const script = fileURLToPath(new URL('./helpers/hostile-server.mjs', import.meta.url));
const message = async <T>(child: ReturnType<typeof fork>): Promise<T> => ((await once(child, 'message')) as [T])[0];
const behaviours = await message<string[]>(fork(script, []));

/** The expected failures, if they are not `http`; empty: none. */
const expected: Readonly<Record<string, string[]>> = {
  'answers 200, then resets': ['reset'],
  'sends chunks without end': [],
  'sends chunks of one byte without end': [],
  'sends less than its content length': ['reset'],
  'answers a byte at a time': ['timeout'],
  'upgrades to something else': ['http 101'],
  'is silent, and closes in order': ['reset'],
};

const [ratePerSecond, ms] = [40, rounds(250, 1000)];

it.each(everyNth(2, behaviours))('survives a target that %s', async (name) => {
  const child = fork(script, [name]);
  const port = await message<number>(child);
  const scheme = name.startsWith('http/2') ? 'grpc' : 'http';
  const before = process.memoryUsage.rss();
  const cpu = process.cpuUsage();
  const started = performance.now();
  const options = { keepalive: true, ratePerSecond, timeoutMs: 300 };
  const { result } = await probing(`${scheme}://127.0.0.1:${port}`, options, () => sleep(ms));
  const due = 1 + ((performance.now() - started) / 1000) * ratePerSecond;
  const { user, system } = process.cpuUsage(cpu);
  const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
  child.send('end');
  const connections = await message<number>(child);
  const kinds = Object.keys(kindsOf(result)).filter((kind) => kind !== 'timeout');
  expect(kinds.filter((kind) => !(expected[name] ?? ['http', 'reset']).includes(kind))).toEqual([]);
  expect(result.sent + unmeasuredIn(result)).toBeGreaterThan(0);
  expect(Math.max(result.sent, connections)).toBeLessThanOrEqual(due);
  expect(grown).toBeLessThan(64);
  // The CPU time of a request in ms. More would delay everything else.
  expect((user + system) / 1000 / Math.max(1, result.sent)).toBeLessThan(100);
});
