/** When a mark was, as a line shows it: on the clock, and seconds after the zero. */
import type { Instant, MarkName } from '../model/report.ts';
import { digitsFor } from './duration.ts';
import { isTime } from '../model/stamps.ts';
import { millis } from './offsets.ts';

/** An instant in ms since the epoch, on the client's clock. */
export interface Moment {
  readonly lo: number;
  readonly hi: number;
  readonly basis: Instant['basis'];
  /** Nothing bounds it from below: then `lo` is `hi`. */
  readonly open?: boolean;
}

/** `relative`: only the seconds after the zero; the others also show the time of day. */
export type Timestamps = 'relative' | 'local' | 'utc';

/** A mark of a trace or of a report. */
export interface MarkView {
  readonly id: string;
  readonly name: MarkName;
  readonly subject?: string;
  readonly note?: string;
  readonly at: Moment;
  readonly provisional: boolean;
  /** ms: of what was seen, when the news of it came. */
  readonly arrived?: number;
  /** ms: where the signal or the kill is shown that this exit followed. */
  readonly follows?: number;
}

/** What the offsets of one exit count from. */
export interface Zero {
  readonly at: number;
  /** No effect of the deletion is shown before this: where intervals overlap, causes still come first. */
  readonly accepted: number;
}

/** The request; where it was not ours, the acceptance as it was seen; else the first thing known. */
export function zeroOfMarks(marks: readonly MarkView[]): Zero | undefined {
  const requested = marks.find(({ name }) => name === 'requested');
  const accepted = marks.find(({ name }) => name === 'accepted');
  const first = accepted ?? marks[0];
  if (!requested && !first) return undefined;
  const at = requested ? requested.at.lo : (first?.at.hi ?? 0);
  return { at, accepted: accepted?.at.hi ?? at };
}

export function momentOf({ earliest, latest, basis }: Instant): Moment {
  const [from = 0, to = from] = [millis(earliest), millis(latest)];
  // As in the live lines: what nothing bounds from below is shown at its end.
  return isTime(from) ? { lo: from, hi: to, basis } : { lo: to, hi: to, basis, open: true };
}

/**
 * What came in at `at` was there when that millisecond was over: so it is shown, as an observation and as the mark that it
 * proves.
 */
export const arrivedAt = (at: number): number => at + 1;

/** When the news of a moment came: the first of its evidence that is not older than it. `heardAt`: ms, by `seq`. */
export function arrivalOf(
  { hi, basis, open }: Moment,
  evidence: readonly number[],
  heardAt: (seq: number) => number | undefined,
): { arrived?: number } {
  if (basis === 'inferred' || open) return {};
  const arrivals = evidence.flatMap((seq) => {
    const at = heardAt(seq);
    return at === undefined || arrivedAt(at) < hi ? [] : [arrivedAt(at)];
  });
  return arrivals.length > 0 ? { arrived: arrivals.reduce((a, b) => Math.min(a, b)) } : {};
}

/** ms; later news tells by its stamps, not by its coming, when it was. */
const late = 1000;

/** As it may be told: what is known from late news is not shown when it came, so it is not shown as seen. */
export const toldMoment = ({ at, arrived = at.hi }: Pick<MarkView, 'at' | 'arrived'>): Moment =>
  at.basis === 'observed' && arrived - at.hi > late ? { ...at, basis: 'inferred' } : at;

/** The one time (ms) that a mark is shown at: what we sent when it left, what we saw when it came, else the middle. */
export function shownAt(mark: MarkView, { accepted }: Zero): number {
  const { name, follows = -Infinity } = mark;
  const at = toldMoment(mark);
  if (name === 'requested') return at.lo;
  if (at.basis === 'observed') return mark.arrived ?? at.hi;
  const causes = Math.max(accepted <= at.hi ? accepted : -Infinity, Math.min(follows, at.hi));
  return Math.max(middleOf(at), causes);
}

