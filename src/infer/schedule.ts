/**
 * Chooses one time inside the interval of each mark, such that all are consistent: no effect is before its cause, and the
 * difference of two of them is a length that the evidence allows, if the intervals leave room for that. Pure.
 *
 * An observed mark is placed at its arrival, an inferred one in the middle of its interval, and a signal as early as it may
 * have come. All move only as far as their causes and effects require.
 */
import type { MarkName } from '../model/report.ts';
import { second, type Span } from '../model/span.ts';
import type { PodExit } from './context.ts';
import { between, isPast, spanOf, type Estimate } from './estimate.ts';
import { Network } from './network.ts';
import type { Interval, Length, Mark } from './timeline.ts';

/** A mark without a place yet. */
export interface TimelineMark extends Omit<Mark, 'at'> {
  readonly at: Estimate;
}

type Arrivals = ReadonlyMap<number, number>;

/** ms since the epoch on the client's clock, by the moment of each mark. */
type Schedule = ReadonlyMap<Estimate, number>;

/** `arrivals`: when each observation (`seq`) arrived. `window`: the bounds of a mark that has none. */
export function scheduleOf(
  marks: readonly TimelineMark[],
  exit: PodExit | undefined,
  arrivals: Arrivals,
  window: Span,
): Schedule {
  const network = new Network([origin], [origin]);
  const within = ({ id }: TimelineMark, { lo, hi }: Span): boolean =>
    network.add({ from: origin, to: id, min: lo - window.hi, max: hi - window.hi, because: 'its interval' });
  for (const mark of marks) within(mark, spanOf(mark.at, window));
  // Each limit by itself: the evidence may contradict one of them.
  for (const { from, to, ...limits } of linksBetween(marks, exit))
    for (const [bound, ms] of Object.entries(limits))
      network.add({ from: from.id, to: to.id, [bound]: ms, because: 'an effect follows its cause' });
  const schedule = new Map<Estimate, number>();
  for (const mark of marks.toSorted((a, b) => places.indexOf(a.name) - places.indexOf(b.name))) {
    const { lo, hi } = network.boundsOf(mark.id, origin);
    const isKilled = marks.some(({ name, subject }) => name === 'kill' && subject === mark.subject);
    const at = clamp(likely(mark, arrivals, window, isKilled), { lo: window.hi + lo, hi: window.hi + hi });
    within(mark, { lo: at, hi: at });
    schedule.set(mark.at, at);
  }
  return schedule;
}

/** The moment that times are counted from in the network of a schedule. */
const origin = 'end of the window';

function likelyIn(at: Estimate, window: Span): number {
  const { lo, hi } = spanOf(at, window);
  return at.basis === 'observed' || !Number.isFinite(at.client.lo) ? hi : (lo + hi) / 2;
}

function likely({ name, at }: TimelineMark, arrivals: Arrivals, window: Span, isKilled: boolean): number {
  const { lo, hi } = spanOf(at, window);
  if (name === 'requested') return lo;
  // A runtime needs milliseconds for a signal, and SIGKILL for its process: their upper bounds are assumed, and far longer.
  const isPrompt = /^(stop-signal|kill)$/.test(name) || (name === 'exited' && isKilled);
  if (at.basis === 'inferred') return isPrompt && Number.isFinite(at.client.lo) ? lo : likelyIn(at, window);
  const arrived = at.evidence.map((seq) => (arrivals.get(seq) ?? -Infinity) + 1).filter((one) => one >= hi);
  // What arrived more than a second after it happened is placed by its timestamps.
  const isPlacedByStamps = arrived.length > 0 && Math.min(...arrived) - hi > second;
  return isPlacedByStamps && Number.isFinite(lo) ? (lo + hi) / 2 : hi;
}

