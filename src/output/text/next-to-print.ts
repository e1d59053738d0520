/**
 * Which marks lines mode prints after an observation. A printed line stays, so an uncertain mark is held back until its
 * interval narrows, until its container has ended, or until a second after it has certainly happened. Then it is printed
 * once, causes before their effects. It is printed again, as one update, only if it turns out to be really different.
 */
import type { Interval, Mark, Timeline } from '../../infer/timeline.ts';
import { halfDigitMs, isWide, printedAt } from '../time-text.ts';

export interface PrintEvent {
  /** `update`: it was before the last line, or more is known now. `retracted`: it was printed and did not happen. */
  readonly kind: 'mark' | 'update' | 'retracted';
  readonly mark: Mark;
  /** The time of the line, ms. */
  readonly at: number;
}

/** An inferred mark with a wider interval is held back. */
const maxWidthMs = 500;
/** No mark is held back longer than this after it has certainly happened. */
const maxHoldMs = 1000;
/** A later line is an update with its own time instead, so that a moment has one number on the screen. */
const maxMoveMs = 100;

/** The returned function tells what to print after each change. `isLast`: all that is left, since nothing follows. */
export function createMarkPrinter(): (timeline: Timeline, isLast: boolean) => PrintEvent[] {
  /** `result`: the part of the printed text that can still change. */
  const printed = new Map<string, { readonly mark: Mark; readonly result: string }>();
  /** ms: the time of the last line. */
  let above = -Infinity;
  return (timeline, isLast) => {
    const { now } = timeline;
    const marks = worthPrinting(timeline.marks, printed);
    const ready = new Set(marks.filter((mark) => isLast || printed.has(mark.id) || isReady(mark, timeline)));
    // What has certainly happened is not held back behind what comes after it.
    const last = marks.findLastIndex((mark) => ready.has(mark) && !printed.has(mark.id));
    for (const mark of marks.slice(0, Math.max(0, last)))
      if (mark.at.latest <= now + 1 && !dependsOnHook(mark, timeline)) ready.add(mark);
    for (const mark of [...ready])
      if (!printed.has(mark.id)) causesOf(mark, marks).forEach((cause) => ready.add(cause));
    const events: PrintEvent[] = [];
    const lines = new Map<string, { mark: Mark; at: number; isLate: boolean }>();
    for (const placed of inPrintedOrder(marks.filter((one) => ready.has(one)))) {
      const mark = above - placed.at.shown > maxMoveMs ? placed : notBefore(placed, above);
      const isLate = printed.has(mark.id) || mark.at.shown < above;
      const causes = causesOf(mark, marks).flatMap(({ id }) => printed.get(id) ?? lines.get(id) ?? []);
      const causesAbove = causes.flatMap(({ mark: { at } }) => (isWide(at) ? [] : at.shown));
      const update = { mark: notBefore(placed, Math.max(-Infinity, ...causesAbove)), at: Math.max(now, above), isLate };
      lines.set(mark.id, isLate ? update : { mark, at: mark.at.shown, isLate });
    }
    // What is learned with its effects is printed above them.
    for (const line of [...lines.values()].filter(({ isLate, mark }) => isLate && !printed.has(mark.id)))
      for (const { mark, at, isLate } of lines.values())
        if (!isLate && causesOf(mark, marks).some(({ id }) => id === line.mark.id)) line.at = Math.min(line.at, at);
    for (const { mark, at, isLate } of [...lines.values()].sort((a, b) => a.at - b.at)) {
      const result = resultOf(mark, timeline);
      const old = printed.get(mark.id);
      if (old && !hasMoved(old.mark.at, mark.at) && result === old.result) continue;
      events.push({ kind: isLate ? 'update' : 'mark', mark, at });
      above = at;
      printed.set(mark.id, { mark, result });
    }
    for (const [id, { mark }] of printed) {
      if (marks.some((current) => current.id === id)) continue;
      printed.delete(id);
      above = Math.max(now, above);
      events.push({ kind: 'retracted', mark, at: above });
    }
    return events;
  };
}

/** `mark` at the time that is printed: not before `above`, ms, as far as its interval allows that. */
const notBefore = (mark: Mark, above: number): Mark => ({
  ...mark,
  at: { ...mark.at, shown: Math.min(Math.max(printedAt(mark.at), above), mark.at.latest + halfDigitMs) },
});

/** In the order of their printed times, causes before their effects. */
export function inPrintedOrder(marks: readonly Mark[]): Mark[] {
  const placed = new Map<Mark, Mark>();
  for (const mark of marks) {
    const causes = causesOf(mark, marks).map((cause) => placed.get(cause)?.at.shown ?? -Infinity);
    placed.set(mark, notBefore(mark, Math.max(-Infinity, ...causes)));
  }
  return [...placed.values()].sort((a, b) => a.at.shown - b.at.shown);
}

/** If containers have the mark `stopping`, `acknowledged` would say the same of the pod. */
export const worthPrinting = (marks: readonly Mark[], printed?: ReadonlyMap<string, unknown>): readonly Mark[] =>
  marks.some(({ name }) => name === 'stopping')
    ? marks.filter((mark) => mark.name !== 'acknowledged' || printed?.has(mark.id))
    : marks;

/** The printed time is no longer possible. */
const hasMoved = (was: Interval, at: Interval): boolean =>
  printedAt(was) < at.earliest - maxWidthMs || (!isWide(was) && was.shown > at.latest + maxWidthMs);

/** Exit code and hook result: nothing else that is printed of a mark can change. */
function resultOf(mark: Mark, { containers }: Timeline): string {
  const container = containers.find(({ name }) => name === mark.subject);
  if (mark.name === 'exited')
    return mark.provisional ? '' : `${container?.exit?.code ?? ''} ${container?.outcome ?? ''}`;
  // After "ended", it is not worth a line that a hook completed.
  const outcome = container?.preStop?.outcome;
  return mark.name === 'prestop-ended' && (outcome === 'failed' || outcome === 'cut-off') ? outcome : '';
}

function isReady(mark: Mark, timeline: Timeline): boolean {
  const { marks, now } = timeline;
  const { name, subject, at, provisional } = mark;
  // Another one may follow.
  if (name === 'last-failure') return now - at.latest >= maxHoldMs;
  const hasEnded = marks.some((other) => other.name === 'exited' && other.subject === subject && !other.provisional);
  const isUncertain = at.basis === 'inferred' && at.latest - at.earliest > maxWidthMs;
  // The end of a log is printed at once: for seconds, nothing else shows that the container is gone.
  if (hasEnded || !isUncertain || (name === 'exited' && provisional)) return true;
  return now - at.latest >= maxHoldMs && !dependsOnHook(mark, timeline);
}

/** Only the container's end shows whether such a hook ended before the grace period did. */
const dependsOnHook = ({ name, subject, provisional }: Mark, { containers }: Timeline): boolean =>
  ['prestop-ended', 'stop-signal'].includes(name) &&
  provisional &&
  containers.find((container) => container.name === subject)?.preStop?.outcome === 'unknown';

/** Earlier marks of the timeline that led to this one. */
function causesOf(mark: Mark, marks: readonly Mark[]): Mark[] {
  const own = marks.findIndex(({ id }) => id === mark.id);
  const before = marks.slice(0, own);
  // Marks of the whole pod that follow from the ends of all its containers.
  if (['containers-done', 'final-delete', 'removed'].includes(mark.name))
    return before.filter(({ name }) => !name.startsWith('replacement'));
  return mark.subject === undefined ? [] : before.filter(({ subject }) => subject === mark.subject);
}
