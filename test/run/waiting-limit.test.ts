/** When a run without a terminal stops waiting for a workload's next pod. */
import { expect, it } from 'vitest';
import { createWaitingLimit, type WaitingLimit } from '../../src/run/ending/leaving.ts';
import { createVirtualClock } from '../demo/helpers/virtual-clock.ts';

const pipe = { isTty: false };
const podOf = (seconds: number) => ({ spec: { terminationGracePeriodSeconds: seconds } });

it.each<
  [string, (limit: WaitingLimit, pass: (seconds: number) => Promise<void>) => void | Promise<void>, number, string?]
>([
  ['60 s while the pods cannot be listed', () => {}, 60, '60 s, as the pods could not be listed'],
  ['150 s if there is no pod with a grace period', (limit) => limit.listed(), 150],
  [
    '120 s more than the longest grace period, which it names',
    (limit) => [5, 600, 30].forEach((seconds) => limit.podSeen(podOf(seconds))),
    720,
    '720 s (the longest grace period, 600 s, plus 120 s)',
  ],
  [
    'counted from the end of the last pod',
    async (limit, pass) => {
      limit.podSeen(podOf(5));
      await pass(100);
      limit.restart();
    },
    125,
  ],
  [
    'counted from the end of the command',
    async (limit, pass) => {
      limit.listed();
      limit.pause();
      await pass(1000);
      limit.restart();
    },
    150,
  ],
])('is %s', async (_, act, seconds, text) => {
  const clock = createVirtualClock(0);
  const pass = (some: number) => clock.advance(some * 1000);
  const limit = createWaitingLimit({ clock, stdout: pipe });
  await act(limit, pass);
  await pass(seconds - 1);
  expect(limit.signal.aborted).toBe(false);
  await pass(1);
  expect(limit.signal.aborted).toBe(true);
  if (text !== undefined) expect(limit.text()).toBe(text);
});

it.each([
  ['at a terminal', { stdout: { isTty: true } }],
  ['with --timeout', { stdout: pipe, timeoutMs: 600_000 }],
  ['with an unlimited --timeout', { stdout: pipe, timeoutMs: null }],
  ['while a trace is under way', { stdout: pipe }, () => true],
] as const)('does not exist %s', async (_, words, isBusy?: () => boolean) => {
  const clock = createVirtualClock(0);
  const limit = createWaitingLimit({ clock, ...words }, isBusy);
  limit.podSeen(podOf(5));
  await clock.advance(100_000_000);
  expect(limit.signal.aborted).toBe(false);
});
