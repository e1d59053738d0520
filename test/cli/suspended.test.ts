/** A suspended process reads at its wake-up all that arrived before: that time is not when it happened. */
import { describe, expect, it } from 'vitest';
import { createNow } from '../../src/run/clock.ts';
import { watchSuspension } from '../../src/run/streams/stream-health.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { ExitReport } from '../../src/model/report.ts';
import type { Loopback } from '../sim/faults/faulty-server.ts';
import { started } from '../helpers/built.ts';
import { serving } from '../helpers/serving.ts';
import { createSteppedClock } from '../faults/helpers/stepped-clock.ts';

/** Suspends the command after its DELETE, until some ms after all has happened. */
async function suspended(words: readonly string[], server: Loopback, ms: number) {
  const { child, printed, ended, until } = started([...words, '-v=6']);
  await until(() => /DELETE \S+ 200/.test(printed.stderr));
  child.kill('SIGSTOP');
  const stopped = Date.now();
  await server.played;
  const removed = Date.now();
  await new Promise((resolve) => setTimeout(resolve, ms));
  child.kill('SIGCONT');
  return { ...(await ended), stopped, removed };
}

describe.concurrent('a suspended process', () => {
  it('reports a gap, and no instant is later than the truth', () =>
    // Its pod takes seconds, so that even a late signal finds the run.
    serving('prestop-sleep', {}, async ({ server, flags }) => {
      const { stdout, stopped, removed } = await suspended([server.pod, ...flags, '-o', 'json'], server, 4000);
      const report = JSON.parse(stdout) as ExitReport;
      const mark = report.marks.find(({ name }) => name === 'removed');
      expect(Date.parse(mark?.at.earliest ?? '')).toBeLessThanOrEqual(removed);
      const late = report.gaps.filter(({ cause }) => cause === 'late');
      expect(late.map(({ resource }) => resource)).toEqual(expect.arrayContaining(['pods', 'pods/log']));
      for (const { from } of late) expect(Date.parse(from)).toBeLessThanOrEqual(stopped + 100);
    }));

  it('that was suspended past its --timeout first reads what arrived before', () =>
    serving('exit-143', {}, async ({ server, flags }) => {
      const words = [server.pod, ...flags, '-o', 'name', '--timeout', '9s'];
      expect(await suspended(words, server, 9500)).toMatchObject({ code: 0 });
    }));

  it.each([
    ['the tick', true],
    ['a raw observation that is read before the tick', false],
  ])('is detected by %s, for every open stream', (_, ticks) => {
    let now = 1000;
    const timers: (() => void)[] = [];
    const clock = { now: () => now, setTimeout: (run: () => void) => (timers.push(run), () => {}) };
    const received: RawObservation[] = [];
    const suspension = watchSuspension(
      clock,
      () => ['pod', 'events', 'pod'],
      (one) => void received.push(one),
    );
    for (; now < 4000; now += 1000) timers.shift()?.();
    expect(received).toEqual([]);
    now = 63_000;
    if (ticks) timers.shift()?.();
    else received.push(...suspension.before(63_000));
    expect(received).toMatchObject(
      ['pod', 'events'].map((stream) => ({ kind: 'resumed', stream, at: 63_000, since: 3000 })),
    );
    // Another stream was also read after the wake-up, a moment earlier.
    expect(suspension.before(62_998)).toMatchObject([{ at: 62_998, since: 3000 }, { stream: 'events' }]);
    expect(suspension.before(63_010)).toEqual([]);
  });

  it('is not detected if a virtual clock jumps and its timers fire on time', async () => {
    const clock = createSteppedClock(0);
    const received: RawObservation[] = [];
    const suspension = watchSuspension(
      clock,
      () => ['pod'],
      (one) => void received.push(one),
    );
    await clock.runUntil(new Promise<void>((resolve) => clock.setTimeout(resolve, 60_500)));
    suspension.cancel();
    expect(received).toEqual([]);
  });
});

describe('the clock of the process', () => {
  it('includes the sleep of the machine, but no step of the wall clock', () => {
    const clocks = { monotonic: 0, wall: 1_000_000, uptime: 500_000 };
    const pass = (ms: Partial<typeof clocks>): void => {
      for (const [name, by] of Object.entries(ms)) clocks[name as keyof typeof clocks] += by;
    };
    const now = createNow({
      monotonic: () => clocks.monotonic,
      wall: () => clocks.wall,
      uptime: () => Math.floor(clocks.uptime / 1000) * 1000,
    });
    const all = (ms: number) => ({ monotonic: ms, wall: ms, uptime: ms });
    pass(all(2500));
    expect(now()).toBe(1_002_500);
    pass({ wall: 3_600_000 });
    expect(now()).toBe(1_002_500);
    pass({ wall: -7_200_000 });
    expect(now()).toBe(1_002_500);
    pass({ wall: 60_321, uptime: 60_321 });
    expect(now()).toBe(1_062_821);
    pass(all(1000));
    expect(now()).toBe(1_063_821);
    // The machine slept, and then its clock was corrected.
    pass({ wall: 90_000, uptime: 30_000 });
    expect(Math.abs(now() - 1_093_821)).toBeLessThanOrEqual(1000);
  });

  it('is right if the process waited for its core when it first read its clocks', () => {
    let ran = 0;
    let waits = 21;
    const now = createNow({
      wall: () => {
        const read = 1_000_000 + ran;
        ran += waits;
        waits = 0;
        return read;
      },
      monotonic: () => ran,
      uptime: () => 0,
    });
    expect(now()).toBe(1_000_021);
  });
});
