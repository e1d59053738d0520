/** Where things lie on the timeline: seconds after its zero, the request (or the first thing known). */
import type { ExitReport, Instant, Mark, Range, Time } from '../trace/report.ts';
import { isTime } from '../trace/stamps.ts';
import { approximately, digitsFor } from './duration.ts';

/** Milliseconds since the epoch; undefined for what is no time, since a report may have come from a file. */
export function millis(time: Time): number | undefined {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Where nothing bounds an instant from below, its `earliest` is the epoch's: no time that anybody means. */
export const isBounded = ({ earliest }: Instant): boolean => isTime(millis(earliest) ?? NaN);

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

/** `+3.1s`, `~+3.1s` where inferred, `~+2 … +64s` where the ends have little in common; digits as the width deserves. */
export function formatOffset(zero: number, instant: Instant): string {
  const range = offsetRange(zero, instant);
  if (range === undefined) return '?';
  const { min, max } = range;
  const digits = digitsFor(max - min);
  const about = approximately(instant.basis);
  if (min === -Infinity) return `≤${signed(max, 1)}s`;
  if (max - min >= 2 && max - min > max / 4) return `${about}${signed(min, digits)} … ${signed(max, digits)}s`;
  return `${about}${signed((min + max) / 2, digits)}s`;
}

function signed(seconds: number, digits: number): string {
  const text = Math.abs(seconds).toFixed(digits);
  return `${seconds < 0 && Number(text) !== 0 ? '−' : '+'}${text}`;
}

/** `2.9s … 3.2s`: both ends of what is known. */
export function formatBounds(zero: number, instant: Instant): string {
  const range = offsetRange(zero, instant);
  if (range === undefined) return '?';
  return `${range.min === -Infinity ? '' : `${range.min.toFixed(3)} `}… ${range.max.toFixed(3)}s`;
}

/** Marks in the order in which they happened, as far as their intervals tell. */
export function inTime(marks: readonly Mark[]): Mark[] {
  const start = ({ at }: Mark) => millis(at.earliest) ?? 0;
  const end = ({ at }: Mark) => millis(at.latest) ?? 0;
  return [...marks].sort((a, b) => start(a) - start(b) || end(a) - end(b));
}
