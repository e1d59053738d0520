/** The timeline's axis: from ms to percent of the picture's width, so that any width is right without a script. */
import type { Timeline } from '../../infer/timeline.ts';

export interface Scale {
  /** ms, client's clock. */
  readonly zero: number;
  /** ms at the left and the right edge. */
  readonly from: number;
  readonly to: number;
}

/** How many times longer than the exit the grace period may be and still be shown whole. */
const mostSlack = 2.5;

export function scaleOf({ marks, phases, containers, zero }: Timeline): Scale {
  const moments = [...marks.map(({ at }) => at), ...phases.flatMap(({ start, end }) => [start, end])];
  const first = Math.min(zero, ...moments.map(({ earliest, shown, open }) => (open ? shown : earliest)));
  const last = Math.max(zero + 100, ...moments.map(({ latest }) => latest));
  const graceEnds = containers.flatMap(({ graceEnd }) => (graceEnd ? [graceEnd.shown] : []));
  const end = Math.max(last, ...graceEnds.filter((one) => one - zero <= (last - zero) * mostSlack));
  const pad = (end - first) * 0.03;
  return { zero, from: first - pad, to: end + pad };
}

/** Where a moment lies, in percent, within the edges. */
export function percent({ from, to }: Scale, at: number): number {
  const share = ((at - from) / (to - from)) * 100;
  return Number(Math.min(100, Math.max(0, share)).toFixed(4));
}

/** An attribute's value. */
export const at = (scale: Scale, moment: number): string => `${percent(scale, moment)}%`;

/** The width of a stretch. */
export const wide = (scale: Scale, from: number, to: number): string =>
  `${Number(Math.max(0, percent(scale, to) - percent(scale, from)).toFixed(4))}%`;

/** Round seconds along the axis, at most eight. */
export function ticksOf({ zero, from, to }: Scale): { readonly moment: number; readonly label: string }[] {
  const step = roundStep((to - from) / 7 / 1000);
  const decimals = Math.min(3, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  const first = Math.ceil((from - zero) / 1000 / step);
  const count = Math.floor((to - zero) / 1000 / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => {
    const seconds = (first + index) * step;
    const text = Math.abs(seconds).toFixed(decimals);
    const sign = Number(text) === 0 ? '' : seconds < 0 ? '−' : '+';
    return { moment: zero + seconds * 1000, label: Number(text) === 0 ? '0' : `${sign}${text}s` };
  });
}

/** The next of 1, 2, 5 × 10ⁿ, and never finer than a millisecond. */
function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= wanted * 0.999) ?? wanted;
  return Math.max(0.001, step);
}