const middleOf = ({ lo, hi, basis }: Moment): number => (basis === 'observed' ? hi : (lo + hi) / 2);

const causesOfExits: ReadonlySet<MarkName> = new Set(['stop-signal', 'kill']);

/**
 * Where intervals overlap a container's exit is not shown before the signal or the kill that it followed, where `shown` says
 * that those stand.
 */
export function afterCauses(
  marks: readonly MarkView[],
  shown: (cause: MarkView) => MarkView = (cause) => cause,
): MarkView[] {
  return marks.map((mark) => {
    if (mark.name !== 'exited') return mark;
    const causes = marks.filter(({ name, subject }) => causesOfExits.has(name) && subject === mark.subject);
    if (causes.length === 0) return mark;
    return { ...mark, follows: Math.max(...causes.map((cause) => middleOf(shown(cause).at))) };
  });
}

/** Decimals that it deserves: all three where it was observed. */
export function decimalsOf({ lo, hi, basis, open }: Moment): number {
  if (open) return 1;
  return basis === 'observed' ? 3 : digitsFor((hi - lo) / 1000);
}

/** `+0.026`, `~+3.1`, `~−12`, `≤+3.3`: in 10 columns, the points below one another. `shown`: ms, where in the moment. */
export function offsetColumn(shown: number, moment: Moment, zero: Zero): string {
  const seconds = (shown - zero.at) / 1000;
  const bound = moment.open ? Math.ceil(seconds * 10) / 10 : seconds;
  const [whole = '', fraction] = signed(bound, decimalsOf(moment)).split('.');
  const head = `${moment.open ? '≤' : moment.basis === 'inferred' ? '~' : ' '}${whole}`;
  return head.padStart(6) + (fraction === undefined ? '' : `.${fraction}`).padEnd(4);
}

/** `+0.026`, `−0.5`; never a negative zero. */
export function signed(seconds: number, digits: number): string {
  const text = Math.abs(seconds).toFixed(digits);
  return `${seconds < 0 && Number(text) !== 0 ? '−' : '+'}${text}`;
}

/** `23:04:29.601`, with no more decimals than deserved, in 12 columns; nothing for `relative`. */
export function clockColumn(shown: number, moment: Moment, timestamps: Timestamps): string {
  return timestamps === 'relative' ? '' : clockText(shown, decimalsOf(moment), timestamps).padEnd(12);
}

/** The time of day; `relative` is told in UTC where a time of day is needed all the same. */
export function clockText(time: number, digits: number, timestamps: Timestamps): string {
  const unit = 10 ** (3 - digits);
  const date = new Date(Math.round(time / unit) * unit);
  const parts =
    timestamps === 'local'
      ? [date.getHours(), date.getMinutes(), date.getSeconds()]
      : [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()];
  const fraction = String(date.getUTCMilliseconds()).padStart(3, '0').slice(0, digits);
  return parts.map((part) => String(part).padStart(2, '0')).join(':') + (digits > 0 ? `.${fraction}` : '');
}

/** `2026-11-20 UTC`, `2026-11-20 UTC+01:00`. */
export function dayText(time: number, timestamps: Timestamps): string {
  const ahead = timestamps === 'local' ? -new Date(time).getTimezoneOffset() : 0;
  const day = new Date(time + ahead * 60_000).toISOString().slice(0, 10);
  if (ahead === 0) return `${day} UTC`;
  const [hours, minutes] = [Math.floor(Math.abs(ahead) / 60), Math.abs(ahead) % 60];
  return `${day} UTC${ahead < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
}

/** `between +60.0 and +62.1`: said of what is known only to the second or worse; undefined for the others. */
export function boundsText({ lo, hi, basis }: Moment, zero: Zero): string | undefined {
  if (basis === 'observed' || hi - lo < 1000) return undefined;
  return `between ${signed((lo - zero.at) / 1000, 1)} and ${signed((hi - zero.at) / 1000, 1)}`;
}
