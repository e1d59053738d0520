/** Lengths of time in words: no more digits than the interval deserves, and `~` where it was inferred. */
import type { Instant, Range } from '../model/report.ts';
import { outward } from '../verdict/words.ts';

type Basis = Instant['basis'];

/**
 * A length in seconds that is known to lie in `range`: `3.1s`, `~3.1s` where inferred or less exact than it is written,
 * `2–64s` where the ends have little in common. Infinite and absent bounds (JSON has no infinity) are shown as open: `≥2s`.
 */
export function formatSeconds(range: Range, basis: Basis = 'observed'): string {
  const { min, max } = range;
  if (!Number.isFinite(max)) return Number.isFinite(min) ? `≥${outward(min, 1, Math.floor)}s` : '?';
  if (!Number.isFinite(min)) return `≤${outward(max, 1, Math.ceil)}s`;
  const width = max - min;
  const digits = digitsFor(width);
  if (isWide(width, max)) return formatSpread(range);
  // By more than twice its last digit; of milliseconds nobody minds.
  const isCoarse = width > Math.max(0.1, 2.001 * 10 ** -digits);
  return `${isCoarse ? '~' : approximately(basis)}${long((min + max) / 2, digits)}`;
}

/** Both ends: `2–64s`. Finite below. */
export function formatSpread({ min, max }: Range): string {
  if (!Number.isFinite(max)) return `≥${outward(min, 1, Math.floor)}s`;
  const digits = digitsFor(max - min);
  const shown = max < 10 ? Math.max(1, digits) : digits;
  return `${outward(min, shown, Math.floor)}–${outward(max, shown, Math.ceil)}s`;
}

/** The ends have so little in common that their middle would say nothing. Seconds. */
const isWide = (width: number, max: number): boolean =>
  (width >= 1 && width > max / 4) || (width > 0.1 && width > max / 2);

/** The share of the grace as a percentage, in the same manner: `31%`, `~31%`, `0–620%`. */
export function formatShare(range: Range, basis: Basis = 'observed'): string {
  const [min, max] = [range.min * 100, range.max * 100];
  if (!Number.isFinite(min) || !Number.isFinite(max)) return '–';
  const width = max - min;
  if ((width > 25 && width > max / 4) || (width > 2 && width > max / 2))
    return `${outward(min, 0, Math.floor)}–${outward(max, 0, Math.ceil)}%`;
  return `${width > 2 ? '~' : approximately(basis)}${((min + max) / 2).toFixed(0)}%`;
}

/** Decimals that an interval of this width (seconds) can bear: 0.2 s one, 8 ms three, a second and more none. */
export function digitsFor(width: number): number {
  if (!(width > 0)) return 3;
  // To the microsecond, or 7.41 − 7.40 would be less than a hundredth.
  return Math.min(3, Math.max(0, Math.ceil(-Math.log10(Number(width.toFixed(6))))));
}

/** `~` before whatever nobody told us directly. */
const approximately = (basis: Basis): string => (basis === 'inferred' ? '~' : '');

function long(seconds: number, digits: number): string {
  if (seconds < 120) return `${seconds.toFixed(digits)}s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, '0')}s`;
}
