/**
 * The offset of a remote clock: remote − client, in ms, an interval that causality narrows with each observation
 * (docs/architecture.md "Time"). Nothing arrives before it happened, so each remote stamp that arrives gives a lower
 * bound. Nothing that the cluster did because of our request is earlier than our sending it, which gives upper bounds.
 *
 * The network (infer/pod-network.ts) needs these offsets before any constraint: they show which Events belong to this
 * deletion, and whether a clock was set. Everything else asks the network.
 *
 * A bound holds exactly at the client time it was made, and weakens by the assumed drift in both directions. Bounds
 * that others imply at all times are dropped, so that few remain.
 *
 * Bounds that contradict each other mean that the clock was set in between (NTP steps it). Such a clock is split into
 * pieces without contradictions. A time within one piece uses the bounds of that piece; a time that may lie in several
 * uses the hull of their offsets. What a piece does not bound stays unbounded.
 */
import { driftOver } from './assumptions.ts';
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
  /** This observation shows that the clock may have been set back: no lower bound holds for later readings. */
  readonly doubt?: { readonly at: number; readonly seq: number };
}

export const unknownClock: RemoteClock = { lower: [], upper: [] };

/** The offset was at least `bound.value` at `bound.at`. */
export const noLessThan = (clock: RemoteClock, bound: Bound): RemoteClock => ({
  ...clock,
  lower: insert(clock.lower, bound, (a, b) => a.value - driftOver(a.at - b.at) >= b.value),
});

/** The offset was at most `bound.value` at `bound.at`. */
export const noMoreThan = (clock: RemoteClock, bound: Bound): RemoteClock => ({
  ...clock,
  upper: insert(clock.upper, bound, (a, b) => a.value + driftOver(a.at - b.at) <= b.value),
});

/** The clock with lower bounds from arrivals until `at`: later ones may belong to a clock that was set since. */
export const upTo = (clock: RemoteClock, at: number): RemoteClock => ({
  ...clock,
  lower: clock.lower.filter((bound) => bound.at <= at),
});

/** A stretch of client time in which no bound contradicts another. */
interface Piece extends RemoteClock {
  readonly from: number;
  readonly to: number;
}

/** The offset at client time `at`. */
export const offsetAt = (clock: RemoteClock, at: number): Span => offsetOver(clock, { lo: at, hi: at });

/** When the clock was set: the client times between which each step lies, earliest step first. */
export const stepsOf = (clock: RemoteClock): Span[] => {
  const pieces = piecesOf(clock);
  return pieces.slice(1).map(({ from }, index) => ({ lo: pieces[index]?.to ?? from, hi: from }));
};

/** Whether the clock was, or may have been, set. */
export const isStepped = (clock: RemoteClock): boolean => clock.doubt !== undefined || piecesOf(clock).length > 1;

/** An offset that is valid at any time in a stretch of client time; at its end, unless the clock was set. */
function offsetOver(clock: RemoteClock, during: Span): Span {
  const pieces = piecesOf(clock);
  const spans = pieces.flatMap((piece, index) => {
    const since = pieces[index - 1]?.to ?? -Infinity;
    const until = pieces[index + 1]?.from ?? Infinity;
    return since <= during.hi && during.lo <= until
      ? [offsetInPiece(piece, Math.min(Math.max(during.hi, piece.from), piece.to))]
      : [];
  });
  const lo = clock.doubt ? -Infinity : Math.min(...spans.map((span) => span.lo));
  return { lo, hi: Math.max(...spans.map(({ hi }) => hi)) };
}

/** The offset within one piece. */
function offsetInPiece(piece: RemoteClock, at: number): Span {
  let [lo, hi] = [-Infinity, Infinity];
  for (const bound of piece.lower) lo = Math.max(lo, bound.value - driftOver(at - bound.at));
  for (const bound of piece.upper) hi = Math.min(hi, bound.value + driftOver(at - bound.at));
  return { lo, hi };
}

const pieceCache = new WeakMap<RemoteClock, readonly Piece[]>();

/** At least one piece; only one if the clock was not set. */
function piecesOf(clock: RemoteClock): readonly Piece[] {
  const whole = { ...clock, from: -Infinity, to: Infinity };
  const pieces = pieceCache.get(clock) ?? (isContradictory(clock) ? split(clock) : [whole]);
  pieceCache.set(clock, pieces);
  return pieces;
}

const isContradictory = ({ lower, upper }: RemoteClock): boolean =>
  lower.some((one) => upper.some((other) => one.value - other.value > driftOver(one.at - other.at)));

