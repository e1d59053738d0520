/** Numbers in the sentences of a verdict: no more digits than the interval deserves. */
import type { Span } from '../model/span.ts';
import { widthOf } from '../model/span.ts';

/** `3.1 s`, `about 4 s`, `between 1 s and 3 s`, `at most 2 s`, `less than 0.01 s`. Milliseconds in. */
export function seconds(span: Span): string {
  if (!Number.isFinite(span.hi)) return Number.isFinite(span.lo) ? `at least ${least(span.lo)} s` : 'an unknown time';
  const width = widthOf(span);
  const middle = (span.lo + span.hi) / 2;
  if (span.hi < 10) return 'less than 0.01 s';
  if (width <= 100) return `${figure(middle, 2)} s`;
  // One figure is no word for what may as well be nothing, or twice as much.
  if (width <= Math.min(middle, 500)) return `${figure(middle, 1)} s`;
  if (width <= Math.min(middle, 1200)) return `about ${figure(middle, 1)} s`;
  if (span.lo <= 0) return `at most ${most(span.hi)} s`;
  return `between ${least(span.lo)} s and ${most(span.hi)} s`;
}

const figure = (ms: number, digits: number): string => String(Number((ms / 1000).toFixed(digits)));

/**
 * A bound, rounded away from what it bounds, so that the truth stays within; without a fraction that says nothing. To a
 * millionth of its last digit first, since arithmetic rounds too: 3.1 × 10 is a little more than 31.
 */
export const outward = (value: number, digits: number, round: (value: number) => number): string =>
  String(round(Number((value * 10 ** digits).toFixed(6))) / 10 ** digits);

const least = (ms: number): string => outward(ms / 1000, 1, Math.floor);
const most = (ms: number): string => outward(ms / 1000, 1, Math.ceil);

/** `a`, `a and b`, `a, b and c`. */
export const list = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;

/** `Service a`, `Services a and b`. */
export const servicesNamed = (names: readonly string[]): string =>
  `Service${names.length === 1 ? '' : 's'} ${list(names)}`;

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
