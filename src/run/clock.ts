import { uptime } from 'node:os';
import { hrtime } from 'node:process';
import type { Clock } from '../output/ports.ts';

/** The clocks that a process can read; ms. */
interface ClockSources {
  /** Wall clock time at the start of the monotonic clock. */
  origin: number;
  /** Monotonic; on Linux it stops while the machine sleeps. */
  monotonic(): number;
  /** Since the epoch; follows the system clock, which can be set at any time. */
  wall(): number;
  /** Since the machine was started, including its sleep; coarse. */
  uptime(): number;
}

/** If the wall clock and the monotonic clock disagree by this much, the wall clock was set or the machine slept. */
const maxClockDifferenceMs = 1000;
/** Far above the error of an uptime in whole seconds. */
const minSleepMs = 2500;

/**
 * Starts with the wall clock and continues with the monotonic clock, so that NTP steps have no effect. Time that the
 * machine slept is added, since the cluster did not sleep.
 */
export function createNow({ origin, monotonic, wall, uptime }: ClockSources): () => number {
  let base = origin;
  const read = () => ({ monotonic: monotonic(), wall: wall(), uptime: uptime() });
  let lastReading = read();
  return () => {
    const ran = monotonic() - lastReading.monotonic;
    const apart = wall() - lastReading.wall - ran;
    if (Math.abs(apart) >= maxClockDifferenceMs) {
      const slept = uptime() - lastReading.uptime - ran;
      // The wall clock is exact to the millisecond, unless it was set as well.
      if (slept >= minSleepMs) base += Math.abs(apart - slept) < minSleepMs ? apart : slept;
      lastReading = read();
    }
    return Math.floor(base + monotonic());
  };
}

/** A reading of the wall clock (whole ms, rounded down) between two readings of the monotonic clock; ms. */
interface Reading {
  before: number;
  wall: number;
  after: number;
}

/**
 * Wall clock time at the start of the monotonic clock: the middle of what the readings allow, which is exact to half a
 * millisecond if one of them was not interrupted. ms.
 */
export function originFrom(readings: readonly Reading[]): number {
  const earliest = Math.max(...readings.map(({ wall, after }) => wall - after));
  const latest = Math.min(...readings.map(({ wall, before }) => wall + 1 - before));
  return (earliest + latest) / 2;
}

/** Enough readings that at least one is not interrupted. */
const readingCount = 5;

/** Not `performance.now`: loading its module takes a millisecond of each start. */
const monotonic = (): number => Number(hrtime.bigint()) / 1e6;

const readingOf = (): Reading => ({ before: monotonic(), wall: Date.now(), after: monotonic() });

export const systemClock: Clock = {
  now: createNow({
    origin: originFrom(Array.from({ length: readingCount }, readingOf)),
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
