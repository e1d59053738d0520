/**
 * Which marks lines mode prints after an observation. A printed line stays, so an uncertain mark is held back until its
 * interval narrows, until its container has ended, or until a second after it has certainly happened. Then it is printed
 * once, causes before their effects. It is printed again, as one update, only if it turns out to be really different.
 */
import type { ContainerTimeline, Interval, Mark, Timeline } from '../../infer/timeline.ts';
import type { MarkName } from '../../model/report.ts';
import { isWide, printedAt } from '../time-text.ts';

export type PrintEvent =
  | { readonly kind: 'mark'; readonly mark: Mark }
  /** It was printed at `was`, and is known more exactly now. */
  | { readonly kind: 'moved'; readonly mark: Mark; readonly was: Interval }
  /** It was printed and did not happen. */
  | { readonly kind: 'retracted'; readonly mark: Mark };

interface PrintedMark {
  readonly mark: Mark;
  /** The part of the printed text that can still change. */
  readonly result: string;
}

/** An inferred mark with a wider interval is held back. */
const maxWidthMs = 500;
/** No mark is held back longer than this after it has certainly happened. */
const maxHoldMs = 1000;

/** The returned function tells what to print after each change. `isLast`: all that is left, since nothing follows. */
export function createMarkPrinter(): (timeline: Timeline, isLast: boolean) => PrintEvent[] {
  const printed = new Map<string, PrintedMark>();
  /** Marks that are held back, and since when (ms) each has certainly happened. */
  let held = new Map<string, number | undefined>();
  return (timeline, isLast) => {
    const { now } = timeline;
    const marks = worthPrinting(timeline.marks, printed);
    const heldSince = ({ id, at }: Mark): number | undefined =>
      held.get(id) ?? (at.latest <= now + 1 ? now : undefined);
    const ready = new Set(
      marks.filter((mark) => isLast || printed.has(mark.id) || isReady(mark, timeline, heldSince(mark))),
    );
    for (const mark of [...ready])
      if (!printed.has(mark.id)) causesOf(mark, marks).forEach((cause) => ready.add(cause));
    held = new Map(marks.flatMap((mark) => (ready.has(mark) ? [] : [[mark.id, heldSince(mark)]])));
    const events: PrintEvent[] = [];
    for (const mark of marks.filter((one) => ready.has(one))) {
      const result = resultOf(mark, timeline);
      const event = eventOf(printed.get(mark.id), mark, result);
      if (!event) continue;
      events.push(event);
      printed.set(mark.id, { mark, result });
    }
    for (const [id, { mark }] of printed) {
      if (marks.some((current) => current.id === id)) continue;
      printed.delete(id);
      events.push({ kind: 'retracted', mark });
    }
    return events;
  };
}

/** If containers have the mark `stopping`, `acknowledged` would say the same of the pod. */
export const worthPrinting = (marks: readonly Mark[], printed?: ReadonlyMap<string, unknown>): readonly Mark[] =>
  marks.some(({ name }) => name === 'stopping')
    ? marks.filter((mark) => mark.name !== 'acknowledged' || printed?.has(mark.id))
    : marks;

function eventOf(old: PrintedMark | undefined, mark: Mark, result: string): PrintEvent | undefined {
  if (!old) return { kind: 'mark', mark };
  const isMoved = hasMoved(old.mark.at, mark.at) || (isWide(old.mark.at) && result !== old.result);
  if (isMoved) return { kind: 'moved', mark, was: old.mark.at };
  return result === old.result ? undefined : { kind: 'mark', mark };
}

/** The printed time is no longer possible. */
const hasMoved = (was: Interval, at: Interval): boolean =>
  printedAt(was) < at.earliest - maxWidthMs || (!isWide(was) && was.shown > at.latest + maxWidthMs);

/** Exit code and hook result: nothing else that is printed of a mark can change. */
function resultOf(mark: Mark, { containers }: Timeline): string {
  const container = containers.find(({ name }) => name === mark.subject);
  if (mark.name === 'exited')
    return mark.provisional ? '' : `${container?.exit?.code ?? ''} ${container?.outcome ?? ''}`;
  return mark.name === 'prestop-ended' ? (badHookOutcome(container) ?? '') : '';
}

/** After "finished", it is not worth a line that a hook completed. */
const badHookOutcome = (container: ContainerTimeline | undefined): string | undefined => {
  const outcome = container?.preStop?.outcome;
  return outcome === 'failed' || outcome === 'cut-off' ? outcome : undefined;
};

/** Marks that depend on the end of a hook. */
const hookDependent: ReadonlySet<MarkName> = new Set(['prestop-ended', 'stop-signal']);

function isReady(mark: Mark, { marks, containers, now }: Timeline, since: number | undefined): boolean {
  const { name, subject, at, provisional } = mark;
  // Another one may follow.
  if (name === 'last-failure') return now - at.latest >= maxHoldMs;
  const hasEnded = marks.some((other) => other.name === 'exited' && other.subject === subject && !other.provisional);
  const isUncertain = at.basis === 'inferred' && at.latest - at.earliest > maxWidthMs;
  // The end of a log is printed at once: for seconds, nothing else shows that the container is gone.
  if (hasEnded || !isUncertain || (name === 'exited' && provisional)) return true;
  // Only the container's end shows whether such a hook ended before the grace period did.
  const hook = containers.find((container) => container.name === subject)?.preStop;
  if (hookDependent.has(name) && provisional && hook?.outcome === 'unknown') return false;
  return since !== undefined && now - since >= maxHoldMs;
}

/** Marks of the whole pod that follow from the ends of all its containers. */
const podEndMarks: ReadonlySet<MarkName> = new Set(['containers-done', 'final-delete', 'removed']);

/** Earlier marks of the timeline that led to this one. */
function causesOf(mark: Mark, marks: readonly Mark[]): Mark[] {
  const before = marks.slice(0, marks.indexOf(mark));
  if (podEndMarks.has(mark.name)) return before.filter(({ name }) => !name.startsWith('replacement'));
  return mark.subject === undefined ? [] : before.filter(({ subject }) => subject === mark.subject);
}
