/** Where things lie on the timeline: seconds after its zero, the request (or the first thing known). */
import type { ExitReport, Instant, Range, Time } from '../model/report.ts';
import { isTime } from '../model/stamps.ts';
import { digitsFor } from './duration.ts';

/** Milliseconds since the epoch; undefined for what is no time, since a report may have come from a file. */
export function millis(time: Time): number | undefined {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Where nothing bounds an instant from below, its `earliest` is the epoch's: no time that anybody means. */
const isBounded = ({ earliest }: Instant): boolean => isTime(millis(earliest) ?? NaN);

/** The zero of the timeline in ms, as in the lines: the request, else the acceptance as it was seen, else the first thing known. */
export function zeroOf(report: ExitReport): number {
  const requested = report.marks.find(({ name }) => name === 'requested');
  const accepted = report.marks.find(({ name }) => name === 'accepted');
  const first = millis(requested?.at.earliest ?? accepted?.at.latest ?? '');
  if (first !== undefined) return first;
  const known = report.marks.flatMap(({ at }) => (isBounded(at) ? (millis(at.earliest) ?? []) : []));
  const deadline = millis(report.grace.deadline) ?? 0;
  return known.length > 0 ? known.reduce((a, b) => Math.min(a, b)) : deadline - report.grace.effectiveSeconds * 1000;
}

/** An instant as seconds after the zero, `min` -Infinity where nothing bounds it; undefined where it is no time. */
export function offsetRange(zero: number, instant: Instant): Range | undefined {
  const [from, to] = [millis(instant.earliest), millis(instant.latest)];
  if (from === undefined || to === undefined) return undefined;
  return { min: isBounded(instant) ? (from - zero) / 1000 : -Infinity, max: (to - zero) / 1000 };
}

/**
 * `+3.102s` where observed, `~+3.1s` where inferred, with the digits that it deserves; `~+2 … +64s` where its ends have
 * little in common. `shown`: seconds, the one moment that stands for it; shown.ts knows what it may not stand before.
 */
export function formatOffset(zero: number, instant: Instant, shown?: number): string {
  const range = offsetRange(zero, instant);
  if (range === undefined) return '?';
  const { min, max } = range;
  if (min === -Infinity) return `≤${signed(Math.ceil(max * 10) / 10, 1)}s`;
  if (instant.basis === 'observed') return `${signed(shown ?? max, 3)}s`;
  const digits = digitsFor(max - min);
  if (max - min >= 2 && max - min > max / 4) return `~${onItsSide(min, digits)} … ${onItsSide(max, digits)}s`;
  return `~${signed(shown ?? (min + max) / 2, digits)}s`;
}

/** With more digits where it would else be rounded to a zero that the interval does not reach. */
function onItsSide(seconds: number, digits: number): string {
  const isLost = seconds !== 0 && Number(seconds.toFixed(digits)) === 0 && digits < 3;
  return isLost ? onItsSide(seconds, digits + 1) : signed(seconds, digits);
}

function signed(seconds: number, digits: number): string {
  const text = Math.abs(seconds).toFixed(digits);
  return `${seconds < 0 && Number(text) !== 0 ? '−' : '+'}${text}`;
}

/** `2.900 … 3.200s`: both ends of what is known. */
export function formatBounds(zero: number, instant: Instant): string {
  const range = offsetRange(zero, instant);
  if (range === undefined) return '?';
  const { min, max } = range;
  return `${min === -Infinity ? '' : `${plainly(min)} `}… ${plainly(max)}s`;
}

const plainly = (seconds: number): string => seconds.toFixed(3).replace('-', '−');
