/**
 * Names and counts in sentences; lengths and shares of the grace period as text: only here, so that one length is one number
 * everywhere. Pure.
 */
import { sumByKey } from '../model/probe-numbers.ts';
import type { Bounds, ContainerTimeline, Length } from '../infer/timeline.ts';

/** `a`, `a and b`, `a, b and c`. */
export const list = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;

/** At most `most` words, then how many are left out: `a`, `b`, `37 more`. */
export const few = (words: readonly string[], most = 4): readonly string[] =>
  words.length > most ? [...words.slice(0, most), `${words.length - most} more`] : words;

/** `app still ran`, `app and proxy probably still ran`, of the containers of a pod that was removed. */
export function stillRan(containers: readonly { readonly name: string; readonly probable?: boolean }[]): string {
  const names = list(few(containers.map(({ name }) => name))) || 'its containers';
  return `${names}${containers.some(({ probable }) => probable) ? ' probably' : ''} still ran`;
}

/** `Service a`, `Services a and b`. */
export const servicesNamed = (names: readonly string[]): string =>
  `Service${names.length === 1 ? '' : 's'} ${list(names)}`;

export const plural = (count: number, singular: string, many = `${singular}s`): string =>
  `${count} ${count === 1 ? singular : many}`;

/** Distinct values with the sums of their counts, most frequent first. */
export const byFrequency = <T>(counted: readonly (readonly [value: T, count: number])[]): [value: T, count: number][] =>
  [...sumByKey(counted)].sort(([, a], [, b]) => b - a);

/** A length known less exactly is printed in whole seconds. */
const coarseWidthMs = 1500;

/**
 * `0.02s`, `3.1s`, `≈3.1s`, `≈12s`, `2m05s`; `1.0–6.3s` if no single value would be close, `≤0.5s` if it may have been
 * nearly nothing, `≥2s` without an upper bound, `?` without any bound.
 */
export function lengthText({ min, max, shown, basis }: Length): string {
  if (basis === 'observed') return secondsText(shown, shown < 95 ? 2 : 1);
  if (!Number.isFinite(max)) return Number.isFinite(min) && min > 0 ? `≥${outwards(min, Math.floor)}` : '?';
  const width = max - min;
  if (mayBeNearZero(min, max)) return `≤${outwards(max, Math.ceil)}`;
  if (width <= 100) return secondsText(shown, shown < 95 ? 2 : 1);
  if (isRange({ min, max, shown })) return rangeText(min, max);
  return `≈${secondsText(shown, width < coarseWidthMs ? 1 : 0)}`;
}

/** A bound is rounded outwards: `≥7.1s` of 7.18 s, `≤0.8s` of 0.72 s. */
export const outwards = (ms: number, round: (steps: number) => number): string =>
  secondsText(printedMs(ms, round), ms < 95 ? 2 : 1);

/** What is printed of a length: hundredths of a second below 0.095 s, otherwise tenths; ms. */
const printedMs = (ms: number, round: (steps: number) => number): number =>
  ms < 95 ? round(ms / 10) * 10 : round(ms / 100) * 100;

/** No value between its bounds is printed. */
export const isVague = (length: Length): boolean => mayBeNearZero(length.min, length.max) || isRange(length);

/** The length that is shown, or its upper bound if no value between its bounds is printed; ms. */
export const boundOf = (length: Length): number =>
  isVague(length) && Number.isFinite(length.max) ? length.max : length.shown;

/** The bounds are so far apart that a value between them would mean nothing. */
const mayBeNearZero = (min: number, max: number): boolean => max - min > 20 && min < max / 10;

/** `≈3s` promises a value between 2 and 4 s. */
const isRange = ({ min, max, shown }: Length): boolean =>
  max - min >= coarseWidthMs && Math.max(shown - min, max - shown) > shown / 3;

/** Rounded outwards: `1.0–6.3s`, `12–40s`. */
function rangeText(min: number, max: number): string {
  const [digits, step] = min < 10_000 ? [1, 100] : [0, 1000];
  const from = secondsText(Math.floor(min / step) * step, digits);
  const to = secondsText(Math.ceil(max / step) * step, digits);
  return to.includes('m') ? `${from}–${to}` : `${from.slice(0, -1)}–${to}`;
}

/** Whether a share of the grace period says anything: "at most 100%" does not. */
export const isShareKnown = ({ min, max }: Bounds, graceMs: number): boolean =>
  max < 1 || (Number.isFinite(max) && !mayBeNearZero(min * graceMs, max * graceMs));

/** `31%`, `≈31%`, `≥98%`; at most 100: time past the grace period is printed in seconds. `share`: 1 is all of it. */
export function shareText(share: Bounds, graceMs: number): string {
  const [min, max, shown] = [share.min * graceMs, share.max * graceMs, share.shown * graceMs];
  const whole = (ms: number, round: (percent: number) => number): number => Math.min(100, round((ms / graceMs) * 100));
  if (!Number.isFinite(max)) return min > 0 ? `≥${whole(min, Math.floor)}%` : '?';
  if (mayBeNearZero(min, max)) return `≤${whole(printedMs(max, Math.ceil), Math.ceil)}%`;
  if (isRange({ min, max, shown })) return `${whole(min, Math.floor)}–${whole(max, Math.ceil)}%`;
  // The share of the printed value: ≈3s of 10s is 30%.
  const printed = max - min >= coarseWidthMs ? Math.round(shown / 1000) * 1000 : printedMs(shown, Math.round);
  return `${share.max - share.min > 0.1 ? '≈' : ''}${whole(printed, Math.round)}%`;
}

/** `6.0s`, `0.02s`, `2m05s`, `2h05m`; ms. */
export function secondsText(ms: number, digits = 1): string {
  const seconds = ms / 1000;
  if (seconds >= 119.95) {
    const inTwo = (large: string, small: string, count: number): string =>
      `${Math.floor(count / 60)}${large}${String(count % 60).padStart(2, '0')}${small}`;
    return seconds < 7170 ? inTwo('m', 's', Math.round(seconds)) : inTwo('h', 'm', Math.round(seconds / 60));
  }
  return `${seconds.toFixed(digits)}s`;
}

/** ` 3.1s after SIGTERM`, ` within 0.2s of SIGTERM`; `length`: from lengthText. */
export const afterText = (length: string, event: string): string =>
  length.startsWith('≤') ? ` within ${length.slice(1)} of ${event}` : ` ${length} after ${event}`;

/**
 * How much of its grace period a container used; undefined if nothing was observed, or if the kubelet began it anew: it is
 * then less than hook and drain together. Without a preStop hook and a late signal this is the drain, so that "3.1s after
 * SIGTERM" and the bar are the same number.
 */
export function graceUsedLength({ graceUsed, drain, preStop, kind, killings }: ContainerTimeline): Length | undefined {
  const hook = preStop?.outlasted && killings.length < 2 ? undefined : preStop?.length;
  if (!graceUsed?.max || graceUsed.max < (hook?.min ?? 0) + (drain?.min ?? 0)) return undefined;
  if (!drain || preStop || kind !== 'container') return graceUsed;
  // If the signal follows the kubelet's start this closely, two different lengths would only confuse.
  return Math.abs(graceUsed.shown - drain.shown) < 500 ? drain : graceUsed;
}
