import { uptime } from 'node:os';

/** Time as the session sees it: given by the caller, so that a test can let a minute pass in a millisecond. */
export interface Clock {
  /** ms since the epoch, whole, rounded down, never going back. */
  now(): number;
  /** Calls back once after `ms`; returns how to cancel it. */
  setTimeout(callback: () => void, ms: number): () => void;
}

/** What a process can read of the time; ms. */
export interface ClockSources {
  /** The wall clock when the monotonic one began. */
  origin: number;
  /** Monotonic; on Linux it stands still while the machine sleeps. */
  monotonic(): number;
  /** Since the epoch; follows the system clock, which may be set at any time. */
  wall(): number;
  /** Since the machine was started, its sleep included; coarse. */
  uptime(): number;
}

/** The wall and the monotonic clock disagree by this much: somebody has set the one, or the other stood still. */
const apartMs = 1000;
/** Far above what an uptime of whole seconds can err by. */
const sleptMs = 2500;

/**
 * The wall clock when it was made, then the monotonic clock, so that NTP steps bend nothing; what the machine slept is
 * added, since the cluster did not sleep.
 */
export function createNow({ origin, monotonic, wall, uptime }: ClockSources): () => number {
  let base = origin;
  const read = () => ({ monotonic: monotonic(), wall: wall(), uptime: uptime() });
  let known = read();
  return () => {
    const ran = monotonic() - known.monotonic;
    const apart = wall() - known.wall - ran;
    if (Math.abs(apart) >= apartMs) {
      const slept = uptime() - known.uptime - ran;
      // The wall clock knows it to the millisecond, unless it was set as well.
      if (slept >= sleptMs) base += Math.abs(apart - slept) < sleptMs ? apart : slept;
      known = read();
    }
    return Math.floor(base + monotonic());
  };
}

/** A reading of the wall clock (whole ms, rounded down) between two of the monotonic one; ms. */
export interface Reading {
  before: number;
  wall: number;
  after: number;
}

/**
 * The wall clock when the monotonic one began, as near to what the process says of it (`reported`) as readings allow: a process
 * that had to wait between its own two readings, at its start, is off by as much. ms.
 */
export function originWithin(reported: number, readings: readonly Reading[]): number {
  const least = Math.max(...readings.map(({ wall, after }) => wall - after));
  const most = Math.min(...readings.map(({ wall, before }) => wall + 1 - before));
  return Math.min(Math.max(reported, least), Math.max(least, most));
}

/** Enough that one of them is not interrupted. */
const mostReadings = 5;

const readingOf = (): Reading => ({ before: performance.now(), wall: Date.now(), after: performance.now() });

/** The system's. */
export const systemClock: Clock = {
  now: createNow({
    origin: originWithin(performance.timeOrigin, Array.from({ length: mostReadings }, readingOf)),
    monotonic: () => performance.now(),
    wall: Date.now,
    uptime: () => uptime() * 1000,
  }),
  setTimeout: (callback, ms) => {
    // A longer delay would fire at once: Node counts them in 32 bits.
    const timer = setTimeout(callback, Math.min(ms, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

/** Calls back when what has arrived by now on any socket is read. */
export const afterInput = (callback: () => void): void => void setImmediate(callback);
