/**
 * Which marks are told when. A line once written stays, so a mark whose interval is still wide waits until it narrows,
 * until its container's end is confirmed (after that little narrows), or for a second after it was certainly over. A
 * hook that may have been cut off waits for the Event that would tell it, and its stop signal with it. What is told too
 * early (the end of a log) or wrongly is told again, by name: confirmed, corrected or withdrawn. Pure.
 */
import { millisecondsOf } from '../model/assumptions.ts';
import type { MarkName } from '../model/report.ts';
import type { MarkView } from './moments.ts';

export type Saying =
  | { readonly kind: 'told' | 'confirmed' | 'corrected'; readonly mark: MarkView }
  /** It did not happen after all; `mark` is as it was told. */
  | { readonly kind: 'withdrawn'; readonly mark: MarkView };

export interface Telling {
  readonly told: ReadonlyMap<string, MarkView>;
  /** Marks that wait, and since when (ms, observation time) they were certainly over. */
  readonly waiting: ReadonlyMap<string, number | undefined>;
}

export const nothingTold: Telling = { told: new Map(), waiting: new Map() };

/** An inferred mark wider than this (ms) waits. */
const wide = 500;
/** Not longer than this (ms) after it was certainly over. */
const patience = 1000;
/** The same while an Event may be on its way that tells how a hook ended: then the end is known to the millisecond. */
const eventPatience = millisecondsOf('event-lag') + millisecondsOf('delivery-lag');

/** `now`: ms, observation time. `last`: there will be no other chance to tell. */
export function tell(
  before: Telling,
  marks: readonly MarkView[],
  now: number,
  last = false,
): { telling: Telling; sayings: Saying[] } {
  const told = new Map(before.told);
  const waiting = new Map<string, number | undefined>();
  const sayings: Saying[] = [];
  const ended = new Set(marks.flatMap((one) => (one.name === 'exited' && !one.provisional ? [one.subject] : [])));
  const doubtful = new Set(marks.flatMap((one) => (isDoubtfulHook(one) ? [one.subject] : [])));
  for (const mark of marks) {
    const old = told.get(mark.id);
    const since = before.waiting.get(mark.id) ?? (mark.at.hi <= now + 1 ? now : undefined);
    if (old) {
      const kind = changeOf(old, mark);
      if (!kind) continue;
      sayings.push({ kind, mark });
    } else if (last || ended.has(mark.subject) || isReady(mark, since, now, doubtful)) {
      sayings.push({ kind: 'told', mark });
    } else {
      waiting.set(mark.id, since);
      continue;
    }
    told.set(mark.id, mark);
  }
  for (const [id, mark] of before.told)
    if (!marks.some((one) => one.id === id)) {
      told.delete(id);
      sayings.push({ kind: 'withdrawn', mark });
    }
  return { telling: { told, waiting }, sayings };
}

const isWide = ({ at }: MarkView): boolean => at.basis === 'inferred' && at.hi - at.lo > wide;

const isLogEnd = ({ name, provisional }: MarkView): boolean => name === 'exited' && provisional;

/** Nothing has told yet how it ended, or whether. */
const isDoubtfulHook = ({ name, note, provisional }: MarkView): boolean =>
  name === 'prestop-ended' && provisional && note?.endsWith('unknown') === true;

/** What is placed by the hook's end. */
const afterHook: ReadonlySet<MarkName> = new Set(['prestop-ended', 'stop-signal']);

/** The end of a log is news at once, however wide its interval. */
function isReady(
  mark: MarkView,
  since: number | undefined,
  now: number,
  doubtful: ReadonlySet<string | undefined>,
): boolean {
  if (isLogEnd(mark) || !isWide(mark)) return true;
  const isItsHooks = doubtful.has(mark.subject) && afterHook.has(mark.name);
  const waits = isItsHooks ? eventPatience : patience;
  return since !== undefined && now - since >= waits;
}

/** As it was told, where that stands; else as it is. */
export function asTold({ told }: Telling, mark: MarkView): MarkView {
  const old = told.get(mark.id);
  return old && !changeOf(old, mark) ? old : mark;
}

function changeOf(old: MarkView, mark: MarkView): 'confirmed' | 'corrected' | undefined {
  const moved = mark.at.lo - wide > old.at.hi || mark.at.hi + wide < old.at.lo;
  // That a hook or a signal stays what it was is no news; that the end of a log was an exit is.
  if (isLogEnd(old) && !mark.provisional) return moved ? 'corrected' : 'confirmed';
  if (moved || isElsewhere(old, mark)) return 'corrected';
  return isNews(old, mark) ? 'corrected' : undefined;
}

/** Where it was shown is not where it can have been. */
function isElsewhere(old: MarkView, mark: MarkView): boolean {
  const middle = old.at.basis === 'observed' ? old.at.hi : (old.at.lo + old.at.hi) / 2;
  return middle < mark.at.lo - wide || middle > mark.at.hi + wide;
}

/** A hook that turns out to have failed, an exit with another code. */
function isNews(old: MarkView, { name, note }: MarkView): boolean {
  if (old.note === note || note === undefined) return false;
  return name === 'exited' || (name === 'prestop-ended' && !note.endsWith('completed'));
}
