/** The schedule keeps its rate, never exceeds it, and does not catch up after a standstill. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { noKeptConnection } from '../../src/probe/client.ts';
import { startSchedule, createSender } from '../../src/probe/sender.ts';
import { startProbes } from '../../src/probe/start.ts';
import { createTally } from '../../src/probe/result.ts';
import { parseProbeTarget } from '../../src/probe/target.ts';
import { isSweep } from '../helpers/sweep.ts';
import { counting } from './helpers/counting.ts';
import { defaults, probing } from './helpers/probing.ts';

/** On a busy machine the error is larger in a few seconds than in a minute: requests are up to a second late. */
const [seconds, off] = isSweep ? [60, 0.01] : [3, 0.4];

it.concurrent.each([20, 500])('sends %i requests a second, and never more up to any moment', async (ratePerSecond) => {
  const start = performance.now();
  let sent = 0;
  let isAhead = false;
  let missed = 0;
  const schedule = startSchedule({
    ratePerSecond,
    now: Date.now,
    onStandstill: (_, count) => (missed += count),
    send() {
      sent += 1;
      isAhead ||= sent > 1 + ((performance.now() - start) / 1000) * ratePerSecond;
    },
  });
  await sleep(seconds * 1000);
  schedule.stop();
  const due = ((performance.now() - start) / 1000) * ratePerSecond;
  await sleep(100);
  expect(isAhead).toBe(false);
  expect(Math.abs((sent + missed) / due - 1)).toBeLessThan(off);
});

it('counts requests that were due while this process stood still as not measured', async () => {
  const server = await counting((_, answer) => answer.end());
  const began = performance.now();
  const { result } = await probing(server.url, {}, async (sent) => {
    await sent(8);
    const until = performance.now() + 1600;
    while (performance.now() < until);
    // More than can have been sent before.
    await sent(60);
  });
  await server.close();
  expect(result.failed, JSON.stringify(result)).toBe(0);
  const [missed] = result.notMeasured;
  expect(missed?.reason).toBe('standstill');
  expect(missed?.count).toBeGreaterThan(18);
  const due = 1 + ((performance.now() - began) / 1000) * defaults.ratePerSecond;
  expect(result.sent + (missed?.count ?? 0)).toBeLessThanOrEqual(due);
});

it('counts connections that broke while the machine slept as not measured', async () => {
  let slept = 0;
  const server = await counting((request, answer) => {
    if (slept === 0) answer.end();
    else request.socket.resetAndDestroy();
  });
  const { result } = await probing(server.url, { now: () => Date.now() + slept }, async (sent) => {
    await sent(8);
    // The run's clock continues while the machine sleeps, the monotonic one does not.
    slept = 60_000;
    await sleep(150);
  });
  await server.close();
  expect(result.notMeasured.find(({ reason }) => reason === 'standstill')?.count).toBeGreaterThan(2000);
});

it('ends the trial of a target even if the clock moves on while a request is sent', async () => {
  const server = await counting((_, answer) => answer.end());
  const settings = { ...defaults, ratePerSecond: 20, timeoutMs: 4000, target: parseProbeTarget(server.url) };
  const all = Array.from({ length: 16 }, (_, index) => {
    let ms = Date.now();
    // The steps differ, so that some trial ends between two readings for the same request.
    const now = (): number => (ms += 30 + index);
    const about = { now, userAgent: 'probe-test', namespace: 'shop', ask: () => Promise.reject(new Error()) };
    return startProbes({ ...about, probes: [settings] }, () => undefined, new AbortController().signal);
  });
  await Promise.allSettled(all.map(({ ready }) => ready));
  await Promise.all(all.map((probes) => probes.stop()));
  await server.close();
});

it('sends nothing, and keeps no process alive, if it was stopped before it started', async () => {
  const server = await counting((_, answer) => answer.end());
  const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
  const before = timers();
  const settings = { ...defaults, ratePerSecond: 100, target: parseProbeTarget(server.url) };
  const about = { now: Date.now, userAgent: 'probe-test', namespace: 'shop', ask: () => Promise.reject(new Error()) };
  startProbes({ ...about, probes: [settings] }, () => undefined, AbortSignal.abort());
  expect(timers()).toBe(before);
  await server.close();
});

it('lets at most 2,000 requests wait, and counts what it does not send', () => {
  const tally = createTally(0, false, 0);
  const sender = createSender({
    client: { ...noKeptConnection, send: () => () => undefined },
    ...{ timeoutMs: 60_000, hasKept: false, now: Date.now, tally },
    standstill: () => undefined,
    onSettled: () => undefined,
  });
  for (let sent = 0; sent < 2100; sent++) sender.send();
  sender.abort();
  expect(tally.take(1)?.notMeasured).toEqual([{ reason: 'too-many-waiting', count: 100 }]);
});
