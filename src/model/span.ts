/** An interval of milliseconds on one clock; an infinite end is unbounded. */
export interface Span {
  readonly lo: number;
  readonly hi: number;
}

/** ms */
export const second = 1000;

export const anyTime: Span = { lo: -Infinity, hi: Infinity };
export const atLeast = (lo: number): Span => ({ lo, hi: Infinity });
export const atMost = (hi: number): Span => ({ lo: -Infinity, hi });

/** The intersection. If there is none, one of the two is wrong: then the hull, which contains the truth anyway. */
export function meet(a: Span, b: Span): Span {
  const lo = Math.max(a.lo, b.lo);
  const hi = Math.min(a.hi, b.hi);
  return lo <= hi ? { lo, hi } : { lo: Math.min(a.lo, b.lo), hi: Math.max(a.hi, b.hi) };
}

/** The time from `start` to `end`; never negative, because the end is known not to come before the start. */
export const lapse = (start: Span, end: Span): Span => ({
  lo: Math.max(0, end.lo - start.hi),
  hi: Math.max(0, end.hi - start.lo),
});

/** When the earlier of two moments was. */
export const earlierOf = (a: Span, b: Span): Span => ({ lo: Math.min(a.lo, b.lo), hi: Math.min(a.hi, b.hi) });

/** When the later of two moments was. */
export const laterOf = (a: Span, b: Span): Span => ({ lo: Math.max(a.lo, b.lo), hi: Math.max(a.hi, b.hi) });

/** ms. What was observed happened less than this before, unless something was missed: `delivery-lag` is half of it. */
export const maxObservedWidthMs = 5000;

/** Whether a moment was observed when it happened, or just after it. */
export const isSeenAtOnce = (moment: { basis: 'observed' | 'inferred'; earliest: number; latest: number }): boolean =>
  moment.basis === 'observed' && moment.latest - moment.earliest <= maxObservedWidthMs;
