/**
 * Kubernetes' ways to write a time, as milliseconds since the epoch (fractions allowed). None says whose clock it is:
 * that is the reader's to know (SIGNALS.md §5 "Clocks"). What is no time, or a time that cannot be meant (year 1 is how
 * Go prints "never"), is undefined.
 */
import { second, type Span } from './span.ts';

const earliest = Date.UTC(2000, 0, 1);
const latest = Date.UTC(2200, 0, 1);

/** Whether `time` (ms since the epoch) is plausible: from 2000 to 2199. */
export const isTime = (time: number): boolean => time >= earliest && time < latest;

/** RFC 3339 with any number of decimals. */
export function parseTime(stamp: string | undefined): number | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,12})?(Z|[+-]\d\d:\d\d)$/.exec(stamp ?? '');
  if (!match) return undefined;
  const whole = Date.parse(`${match[1]}${match[3]}`);
  const time = whole + Number(match[2] ?? 0) * second;
  return isTime(time) ? time : undefined;
}

/** A stamp of whole seconds is a floor: the truth lies in [stamp, stamp + 1 s) (trap 33). */
export function parseFloor(stamp: string | undefined): Span | undefined {
  const time = parseTime(stamp);
  if (time === undefined) return undefined;
  return /\.\d/.test(stamp ?? '') ? { lo: time, hi: time } : { lo: time, hi: time + second };
}

/** The emitter's nanoseconds in an Event's name, of its FIRST occurrence (SIGNALS.md §2.1); a UUID has none. */
export function parseEventName(name: string): number | undefined {
  const hex = /\.([0-9a-f]{14,16})$/.exec(name)?.[1];
  if (hex === undefined) return undefined;
  const time = Number(BigInt(`0x${hex}`) / 1000n) / 1000;
  return isTime(time) ? time : undefined;
}

/** RFC 3339, UTC, ms. `toward` rounds outward: an interval never loses the truth to rounding. */
export function printTime(time: number, toward: 'earlier' | 'later'): string {
  const ms = toward === 'earlier' ? Math.floor(time) : Math.ceil(time);
  return new Date(Math.min(Math.max(ms, 0), latest)).toISOString();
}
