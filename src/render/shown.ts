/** Where the documents show the instants of a report: by the rule of the terminal's lines (moments.ts). */
import type { ExitReport, Instant } from '../model/report.ts';
import type { MarkView, Moment, Zero } from './moments.ts';
import { afterCauses, arrivalOf, momentOf, shownAt } from './moments.ts';
import { formatOffset, millis, zeroOf } from './offsets.ts';

/** `subject`: whose the instant is, as of marks. */
export interface Shown {
  /** The one moment that stands for an instant, in seconds after the zero. */
  at(instant: Instant, subject?: string): number;
  /** The same in words. */
  offset(instant: Instant, subject?: string): string;
}

export function shownIn(report: ExitReport): Shown {
  const zero = zeroIn(report);
  const known = new Map(viewsOf(report).map((mark) => [keyOf(mark.at, mark.subject), shownAt(mark, zero)]));
  const at = (instant: Instant, subject?: string): number => {
    const moment = momentOf(instant);
    const ms = known.get(keyOf(moment, subject)) ?? shownAt(nameless(moment), zero);
    return (ms - zero.at) / 1000;
  };
  return { at, offset: (instant, subject) => formatOffset(zero.at, instant, at(instant, subject)) };
}

/** The marks as the lines show them, no exit before what it followed. */
export function viewsOf({ marks, observations }: ExitReport): MarkView[] {
  const heard = new Map(observations.map(({ seq, at }) => [seq, millis(at)]));
  return afterCauses(
    marks.map(({ id, name, subject, at, note }) => ({
      id,
      name,
      ...(subject === undefined ? {} : { subject }),
      ...(note === undefined ? {} : { note }),
      at: momentOf(at),
      provisional: false,
      ...arrivalOf(momentOf(at), at.evidence, (seq) => heard.get(seq)),
    })),
  );
}

function zeroIn(report: ExitReport): Zero {
  const at = zeroOf(report);
  const accepted = report.marks.find(({ name }) => name === 'accepted');
  return { at, accepted: accepted ? momentOf(accepted.at).hi : at };
}

/** Phases and containers tell of the very moments that are marks. */
const keyOf = ({ lo, hi, basis }: Moment, subject = ''): string => `${lo}/${hi}/${basis}/${subject}`;

/** An edge that is no mark: of its causes only the acceptance is known. */
const nameless = (at: Moment): MarkView => ({ id: '', name: 'accepted', at, provisional: false });
