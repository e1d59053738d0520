/**
 * How far a remote clock is off: offset = remote − client, in ms, an interval narrowed by causality with each
 * observation (DESIGN.md §3). Nothing arrives before it happened, so every remote stamp that arrives is a lower bound;
 * nothing the cluster did because of our request is earlier than our sending it, which gives upper bounds.
 *
 * Laws: a bound holds exactly at the client time it was made, and fades by the assumed drift to both sides; bounds
 * that others imply everywhere are dropped, so a clock stays small however long the trace.
 */
import { driftOver } from './assumptions.ts';
import type { Span } from './span.ts';
import { anyTime } from './span.ts';

export interface Bound {
  /** Client time (ms) at which the bound was made. */
  readonly at: number;
  /** ms of offset. */
  readonly value: number;
  readonly seq: number;
}

export interface Clock {
  readonly lower: readonly Bound[];
  readonly upper: readonly Bound[];
}

export const unknownClock: Clock = { lower: [], upper: [] };

/** The offset was at least `bound.value` at `bound.at`. */
export const noLessThan = (clock: Clock, bound: Bound): Clock => ({
  ...clock,
  lower: insert(clock.lower, bound, (a, b) => a.value - driftOver(a.at - b.at) >= b.value),
});

/** The offset was at most `bound.value` at `bound.at`. */
export const noMoreThan = (clock: Clock, bound: Bound): Clock => ({
  ...clock,
  upper: insert(clock.upper, bound, (a, b) => a.value + driftOver(a.at - b.at) <= b.value),
});

/**
 * The offset at client time `at`. Bounds that contradict each other mean that a clock was set in between: then the
 * hull of both, since either may hold.
 */
export function offsetAt(clock: Clock, at: number): Span {
  const lo = Math.max(-Infinity, ...clock.lower.map((bound) => bound.value - driftOver(at - bound.at)));
  const hi = Math.min(Infinity, ...clock.upper.map((bound) => bound.value + driftOver(at - bound.at)));
  return lo <= hi ? { lo, hi } : { lo: hi, hi: lo };
}

/**
 * Remote times as client times, each end by the offset of its own time: a bound fades the farther it is. `near` is a
 * client time from which that is found.
 */
export function toClient(clock: Clock, remote: Span, near: number): Span {
  if (!Number.isFinite(near)) return anyTime;
  const rough = offsetAt(clock, near);
  return {
    lo: refined(remote.lo - rough.hi, (at) => remote.lo - offsetAt(clock, at).hi),
    hi: refined(remote.hi - rough.lo, (at) => remote.hi - offsetAt(clock, at).lo),
  };
}

/** Client times as remote times. */
export const toRemote = (clock: Clock, client: Span): Span => ({
  lo: refined(client.lo, (at) => at + offsetAt(clock, at).lo),
  hi: refined(client.hi, (at) => at + offsetAt(clock, at).hi),
});

const refined = (rough: number, exact: (at: number) => number): number =>
  Number.isFinite(rough) ? exact(rough) : rough;

function insert(bounds: readonly Bound[], fresh: Bound, implies: (a: Bound, b: Bound) => boolean): readonly Bound[] {
  if (bounds.some((bound) => implies(bound, fresh))) return bounds;
  return [...bounds.filter((bound) => !implies(fresh, bound)), fresh];
}
