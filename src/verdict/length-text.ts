/**
 * How a length of time and a share of the grace period are printed: the one place that decides digits and `≈`, so that
 * one length is one number in every sentence, table, gate and document. Pure.
 */
import type { ContainerTimeline, Length } from '../infer/timeline.ts';

/** A length as these functions need it, ms. `shown` is the one value that stands for it; what was observed is exact. */
interface ShownLength {
  readonly basis?: 'observed' | 'inferred';
  readonly min: number;
  readonly max: number;
  readonly shown: number;
}

/** ms; a length that is known this closely is printed without `≈`. */
const exactWidth = 300;

/**
 * `0.02s`, `3.1s`, `≈3.1s`, `≈12s`, `2m05s`; `≤0.5s` for what may have been nothing, `≥2s` where nothing bounds it from
 * above, `?` where nothing is known.
 */
export function lengthText({ min, max, shown, basis }: ShownLength): string {
  if (basis === 'observed') return secondsText(shown, shown < 95 ? 2 : 1);
  if (!Number.isFinite(max)) return Number.isFinite(min) && min > 0 ? `≥${secondsText(min, 1)}` : '?';
  const width = max - min;
  if (mayBeNothing(min, max)) return `≤${secondsText(max, max < 95 ? 2 : 1)}`;
  if (width <= exactWidth) return secondsText(shown, shown < 95 ? 2 : 1);
  return `≈${secondsText(shown, width < 1500 ? 1 : 0)}`;
}

/** Its ends have so little in common that a value between them would say nothing. */
const mayBeNothing = (min: number, max: number): boolean => max - min > 20 && min < max / 10;

/** `31%`, `≈31%`; never more than 100: what came after the grace period is said in seconds. `grace`: ms. */
export function shareText(length: ShownLength, grace: number): string {
  if (grace <= 0 || !Number.isFinite(length.max)) return '?';
  const percent = (ms: number): string => `${Math.min(100, Math.round((ms / grace) * 100))}%`;
  const width = (length.max - length.min) / grace;
  // Of a length that is printed in whole seconds, as it is printed: ≈3s of 10s are 30%.
  const isCoarse = length.max - length.min >= 1500;
  const printed = isCoarse ? Math.round(length.shown / 1000) * 1000 : length.shown;
  return mayBeNothing(length.min, length.max)
    ? `≤${percent(length.max)}`
    : `${width > 0.1 ? '≈' : ''}${percent(printed)}`;
}

/** `6.0s`, `0.02s`, `2m05s`; ms. */
export function secondsText(ms: number, digits = 1): string {
  const seconds = ms / 1000;
  if (seconds >= 119.95) {
    const whole = Math.round(seconds);
    return `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, '0')}s`;
  }
  return `${seconds.toFixed(digits)}s`;
}

/** ` 3.1s after SIGTERM`, ` within 0.2s of SIGTERM`; `length`: as lengthText has it. */
export const afterText = (length: string, event: string): string =>
  length.startsWith('≤') ? ` within ${length.slice(1)} of ${event}` : ` ${length} after ${event}`;

/** ms: so little between the kubelet's start and the stop signal that two lengths would only confuse. */
const sameLength = 500;

/**
 * ms; `grace`: ms. Without a preStop hook it is the drain, so that "3.1s after SIGTERM" and the bar are one number; with one, or
 * where the signal came late, it counts from when the kubelet started. Undefined where nothing was observed.
 */
export function graceUsedLength(
  { graceUsed, drain, preStop, kind }: ContainerTimeline,
  grace: number,
): Length | undefined {
  if (!graceUsed) return undefined;
  const [min, max, shown] = [graceUsed.min * grace, graceUsed.max * grace, graceUsed.shown * grace];
  const isDrain = drain && !preStop && kind === 'container' && Math.abs(shown - drain.shown) < sameLength;
  return isDrain ? drain : { min, max, shown, basis: 'inferred' };
}
