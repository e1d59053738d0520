/**
 * One moment for each mark, so that all of them form one consistent story: no effect before its cause, and the difference
 * of two of them is a length that the evidence allows, where the intervals leave room for that. Pure.
 *
 * Observed marks stand where they arrived, inferred ones in the middle of their interval; both move only as far as their
 * causes and effects make them.
 */
import type { MarkName } from '../model/report.ts';
import type { Span } from '../model/span.ts';
import type { PodExit } from './context.ts';
import { between, spanOf, type Estimate } from './estimate.ts';
import type { Interval, Length } from './timeline.ts';

/** A mark before it has its place. `id` is stable; `provisional`: it may yet be corrected or withdrawn. */
export interface TimelineMark {
  readonly id: string;
  readonly name: MarkName;
  readonly subject?: string | undefined;
  readonly at: Estimate;
  readonly note?: string | undefined;
  readonly provisional: boolean;
}

/** ms since the epoch on the client's clock, by the id of the mark. */
type Schedule = ReadonlyMap<string, number>;

/** `arrivals`: when an observation came in, by its `seq`. `window`: what is used where nothing bounds a mark. */
export function scheduleOf(
  marks: readonly TimelineMark[],
  exit: PodExit | undefined,
  { arrivals, window }: { arrivals: ReadonlyMap<number, number>; window: Span },
): Schedule {
  const links = linksBetween(marks, exit);
  const into = groupBy(links, ({ to }) => to.id);
  const outOf = groupBy(links, ({ from }) => from.id);
  const latest = new Map<string, number>();
  const latestOf = (mark: TimelineMark): number => {
    const known = latest.get(mark.id);
    if (known !== undefined) return known;
    const { lo, hi } = spanOf(mark.at, window);
    latest.set(mark.id, hi);
    const before = (outOf.get(mark.id) ?? []).map(({ to, least }) => latestOf(to) - least);
    latest.set(mark.id, Math.max(lo, Math.min(hi, ...before)));
    return latest.get(mark.id) ?? hi;
  };
  const schedule = new Map<string, number>();
  const place = (mark: TimelineMark): number => {
    const known = schedule.get(mark.id);
    if (known !== undefined) return known;
    const causes = (into.get(mark.id) ?? []).map(({ from, least, most }) => ({ at: place(from), least, most }));
    const lo = Math.max(spanOf(mark.at, window).lo, ...causes.map(({ at, least }) => at + least));
    const hi = Math.min(latestOf(mark), ...causes.map(({ at, most }) => at + most));
    const at = within(likely(mark, arrivals, window), { lo, hi: Math.max(lo, hi) });
    schedule.set(mark.id, Math.min(at, Math.max(latestOf(mark), spanOf(mark.at, window).lo)));
    return schedule.get(mark.id) ?? at;
  };
  marks.forEach(place);
  return schedule;
}

/** Where a moment stands by itself. */
function likelyIn(at: Estimate, window: Span): number {
  const { lo, hi } = spanOf(at, window);
  return at.basis === 'observed' || !Number.isFinite(at.client.lo) ? hi : (lo + hi) / 2;
}

/** ms. What was learned of later than this after it had happened is placed by its stamps, not by its arrival. */
const late = 1000;

function likely({ name, at }: TimelineMark, arrivals: ReadonlyMap<number, number>, window: Span): number {
  const { lo, hi } = spanOf(at, window);
  if (name === 'requested') return lo;
  if (at.basis === 'inferred') return likelyIn(at, window);
  const arrived = at.evidence.map((seq) => (arrivals.get(seq) ?? -Infinity) + 1).filter((one) => one >= hi);
  return arrived.length > 0 && Math.min(...arrived) - hi > late ? (lo + hi) / 2 : hi;
}

/** `to` came at least `least` and at most `most` ms after `from`. */
interface Link {
  readonly from: TimelineMark;
  readonly to: TimelineMark;
  readonly least: number;
  readonly most: number;
}

