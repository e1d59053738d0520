/** When the grace ran out, told apart: as the kubelet counts it, and as the API announced it. */
import type { ExitReport, Instant, Range } from '../model/report.ts';
import { millis, offsetRange, zeroOf } from './offsets.ts';
import { shownIn } from './shown.ts';

/** In seconds after the zero. */
export interface GraceWindow {
  readonly begin: Range;
  readonly end: Range;
  /** From when to when it is shown to run, where one moment has to stand for each end. */
  readonly shown: Range;
}

/**
 * The grace as the kubelet counts it: from when it began to stop the first container (SIGNALS.md trap 1). Where something
 * ran on after it, its end is known better: a kubelet that restarts counts anew. Undefined where it was not seen to begin.
 */
export function graceWindow(report: ExitReport): GraceWindow | undefined {
  const { effectiveSeconds } = report.grace;
  const began = beganAt(report);
  const begin = began && rangeOf(report, began);
  if (began === undefined || begin === undefined || effectiveSeconds <= 0) return undefined;
  const overtime = report.phases.find(({ name }) => name === 'overtime');
  const end = (overtime && rangeOf(report, overtime.start)) ?? later(begin, effectiveSeconds);
  const { at } = shownIn(report);
  const from = at({ ...began, basis: 'inferred' });
  return { begin, end, shown: { min: from, max: overtime ? at(overtime.start) : from + effectiveSeconds } };
}

/** What the API calls the deadline (deletionTimestamp), in seconds after the zero: neither the request nor the kill. */
export function deadlineOf(report: ExitReport): number | undefined {
  const { grace, clocks } = report;
  const stamp = millis(grace.deadline);
  if (stamp === undefined || grace.effectiveSeconds <= 0) return undefined;
  // It is a second of the API server's clock: moved by as little as that clock is surely off.
  const { min, max } = clocks.api?.offsetMs ?? { min: 0, max: 0 };
  return (stamp - Math.max(min, Math.min(0, max)) - zeroOf(report)) / 1000;
}

/** The earliest of what tells that the kubelet had begun. */
function beganAt({ marks }: ExitReport): Instant | undefined {
  const signs = (['stopping', 'acknowledged'] as const).map((wanted) => marks.filter(({ name }) => name === wanted));
  const best = signs.find((found) => found.length > 0) ?? [];
  const time = ({ earliest, latest }: Instant): number => (millis(earliest) ?? 0) + (millis(latest) ?? 0);
  return best.map(({ at }) => at).sort((a, b) => time(a) - time(b))[0];
}

/** What nothing bounds from below stands at its end. */
function rangeOf(report: ExitReport, instant: Instant): Range | undefined {
  const range = offsetRange(zeroOf(report), instant);
  return range && { min: Number.isFinite(range.min) ? range.min : range.max, max: range.max };
}

const later = ({ min, max }: Range, seconds: number): Range => ({ min: min + seconds, max: max + seconds });
