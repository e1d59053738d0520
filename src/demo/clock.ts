/** The server's source of time, so that tests can let minutes pass in milliseconds. */
export interface DemoClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once after `ms`; the returned function cancels that. */
  setTimeout(run: () => void, ms: number): () => void;
}

export const demoClock: DemoClock = {
  now: () => Date.now(),
  setTimeout(run, ms) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Nanoseconds since the epoch, as in Event names and log timestamps: too many digits for a number. */
export type Nanoseconds = bigint;

export const nsPerMs = 1_000_000n;
export const nsPerSecond = 1_000_000_000n;

export function fromMs(ms: number): Nanoseconds {
  const whole = Math.floor(ms);
  return BigInt(whole) * nsPerMs + BigInt(Math.round((ms - whole) * 1e6));
}

/** Reads RFC 3339 in UTC with up to nine digits; undefined for anything else. */
export function parseStamp(text: string): { at: Nanoseconds; digits: number } | undefined {
  const [, seconds, fraction = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(text) ?? [];
  if (seconds === undefined) return undefined;
  const ms = Date.parse(`${seconds}Z`);
  if (Number.isNaN(ms)) return undefined;
  return { at: BigInt(ms) * nsPerMs + BigInt(fraction.padEnd(9, '0')), digits: fraction.length };
}

/** RFC 3339 in UTC, cut (not rounded) to `digits` digits of a second, like Kubernetes components do. */
export function formatStamp(at: Nanoseconds, digits: number): string {
  const seconds = new Date(Number(at / nsPerMs)).toISOString().slice(0, 19);
  const fraction = (at % nsPerSecond).toString().padStart(9, '0').slice(0, digits);
  return digits === 0 ? `${seconds}Z` : `${seconds}.${fraction}Z`;
}