/** Marks of one subject, each the cause of those behind it. */
const chains: readonly (readonly MarkName[])[] = [
  ['stopping', 'prestop-ended', 'stop-signal', 'kill', 'exited'],
  ['replacement-created', 'replacement-scheduled', 'replacement-started', 'replacement-ready'],
  ['unrouted', 'endpoint-removed'],
  ['requested', 'accepted'],
  ['containers-done', 'final-delete', 'finalizing', 'removed'],
];

/** What a deletion does not cause, or what may have come before it. */
const independent = /^(?:requested|accepted|replacement-.*|node-.*)$/;

function linksBetween(marks: readonly TimelineMark[], exit: PodExit | undefined): Link[] {
  const accepted = marks.find(({ name }) => name === 'accepted');
  const done = marks.find(({ name }) => name === 'containers-done');
  const ofSubject = groupBy(marks, ({ subject = '' }) => subject);
  return marks.flatMap((to) => [
    ...(ofSubject.get(to.subject ?? '') ?? [])
      .filter(({ name }) => chains.some((chain) => isEarlier(chain, name, to.name)))
      .map((from) => measured(from, to)),
    ...(accepted && !independent.test(to.name) ? [ordered(accepted, to)] : []),
    ...(done && to.name === 'endpoint-removed' ? [ordered(done, to)] : []),
    ...(to.name === 'containers-done' ? marks.filter(isConfirmedExit).map((from) => ordered(from, to)) : []),
    ...exitsBefore(exit, to, marks).map((from) => ordered(from, to)),
  ]);
}

const isEarlier = (chain: readonly MarkName[], a: MarkName, b: MarkName): boolean =>
  chain.includes(a) && chain.indexOf(a) < chain.indexOf(b);

const isConfirmedExit = ({ name, provisional }: TimelineMark): boolean => name === 'exited' && !provisional;

/** Where the intervals say otherwise, the order is left alone. */
function ordered(from: TimelineMark, to: TimelineMark): Link {
  return { from, to, least: from.at.client.lo <= to.at.client.hi ? 0 : -Infinity, most: Infinity };
}

function measured(from: TimelineMark, to: TimelineMark): Link {
  const { lo, hi } = between(from.at, to.at);
  return { ...ordered(from, to), least: lo, most: hi };
}

/** The ends that a sidecar's signal waits for (SIGNALS.md §2 S7). */
function exitsBefore(exit: PodExit | undefined, mark: TimelineMark, marks: readonly TimelineMark[]): TimelineMark[] {
  const containers = exit?.containers ?? [];
  const index = containers.findIndex(({ spec }) => spec.name === mark.subject && spec.kind === 'sidecar');
  if (mark.name !== 'stop-signal' || index === -1) return [];
  const awaited = containers.slice(0, index).map(({ spec }) => spec.name);
  return marks.filter(({ name, subject = '' }) => name === 'exited' && awaited.includes(subject));
}

const within = (value: number, { lo, hi }: Span): number => Math.min(Math.max(value, lo), hi);

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

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

/** Marks of one moment are in the order of their causes. */
const causes: MarkName[] = [
  'requested',
  'accepted',
  'stopping',
  'acknowledged',
  'unrouted',
  'prestop-ended',
  'stop-signal',
  'ready-lost',
  'kill',
  'exited',
  'containers-done',
  'endpoint-removed',
  'final-delete',
  'finalizing',
  'removed',
  'replacement-created',
  'replacement-scheduled',
  'replacement-started',
  'replacement-ready',
  'node-not-ready',
  'node-ready',
];

/** In the order of the schedule. */
export const inOrder = <M extends TimelineMark>(marks: readonly M[], schedule: Schedule): M[] =>
  [...marks].sort(
    (a, b) => (schedule.get(a.id) ?? 0) - (schedule.get(b.id) ?? 0) || causes.indexOf(a.name) - causes.indexOf(b.name),
  );
