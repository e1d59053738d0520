/** When a run without a terminal stops waiting for a workload's next pod. */
import { expect, it } from 'vitest';
import type { Clock } from '../../src/output/ports.ts';
import { createWaitingLimit } from '../../src/run/ending/time-limit.ts';

/** A clock that the test advances, in seconds. */
function manualClock() {
  let now = 0;
  const timers = new Map<object, { at: number; ring: () => void }>();
  const clock: Clock = {
    now: () => now,
    setTimeout: (ring, ms) => {
      const key = {};
      timers.set(key, { at: now + ms, ring });
      return () => void timers.delete(key);
    },
  };
  const pass = (seconds: number): void => {
    now += seconds * 1000;
    for (const [key, { at, ring }] of timers) if (at <= now && timers.delete(key)) ring();
  };
  return { clock, pass };
}

const pipe = { isTty: false };
const podOf = (seconds: number) => ({ spec: { terminationGracePeriodSeconds: seconds } });

it('is 60 s while the pods cannot be listed', () => {
  const { clock, pass } = manualClock();
  const limit = createWaitingLimit({ clock, stdout: pipe });
  pass(59);
  expect(limit.signal.aborted).toBe(false);
  pass(1);
  expect(limit.signal.aborted).toBe(true);
  expect(limit.text()).toBe('60 s, as the pods could not be listed');
});

it('does not count while a command runs', () => {
  const { clock, pass } = manualClock();
  const limit = createWaitingLimit({ clock, stdout: pipe });
  limit.listed();
  limit.pause();
  pass(1000);
  limit.restart();
  pass(149);
  expect(limit.signal.aborted).toBe(false);
  pass(1);
  expect(limit.signal.aborted).toBe(true);
});

it('is 150 s if there is no pod with a grace period', () => {
  const { clock, pass } = manualClock();
  const limit = createWaitingLimit({ clock, stdout: pipe });
  limit.listed();
  pass(149);
  expect(limit.signal.aborted).toBe(false);
  pass(1);
  expect(limit.signal.aborted).toBe(true);
});

it('is 120 s more than the longest grace period, which it names', () => {
  const { clock, pass } = manualClock();
  const limit = createWaitingLimit({ clock, stdout: pipe });
  for (const seconds of [5, 600, 30]) limit.podSeen(podOf(seconds));
  pass(719);
  expect(limit.signal.aborted).toBe(false);
  pass(1);
  expect(limit.signal.aborted).toBe(true);
  expect(limit.text()).toBe('720 s (the longest grace period, 600 s, plus 120 s)');
});

it('restarts at the end of a pod', () => {
  const { clock, pass } = manualClock();
  const limit = createWaitingLimit({ clock, stdout: pipe });
  limit.podSeen(podOf(5));
  pass(100);
  limit.restart();
  pass(124);
  expect(limit.signal.aborted).toBe(false);
  pass(1);
  expect(limit.signal.aborted).toBe(true);
});

it('never ends a trace that is under way', () => {
  const { clock, pass } = manualClock();
  const limit = createWaitingLimit({ clock, stdout: pipe }, () => true);
  pass(1000);
  expect(limit.signal.aborted).toBe(false);
});

it.each([
  ['at a terminal', { stdout: { isTty: true } }],
  ['with --timeout', { stdout: pipe, timeoutMs: 600_000 }],
  ['with an unlimited --timeout', { stdout: pipe, timeoutMs: null }],
])('does not exist %s', (_, words) => {
  const { clock, pass } = manualClock();
  const limit = createWaitingLimit({ clock, ...words });
  limit.podSeen(podOf(5));
  pass(100_000);
  expect(limit.signal.aborted).toBe(false);
});
