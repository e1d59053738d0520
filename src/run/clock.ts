import { uptime } from 'node:os';
import { hrtime } from 'node:process';
import type { Clock } from '../output/ports.ts';

/** The clocks that a process can read; ms. */
interface ClockSources {
  /** Monotonic; on Linux it stops while the machine sleeps. */
  monotonic(): number;
  /** Since the epoch, in whole ms, rounded down; follows the system clock, which can be set at any time. */
  wall(): number;
  /** Since the machine was started, including its sleep; coarse. */
  uptime(): number;
}

/** Far above the error of an uptime in whole seconds. */
const minSleepMs = 2500;

/** The wall clock, continued by the monotonic one: NTP steps have no effect, and time that the machine slept counts. */
export function createNow({ monotonic, wall, uptime }: ClockSources): () => number {
  // A process can wait for its core between the two readings. That makes their difference too small, never too large.
  let base = Math.max(...Array.from({ length: 9 }, () => wall() - monotonic())) + 0.5;
  const read = () => ({ monotonic: monotonic(), wall: wall(), uptime: uptime() });
  let lastReading = read();
  return () => {
    const ran = monotonic() - lastReading.monotonic;
    const apart = wall() - lastReading.wall - ran;
    // The wall clock was set, or the machine slept.
    if (Math.abs(apart) >= 1000) {
      const slept = uptime() - lastReading.uptime - ran;
      // The wall clock is exact to the millisecond, unless it was set as well.
      if (slept >= minSleepMs) base += Math.abs(apart - slept) < minSleepMs ? apart : slept;
      lastReading = read();
    }
    return Math.floor(base + monotonic());
  };
}

/** Not `performance.now`, whose first call loads a module: the origin would be wrong by the milliseconds that this takes. */
const monotonic = (): number => Number(hrtime.bigint()) / 1e6;

export const systemClock: Clock = {
  now: createNow({
    monotonic,
    wall: Date.now,
    uptime: () => uptime() * 1000,
  }),
  setTimeout: (callback, ms) => {
    // Node stores delays in 32 bits: a longer one would fire at once.
    const timer = setTimeout(callback, Math.min(ms, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

/** Calls back when everything that has already arrived on any socket has been read. */
export const afterInput = (callback: () => void): void => void setImmediate(callback);
