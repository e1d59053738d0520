/** From estimates to the timeline's intervals and lengths. Pure. */
import type { Span } from '../model/span.ts';
import type { Estimate } from './estimate.ts';
import { spanOf } from './estimate.ts';
import type { Schedule } from './schedule.ts';
import { likelyIn } from './schedule.ts';
import type { Interval, Length } from './timeline.ts';

export interface TimelineScale {
  /** `mark`: the id of the mark that it is; its place in the schedule is taken where that lies within the interval. */
  interval(at: Estimate, mark?: string): Interval;
}

export function timelineScale(schedule: Schedule, window: Span): TimelineScale {
  return {
    interval(at, mark = '') {
      const { lo, hi } = spanOf(at, window);
      const shown = Math.min(Math.max(schedule.get(mark) ?? likelyIn(at, window), lo), hi);
      const { basis, evidence } = at;
      const open = Number.isFinite(at.client.lo) ? undefined : true;
      return { earliest: lo, latest: hi, basis, evidence, shown, open };
    },
  };
}

/** The length between two intervals; `lapse` is what is known of it by whichever clock knows it better. */
export function shownLength({ lo, hi }: Span, from: Interval, to: Interval): Length {
  const shown = Math.min(Math.max(to.shown - from.shown, lo), hi);
  const basis = from.basis === 'observed' && to.basis === 'observed' ? 'observed' : 'inferred';
  return { min: lo, max: hi, shown, basis };
}