/** In order of time: the first bound that contradicts the current piece begins a new one. */
function split({ lower, upper }: RemoteClock): readonly Piece[] {
  const pieces: Piece[] = [];
  const inOrder = [...lower, ...upper].sort((a, b) => a.at - b.at || a.seq - b.seq);
  for (const bound of inOrder) {
    const { at } = bound;
    const fresh = lower.includes(bound) ? { lower: [bound], upper: [] } : { lower: [], upper: [bound] };
    const last = pieces.at(-1) ?? { ...unknownClock, from: at, to: at };
    const grown = { lower: [...last.lower, ...fresh.lower], upper: [...last.upper, ...fresh.upper] };
    if (isContradictory(grown)) pieces.push({ ...fresh, from: at, to: at });
    else pieces.splice(-1, 1, { ...grown, from: last.from, to: at });
  }
  return pieces;
}

/**
 * Converts remote times to client times. Each end uses the offset at its own time, because bounds weaken with distance;
 * `near` is a client time to start from. If the clock was set: the offsets from `since` to `near`.
 */
export function toClient(clock: RemoteClock, remote: Span, near: number, since = -Infinity): Span {
  if (!Number.isFinite(near)) return anyTime;
  if (isStepped(clock)) {
    const offset = offsetOver(clock, { lo: Math.min(since, near), hi: near });
    return { lo: remote.lo - offset.hi, hi: remote.hi - offset.lo };
  }
  const rough = offsetInPiece(clock, near);
  const [lo, hi] = [remote.lo - rough.hi, remote.hi - rough.lo];
  return {
    lo: Number.isFinite(lo) ? remote.lo - offsetInPiece(clock, lo).hi : lo,
    hi: Number.isFinite(hi) ? remote.hi - offsetInPiece(clock, hi).lo : hi,
  };
}

function insert(bounds: readonly Bound[], fresh: Bound, implies: (a: Bound, b: Bound) => boolean): readonly Bound[] {
  if (bounds.some((bound) => implies(bound, fresh))) return bounds;
  return [...bounds.filter((bound) => !implies(fresh, bound)), fresh];
}

/** `Date` headers that may all come from one clock. */
export interface DateGroup {
  readonly clock: RemoteClock;
  readonly count: number;
  /** Client ms of the first and the last header. */
  readonly from: number;
  readonly to: number;
}

/** More groups than this mean that the headers do not show a clock. */
const maxGroups = 8;

/** Adds the bounds by one header to the first group that they agree with, or to a new group. */
export function withDate(groups: readonly DateGroup[], lower: Bound, upper: Bound): readonly DateGroup[] {
  const index = groups.findIndex(({ clock }) => {
    const known = offsetAt(clock, lower.at);
    return lower.value <= known.hi && known.lo <= upper.value;
  });
  const group = groups[index] ?? { clock: unknownClock, count: 0, from: upper.at, to: lower.at };
  const clock = noMoreThan(noLessThan(group.clock, lower), upper);
  const next = { ...group, clock, count: group.count + 1, to: Math.max(group.to, lower.at) };
  if (index >= 0) return groups.with(index, next);
  return groups.length < maxGroups ? [...groups, next] : groups;
}

/** The clock that causality bounds, narrowed by the headers that do not contradict it. */
export function withDates(causal: RemoteClock, groups: readonly DateGroup[]): RemoteClock {
  const possible = groups.filter((group) => isPossible(group, causal));
  // A single header against several is an error or a proxy's; several against several mean that the clock was set.
  const believed = possible.some(({ count }) => count > 1) ? possible.filter(({ count }) => count > 1) : possible;
  if (believed.length === 0) return causal;
  const clocks = believed.map(({ clock, to }) => ({ clock, offset: offsetAt(clock, to) }));
  const lowest = clocks.reduce((least, one) => (one.offset.lo < least.offset.lo ? one : least));
  const highest = clocks.reduce((most, one) => (one.offset.hi > most.offset.hi ? one : most));
  const atLeast = lowest.clock.lower.reduce(noLessThan, causal);
  return highest.clock.upper.reduce(noMoreThan, atLeast);
}

/**
 * Whether causality allows the headers, judged by the bounds from the time of the headers: before and after it the
 * clock may have been set. A single header has no such time, and is judged by all bounds.
 */
function isPossible({ clock, count, from, to }: DateGroup, causal: RemoteClock): boolean {
  const counts = ({ at }: Bound): boolean => count === 1 || (at >= from && at <= to);
  return (
    causal.lower.filter(counts).every(({ at, value }) => offsetAt(clock, at).hi >= value) &&
    causal.upper.filter(counts).every(({ at, value }) => offsetAt(clock, at).lo <= value)
  );
}
