/** Where the server takes its time from, so that tests can let minutes pass in milliseconds. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs once after that many milliseconds; the returned function calls it off. */
  setTimeout(run: () => void, ms: number): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(run, ms) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
