/** Prints times for people: on the clock, and in seconds after the timeline's zero. All times are ms, client's clock. */
import type { Interval } from '../infer/timeline.ts';
import { anyTime, isSeenAtOnce } from '../model/span.ts';

export type Timestamps = 'relative' | 'local' | 'utc';

/** A moment that podexit saw itself. */
export function exactly(at: number): Interval {
  const known = { basis: 'observed', evidence: [] } as const;
  const estimate = { client: { lo: at, hi: at }, node: anyTime, ...known };
  return { earliest: at, latest: at, shown: at, ...known, estimate };
}

/** Half of the last digit that is printed, ms. */
export const halfDigitMs = 5;

/** Between such bounds no value would mean anything: the later one is printed, rounded up. */
export const isWide = ({ basis, earliest, latest }: Interval): boolean =>
  basis === 'inferred' && latest - earliest > 2000;

export const printedAt = (moment: Interval): number => (isWide(moment) ? moment.latest + halfDigitMs : moment.shown);

/**
 * `+0.02`, `≈+3.14`; `≤+3.30` if its bounds are far apart, or if it may have been observed late. No unit. All with two
 * decimals: rounded unequally, an effect could seem to be before its cause.
 */
export function offsetText(moment: Interval, zero: number): string {
  const { basis, open, earliest, latest } = moment;
  const isObserved = basis === 'observed';
  const isBound = open || isWide(moment) || (isObserved && !isSeenAtOnce(moment));
  // A moment known at least this exactly is printed without `≈`.
  const sign = isBound ? '≤' : isObserved || latest - earliest <= 100 ? '' : '≈';
  return `${sign}${signed(printedAt(moment) - zero, 2)}`;
}

/** `+0.02`, `−0.5`; never a negative zero. */
export function signed(ms: number, decimals: number): string {
  const text = (Math.abs(ms) / 1000).toFixed(decimals);
  return `${ms < 0 && Number(text) !== 0 ? '−' : '+'}${text}`;
}

/** `+2.10 to +3.30`: both ends of the interval, for outputs with evidence. */
export const boundsText = ({ earliest, latest, open }: Interval, zero: number): string =>
  open ? `until ${signed(latest - zero, 2)}` : `${signed(earliest - zero, 2)} to ${signed(latest - zero, 2)}`;

/** `23:04:29.60`; `relative` prints UTC, for places that need a time of day. */
export function clockText(time: number, decimals: number, timestamps: Timestamps): string {
  const unit = 10 ** (3 - decimals);
  const shown = Math.round(time / unit) * unit;
  const iso = new Date(shown + minutesAhead(shown, timestamps) * 60_000).toISOString();
  return iso.slice(11, decimals > 0 ? 20 + decimals : 19);
}

const minutesAhead = (time: number, timestamps: Timestamps): number =>
  timestamps === 'local' ? -new Date(time).getTimezoneOffset() : 0;

/** `2026-11-20 UTC`, `2026-11-20 UTC+01:00`. */
export function dayText(time: number, timestamps: Timestamps): string {
  const ahead = minutesAhead(time, timestamps);
  const day = new Date(time + ahead * 60_000).toISOString().slice(0, 10);
  if (ahead === 0) return `${day} UTC`;
  const [hours, minutes] = [Math.floor(Math.abs(ahead) / 60), Math.abs(ahead) % 60];
  return `${day} UTC${ahead < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
}