function linksBetween(marks: readonly TimelineMark[], exit: PodExit | undefined) {
  const accepted = marks.find(({ name }) => name === 'accepted');
  const done = marks.find(({ name }) => name === 'containers-done');
  const confirmedExits = marks.filter(({ name, provisional }) => name === 'exited' && !provisional);
  return marks.flatMap((to) => [
    ...marks
      .filter(({ name, subject }) => subject === to.subject && isCause(name, to.name))
      .map((from) => {
        const { lo: min, hi: max } = between(from.at, to.at);
        return { from, to, min, max };
      }),
    // The others a deletion does not cause, or they may have come before it.
    ...(accepted && !/^(?:requested|accepted|replacement-.*|node-.*)$/.test(to.name) ? [ordered(accepted, to)] : []),
    ...(done && to.name === 'endpoint-removed' ? [ordered(done, to)] : []),
    ...(to.name === 'containers-done' ? confirmedExits.map((from) => ordered(from, to)) : []),
    ...exitsBefore(exit, to, marks).map((from) => ordered(from, to)),
  ]);
}

const isCause = (a: MarkName, b: MarkName): boolean =>
  chainOf[a] !== undefined && chainOf[a] === chainOf[b] && places.indexOf(a) < places.indexOf(b);

const ordered = (from: TimelineMark, to: TimelineMark) => ({ from, to, min: 0, max: Infinity });

/** The exits that a sidecar's signal waits for (SIGNALS.md §2 S7). */
function exitsBefore(exit: PodExit | undefined, mark: TimelineMark, marks: readonly TimelineMark[]): TimelineMark[] {
  const containers = exit?.containers ?? [];
  const index = containers.findIndex(({ spec }) => spec.name === mark.subject && spec.kind === 'sidecar');
  if (mark.name !== 'stop-signal' || index === -1) return [];
  const awaited = containers.slice(0, index).map(({ spec }) => spec.name);
  return marks.filter(({ name, subject = '' }) => name === 'exited' && awaited.includes(subject));
}

const clamp = (value: number, { lo, hi }: Span): number => Math.min(Math.max(value, lo), hi);

/** The intervals of moments. `shownAs`: the moment of the mark whose place is shown, if that is another one. */
export interface Intervals {
  of(at: Estimate, shownAs?: Estimate): Interval;
  /** Undefined if the moment is not known, or may not be reported yet. */
  past(at: Estimate | undefined, shownAs?: Estimate): Interval | undefined;
}

export function intervalsIn(schedule: Schedule, window: Span, now: number): Intervals {
  const of = (at: Estimate, shownAs = at): Interval => {
    const span = spanOf(at, window);
    const shown = clamp(schedule.get(shownAs) ?? likelyIn(at, window), span);
    const open = Number.isFinite(at.client.lo) ? undefined : true;
    const { basis, evidence } = at;
    return { earliest: span.lo, latest: span.hi, basis, evidence, shown, open, estimate: at };
  };
  return { of, past: (at, shownAs) => (at && isPast(at, now) ? of(at, shownAs) : undefined) };
}

/** The length between two intervals, by the clock that knows it better. */
export const lengthBetween = (from: Interval, to: Interval): Length =>
  shownLength(between(from.estimate, to.estimate), from, to);

/** The length between two intervals, within the bounds of `span`. */
export function shownLength(span: Span, from: Interval, to: Interval): Length {
  const basis = from.basis === 'observed' && to.basis === 'observed' ? 'observed' : 'inferred';
  return { min: span.lo, max: span.hi, shown: clamp(to.shown - from.shown, span), basis };
}

/** Causes before effects, which orders marks of the same time. Of one chain and subject, each causes those after it. */
const chainOf: Partial<Record<MarkName, 'request' | 'container' | 'endpoint' | 'removal' | 'replacement' | undefined>> =
  {
    requested: 'request',
    accepted: 'request',
    stopping: 'container',
    acknowledged: undefined,
    unrouted: 'endpoint',
    'prestop-ended': 'container',
    'stop-signal': 'container',
    kill: 'container',
    exited: 'container',
    'containers-done': 'removal',
    'endpoint-removed': 'endpoint',
    'final-delete': 'removal',
    finalizing: 'removal',
    removed: 'removal',
    'replacement-created': 'replacement',
    'replacement-scheduled': 'replacement',
    'replacement-started': 'replacement',
    'replacement-ready': 'replacement',
  };

const places: readonly string[] = Object.keys(chainOf);

export const inOrder = <M extends TimelineMark>(marks: readonly M[], schedule: Schedule): M[] =>
  [...marks].sort(
    (a, b) => (schedule.get(a.at) ?? 0) - (schedule.get(b.at) ?? 0) || places.indexOf(a.name) - places.indexOf(b.name),
  );
