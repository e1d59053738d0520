import type { DemoClock } from '../../../src/demo/clock.ts';

export interface VirtualClock extends DemoClock {
  /** Advances the time: timers run in order, and sockets get a moment of real time after each. */
  advance(ms: number): Promise<void>;
}

/** A clock that stands still until it is advanced; HTTP runs in real time. */
export function createVirtualClock(now: number): VirtualClock {
  const timers = new Set<{ due: number; run: () => void }>();

  function earliest(until: number) {
    return [...timers].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
  }

  return {
    now: () => now,
    setTimeout(run, ms) {
      const timer = { due: now + Math.max(0, ms), run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const target = now + ms;
      // Bytes that were just sent must arrive before the time advances, even on a busy machine.
      await new Promise((resolve) => setTimeout(resolve, 25));
      await settle();
      for (let next = earliest(target); next !== undefined; next = earliest(target)) {
        timers.delete(next);
        now = next.due;
        next.run();
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
