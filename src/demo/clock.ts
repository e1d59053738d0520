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

/** An instant as nanoseconds since the epoch: Event names and log stamps carry that many digits, a number cannot. */
export type Nanoseconds = bigint;

const perMs = 1_000_000n;
export const perSecond = 1_000_000_000n;
const shape = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;

export function fromMs(ms: number): Nanoseconds {
  const whole = Math.floor(ms);
  return BigInt(whole) * perMs + BigInt(Math.round((ms - whole) * 1e6));
}

/** Reads RFC 3339 in UTC with up to nine digits; undefined for anything else. */
export function parseStamp(text: string): { at: Nanoseconds; digits: number } | undefined {
  const [, seconds, fraction = ''] = shape.exec(text) ?? [];
  if (seconds === undefined) return undefined;
  const ms = Date.parse(`${seconds}Z`);
  if (Number.isNaN(ms)) return undefined;
  return { at: BigInt(ms) * perMs + BigInt(fraction.padEnd(9, '0')), digits: fraction.length };
}

/** RFC 3339 in UTC, cut (not rounded) to that many digits of a second, as a Kubernetes component cuts it. */
export function formatStamp(at: Nanoseconds, digits: number): string {
  const seconds = new Date(Number(at / perMs)).toISOString().slice(0, 19);
  const fraction = (at % perSecond).toString().padStart(9, '0').slice(0, digits);
  return digits === 0 ? `${seconds}Z` : `${seconds}.${fraction}Z`;
}
