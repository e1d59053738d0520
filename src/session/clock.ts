/** Time as the session sees it: given by the caller, so that a test can let a minute pass in a millisecond. */
export interface Clock {
  /** ms since the epoch, whole, rounded down, never going back. */
  now(): number;
  /** Calls back once after `ms`; returns how to cancel it. */
  setTimeout(callback: () => void, ms: number): () => void;
}

/** The system's: the wall clock when the process began, then the monotonic clock, so that NTP steps bend nothing. */
export const systemClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
  setTimeout: (callback, ms) => {
    // A longer delay would fire at once: Node counts them in 32 bits.
    const timer = setTimeout(callback, Math.min(ms, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};
