/** Clocks that are wrong, and the stamps they write (SIGNALS.md §5 "Clocks"). */

export interface ClockStory {
  /** How far the clock is ahead of true time at the story's beginning, ms. */
  offsetMs: number;
  /** How much faster than true time the clock runs, parts per million. */
  driftPpm: number;
  /** The clock is set at `atMs` of the story, by `byMs`. */
  step?: { atMs: number; byMs: number };
}

export class Clock {
  readonly #story: ClockStory;
  readonly #beganAt: number;

  /** `beganAt`: true time of the story's beginning, ms since the epoch. */
  constructor(story: ClockStory, beganAt: number) {
    this.#story = story;
    this.#beganAt = beganAt;
  }

  /** What this clock shows at the true time `at` (ns since the beginning): ns since the epoch. */
  read(at: number): bigint {
    const { driftPpm, offsetMs, step } = this.#story;
    const set = step && at > step.atMs * 1e6 ? step.byMs * 1e6 : 0;
    const shown = at + at * driftPpm * 1e-6 + offsetMs * 1e6 + set;
    return BigInt(this.#beganAt) * 1_000_000n + BigInt(Math.round(shown));
  }

  /** Whole seconds: a floor (SIGNALS.md trap 33). */
  seconds(at: number): string {
    return `${toSecond(this.read(at))}Z`;
  }

  milliseconds(at: number): string {
    return new Date(Number(this.read(at) / 1_000_000n)).toISOString();
  }

  nanoseconds(at: number): string {
    const time = this.read(at);
    return `${toSecond(time)}.${String(time % 1_000_000_000n).padStart(9, '0')}Z`;
  }

  /** As an HTTP `Date` header. */
  httpDate(at: number): string {
    return new Date(Number(this.read(at) / 1_000_000n)).toUTCString();
  }
}

const toSecond = (time: bigint): string => new Date(Number(time / 1_000_000n)).toISOString().slice(0, 19);
