/**
 * `Date` headers: the API server's clock, or whatever a proxy takes for it. One that is wrong shall cost nothing, and a
 * clock that was set must not pass for a wrong one; so headers are kept apart by what they agree on, and believed only
 * as far as causality lets them (stamps of objects that arrived, and our own DELETE).
 *
 * Law: what is left out may widen an instant; what is kept never narrows it to where other evidence excludes it.
 */
import type { Bound, Clock } from './clock.ts';
import { noLessThan, noMoreThan, offsetAt, unknownClock } from './clock.ts';

/** Headers that can all be of one clock. */
export interface DateGroup {
  readonly clock: Clock;
  readonly count: number;
  /** Client ms of the first and the last of them. */
  readonly from: number;
  readonly to: number;
}

/** What one header says: two bounds on the offset. */
export interface DateBounds {
  readonly lower: Bound;
  readonly upper: Bound;
}

/** A server that shows more different clocks than this in one run shows none. */
const mostGroups = 8;

/** The groups with one more header, in the first group that it agrees with, or in one of its own. */
export function withDate(groups: readonly DateGroup[], header: DateBounds): readonly DateGroup[] {
  const { lower, upper } = header;
  const index = groups.findIndex(({ clock }) => {
    const known = offsetAt(clock, lower.at);
    return lower.value <= known.hi && known.lo <= upper.value;
  });
  const group = groups[index] ?? { clock: unknownClock, count: 0, from: upper.at, to: lower.at };
  const clock = noMoreThan(noLessThan(group.clock, lower), upper);
  const next = { ...group, clock, count: group.count + 1, to: Math.max(group.to, lower.at) };
  if (index >= 0) return groups.with(index, next);
  return groups.length < mostGroups ? [...groups, next] : groups;
}

/** A clock that causality bounds, narrowed by the headers that can be believed beside it. */
export function withDates(causal: Clock, groups: readonly DateGroup[]): Clock {
  const possible = groups.filter((group) => isPossible(group, causal));
  // One against several is a slip, or a proxy; several against several are a clock that was set.
  const believed = possible.some(({ count }) => count > 1) ? possible.filter(({ count }) => count > 1) : possible;
  if (believed.length === 0) return causal;
  const spans = believed.map(({ clock, to }) => offsetAt(clock, to));
  const lowest = believed[indexOfLeast(spans.map(({ lo }) => lo))] as DateGroup;
  const highest = believed[indexOfLeast(spans.map(({ hi }) => -hi))] as DateGroup;
  const atLeast = lowest.clock.lower.reduce(noLessThan, causal);
  return highest.clock.upper.reduce(noMoreThan, atLeast);
}

/**
 * Nothing that causality says of the time in which the headers came excludes them; before and after that the clock may
 * have been set. A single header has no such time, and is held against everything.
 */
function isPossible({ clock, count, from, to }: DateGroup, causal: Clock): boolean {
  const counts = ({ at }: Bound): boolean => count === 1 || (at >= from && at <= to);
  return (
    causal.lower.filter(counts).every(({ at, value }) => offsetAt(clock, at).hi >= value) &&
    causal.upper.filter(counts).every(({ at, value }) => offsetAt(clock, at).lo <= value)
  );
}

const indexOfLeast = (values: readonly number[]): number => values.indexOf(Math.min(...values));
