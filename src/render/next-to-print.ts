/**
 * Which marks lines mode prints after an observation. A printed line stays, so a moment that is still uncertain is held
 * back: until it narrows, until its container has ended, or until a second after it was certainly over. Then it is
 * printed once, causes before their effects. Only what turns out to be really different is printed again, as one
 * update. A value that takes a step; pure.
 */
import type { ContainerTimeline, Interval, Mark, Timeline } from '../infer/timeline.ts';
import type { MarkName } from '../model/report.ts';

export type PrintEvent =
  | { readonly kind: 'mark'; readonly mark: Mark }
  /** It was printed at `was`, and is known better now. */
  | { readonly kind: 'moved'; readonly mark: Mark; readonly was: Interval }
  /** It was printed and did not happen. */
  | { readonly kind: 'retracted'; readonly mark: Mark };

export interface PrintState {
  readonly printed: ReadonlyMap<string, PrintedMark>;
  /** Marks that are held back, and since when (ms) each was certainly over. */
  readonly held: ReadonlyMap<string, number | undefined>;
}

interface PrintedMark {
  readonly mark: Mark;
  /** What was printed beside the time, as far as it can change. */
  readonly result: string;
}

export const nothingPrinted: PrintState = { printed: new Map(), held: new Map() };

/** ms; an inferred moment that is wider waits. */
const wide = 500;
/** ms; it does not wait longer than this after it was certainly over. */
const patience = 1000;

/** `last`: there is no other chance to print. */
export function nextToPrint(
  before: PrintState,
  timeline: Timeline,
  last = false,
): { state: PrintState; events: PrintEvent[] } {
  const { now } = timeline;
  const marks = worthPrinting(timeline.marks, before.printed);
  const heldSince = (mark: Mark): number | undefined =>
    before.held.get(mark.id) ?? (mark.at.latest <= now + 1 ? now : undefined);
  const ready = new Set(
    marks.filter((mark) => last || before.printed.has(mark.id) || isReady(mark, timeline, heldSince(mark))),
  );
  for (const mark of [...ready])
    if (!before.printed.has(mark.id)) causesOf(mark, marks).forEach((one) => ready.add(one));
  const printed = new Map(before.printed);
  const held = new Map<string, number | undefined>();
  const events: PrintEvent[] = [];
  for (const mark of marks) {
    const old = before.printed.get(mark.id);
    const result = resultOf(mark, timeline);
    const event = ready.has(mark) ? eventOf(old, mark, result) : undefined;
    if (!ready.has(mark)) held.set(mark.id, heldSince(mark));
    if (!event) continue;
    events.push(event);
    printed.set(mark.id, { mark, result });
  }
  for (const [id, { mark }] of before.printed) {
    if (marks.some((one) => one.id === id)) continue;
    printed.delete(id);
    events.push({ kind: 'retracted', mark });
  }
  return { state: { printed, held }, events };
}

/** That the kubelet started termination is said of its containers, not again of the pod. */
export const worthPrinting = (marks: readonly Mark[], printed?: ReadonlyMap<string, unknown>): readonly Mark[] =>
  marks.some(({ name }) => name === 'stopping')
    ? marks.filter((mark) => mark.name !== 'acknowledged' || printed?.has(mark.id))
    : marks;

function eventOf(old: PrintedMark | undefined, mark: Mark, result: string): PrintEvent | undefined {
  if (!old) return { kind: 'mark', mark };
  if (hasMoved(old.mark.at, mark.at)) return { kind: 'moved', mark, was: old.mark.at };
  return result === old.result ? undefined : { kind: 'mark', mark };
}

/** Where it was printed is not where it can have been. */
const hasMoved = (was: Interval, at: Interval): boolean =>
  was.shown < at.earliest - wide || was.shown > at.latest + wide;

/** Exit code and hook result: what else is printed of a mark does not change. */
function resultOf(mark: Mark, { containers }: Timeline): string {
  const container = containers.find(({ name }) => name === mark.subject);
  if (mark.name === 'exited')
    return mark.provisional ? '' : `${container?.exit?.code ?? ''} ${container?.outcome ?? ''}`;
  return mark.name === 'prestop-ended' ? (badHook(container) ?? '') : '';
}

/** That a hook completed, after it was printed as finished, is not worth a line. */
const badHook = (container: ContainerTimeline | undefined): string | undefined => {
  const outcome = container?.preStop?.outcome;
  return outcome === 'failed' || outcome === 'cut-off' ? outcome : undefined;
};

/** What a hook's end decides. */
const afterHook: ReadonlySet<MarkName> = new Set(['prestop-ended', 'stop-signal']);

function isReady(mark: Mark, { marks, containers, now }: Timeline, since: number | undefined): boolean {
  const { name, subject, at, provisional } = mark;
  const hasEnded = marks.some((one) => one.name === 'exited' && one.subject === subject && !one.provisional);
  const isUncertain = at.basis === 'inferred' && at.latest - at.earliest > wide;
  // The end of a log is shown at once: nothing else says for seconds that the container is gone.
  if (hasEnded || !isUncertain || (name === 'exited' && provisional)) return true;
  // Nothing but the container's end says whether such a hook ended at all before the grace period did.
  const hook = containers.find((one) => one.name === subject)?.preStop;
  if (afterHook.has(name) && provisional && hook?.outcome === 'unknown') return false;
  return since !== undefined && now - since >= patience;
}

/** Marks of the whole pod that follow from the ends of all its containers. */
const afterAll: ReadonlySet<MarkName> = new Set(['containers-done', 'final-delete', 'removed']);

/** Those that are before it in the timeline and led to it. */
function causesOf(mark: Mark, marks: readonly Mark[]): Mark[] {
  const before = marks.slice(0, marks.indexOf(mark));
  if (afterAll.has(mark.name)) return before.filter(({ name }) => !name.startsWith('replacement'));
  return mark.subject === undefined ? [] : before.filter(({ subject }) => subject === mark.subject);
}
