/** The timeline's axis: from seconds after the request to percent of the picture's width, so that any width is right. */
import type { ExitReport, Range } from '../../model/report.ts';
import type { GraceWindow } from '../grace-window.ts';
import { deadlineOf, graceWindow } from '../grace-window.ts';
import { offsetRange, zeroOf } from '../offsets.ts';
import type { Shown } from '../shown.ts';
import { shownIn } from '../shown.ts';

export interface Scale {
  readonly zero: number;
  /** Where the instants of the report are shown. */
  readonly shown: Shown;
  /** Seconds at the left and the right edge. */
  readonly from: number;
  readonly to: number;
  /** When the grace ran, as the kubelet counts it; undefined where it was not seen to begin. */
  readonly grace?: GraceWindow;
  /** Where the grace ends by the API, in seconds; undefined where there is none. Both may lie beyond the right edge. */
  readonly deadline?: number;
}

/** How many times longer than the exit the grace may be and still be shown whole: else all the rest is pressed together. */
const mostSlack = 2.5;

export function scaleOf(report: ExitReport): Scale {
  const zero = zeroOf(report);
  const instants = [...report.marks.map(({ at }) => at), ...report.phases.flatMap(({ start, end }) => [start, end])];
  const ranges = instants.map((instant) => offsetRange(zero, instant)).filter((range) => range !== undefined);
  const first = ranges.reduce((low, { min }) => (min === -Infinity ? low : Math.min(low, min)), 0);
  const last = ranges.reduce((high, { max }) => Math.max(high, max), 0.1);
  const [grace, deadline] = [graceWindow(report), deadlineOf(report)];
  const ends = [grace?.end.max, deadline].flatMap((end) => (end !== undefined && end <= last * mostSlack ? [end] : []));
  const end = Math.max(last, ...ends);
  const pad = (end - first) * 0.03;
  const limits = { ...(grace === undefined ? {} : { grace }), ...(deadline === undefined ? {} : { deadline }) };
  return { zero, shown: shownIn(report), from: first - pad, to: end + pad, ...limits };
}

/** Where a moment lies, in percent, within the edges. */
export function percent({ from, to }: Scale, seconds: number): number {
  const share = ((seconds - from) / (to - from)) * 100;
  return Number(Math.min(100, Math.max(0, share)).toFixed(4));
}

/** An attribute's value; percents keep the picture right at any width without a script. */
export const at = (scale: Scale, seconds: number): string => `${percent(scale, seconds)}%`;

/** The width of a stretch. */
export const wide = (scale: Scale, { min, max }: Range): string =>
  `${Number((percent(scale, max) - percent(scale, min)).toFixed(4))}%`;

export interface Tick {
  readonly seconds: number;
  readonly label: string;
  /** 1 is always shown; finer ones only where the picture is wide enough. */
  readonly level: 1 | 2 | 3;
}

/** Round seconds along the axis, coarse to fine; each moment once, at its coarsest level. */
export function ticksOf(scale: Scale): Tick[] {
  const span = scale.to - scale.from;
  const ticks = new Map<string, Tick>();
  for (const level of [1, 2, 3] as const) {
    const step = roundStep(span / [7, 35, 160][level - 1]!);
    const digits = Math.min(3, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
    for (let n = Math.ceil(scale.from / step); n * step <= scale.to; n++) {
      const seconds = n * step;
      const key = seconds.toFixed(6);
      if (!ticks.has(key)) ticks.set(key, { seconds, label: `${signed(seconds, digits)}s`, level });
    }
  }
  return [...ticks.values()];
}

/** The next of 1, 2, 5 × 10ⁿ, and never finer than the report itself. */
function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= wanted * 0.999) ?? wanted;
  return Math.max(0.001, step);
}

function signed(seconds: number, digits: number): string {
  const text = Math.abs(seconds).toFixed(digits);
  if (Number(text) === 0) return '0';
  return `${seconds < 0 ? '−' : '+'}${text}`;
}
