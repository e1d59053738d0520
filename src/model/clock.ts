/**
 * The offset of a remote clock: remote − client, in ms, an interval that causality narrows with each observation
 * (docs/architecture.md "Time"). Nothing arrives before it happened, so each remote stamp that arrives gives a lower
 * bound. Nothing that the cluster did because of our request is earlier than our sending it, which gives upper bounds.
 *
 * The network (infer/pod-network.ts) needs these offsets before any row: they show which Events belong to this
 * deletion, and whether a clock was set. Everything else asks the network.
 *
 * A bound holds exactly at the client time it was made, and weakens by the assumed drift in both directions. Bounds
 * that others imply at all times are dropped, so that few remain.
 *
 * Bounds that contradict each other mean that the clock was set (NTP steps it). Nothing is known of such a clock, and
 * nothing is dated by it.
 */
import { driftOver, millisecondsOf } from './assumptions.ts';
import { anyTime, type Span } from './span.ts';

export interface Bound {
  /** Client time (ms) at which the bound was made. */
  readonly at: number;
  /** ms of offset. */
  readonly value: number;
  readonly seq: number;
}

/** What is known of a clock that this process does not read: bounds on its offset. */
export interface RemoteClock {
  readonly lower: readonly Bound[];
  readonly upper: readonly Bound[];
}

export const unknownClock: RemoteClock = { lower: [], upper: [] };

/** The offset was at least `bound.value` at `bound.at`. */
export const noLessThan = ({ lower, upper }: RemoteClock, bound: Bound): RemoteClock => ({
  lower: insert(lower, bound, (a, b) => a.value - driftOver(a.at - b.at) >= b.value),
  upper,
});

/** The offset was at most `bound.value` at `bound.at`. */
export const noMoreThan = ({ lower, upper }: RemoteClock, bound: Bound): RemoteClock => ({
  lower,
  upper: insert(upper, bound, (a, b) => a.value + driftOver(a.at - b.at) <= b.value),
});

/** The clock with lower bounds from arrivals until `at`: later ones may belong to a clock that was set since. */
export const upTo = ({ lower, upper }: RemoteClock, at: number): RemoteClock => ({
  lower: lower.filter((bound) => bound.at <= at),
  upper,
});

/** The client time in which a clock was set: between bounds that contradict each other by more than `by` ms. */
export function stepOf({ lower, upper }: RemoteClock, by = 0): Span | undefined {
  for (const one of lower)
    for (const { at, value } of upper)
      if (one.value - value > driftOver(one.at - at) + by)
        return { lo: Math.min(one.at, at), hi: Math.max(one.at, at) };
  return undefined;
}

/** The offset at client time `at`. */
export function offsetAt(clock: RemoteClock, at: number): Span {
  if (stepOf(clock)) return anyTime;
  let [lo, hi] = [-Infinity, Infinity];
  for (const bound of clock.lower) lo = Math.max(lo, bound.value - driftOver(at - bound.at));
  for (const bound of clock.upper) hi = Math.min(hi, bound.value + driftOver(at - bound.at));
  return { lo, hi };
}

/** Each end uses the offset at its own time, as bounds weaken with distance. `near`: a client time to start from. */
export function toClient(clock: RemoteClock, remote: Span, near: number): Span {
  if (!Number.isFinite(near) || stepOf(clock)) return anyTime;
  const rough = offsetAt(clock, near);
  const [lo, hi] = [remote.lo - rough.hi, remote.hi - rough.lo];
  return {
    lo: Number.isFinite(lo) ? remote.lo - offsetAt(clock, lo).hi : lo,
    hi: Number.isFinite(hi) ? remote.hi - offsetAt(clock, hi).lo : hi,
  };
}

function insert(bounds: readonly Bound[], fresh: Bound, implies: (a: Bound, b: Bound) => boolean): readonly Bound[] {
  if (bounds.some((bound) => implies(bound, fresh))) return bounds;
  return [...bounds.filter((bound) => !implies(fresh, bound)), fresh];
}

/** The API server's clock by causality and by `Date` headers, which may come from servers that differ a little. */
export function withDates(causal: RemoteClock, dates: RemoteClock): RemoteClock {
  const both = dates.upper.reduce(noMoreThan, dates.lower.reduce(noLessThan, causal));
  return stepOf(both) && !stepOf(both, millisecondsOf('server-skew')) ? causal : both;
}
