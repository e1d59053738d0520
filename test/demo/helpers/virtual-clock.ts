import type { DemoClock } from '../../../src/demo/clock.ts';

export interface VirtualClock extends DemoClock {
  /** Advances the time: timers run in order, and sockets get a moment of real time after each. */
  advance(ms: number): Promise<void>;
  /** The same at once, up to this time. */
  advanceTo(time: number): void;
}

interface Timer {
  due: number;
  run: () => void;
}

/** A clock that stands still until it is advanced; HTTP runs in real time. */
export function createVirtualClock(now: number): VirtualClock {
  const timers = new Set<Timer>();

  function earliest(until: number) {
    return [...timers].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
  }

  function runTimer(timer: Timer): void {
    timers.delete(timer);
    now = Math.max(now, timer.due);
    timer.run();
  }

  return {
    now: () => now,
    setTimeout(run, ms) {
      const timer = { due: now + Math.max(0, ms), run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advanceTo(time) {
      for (let next = earliest(time); next !== undefined; next = earliest(time)) runTimer(next);
      now = Math.max(now, time);
    },
    async advance(ms) {
      const target = now + ms;
      // Bytes that were just sent must arrive before the time advances, even on a busy machine.
      await new Promise((resolve) => setTimeout(resolve, 25));
      await settle();
      for (let next = earliest(target); next !== undefined; next = earliest(target)) {
        runTimer(next);
        await settle();
      }
      now = target;
    },
  };
}

/** Waits until bytes on the loopback interface have arrived and been handled. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
