/** Bounds for the remote clocks that hold whatever happened: stamps that arrived, and `Date` headers. */
import { noLessThan } from '../clock.ts';
import { withDate } from '../dates.ts';
import type { Dated } from '../observation.ts';
import { second } from '../span.ts';
import { isTime, parseTime } from '../stamps.ts';
import type { Trace } from '../trace.ts';
import type { Seen } from './notes.ts';
import { note } from './notes.ts';

/** `at` is rounded down: what arrived had happened before at + 1. */
const arrivedBy = (seen: Seen): number => seen.at + 1;

/** The server's clock showed [date, date + 1 s) at some moment between sending and arrival. */
export function foldDated(trace: Trace, dated: Dated & Seen): Trace {
  const { seq, date, sentAt } = dated;
  if (!isTime(date)) return trace;
  const dates = withDate(trace.clocks.dates, {
    lower: { at: arrivedBy(dated), value: date - arrivedBy(dated), seq },
    upper: { at: sentAt, value: date + second - sentAt, seq },
  });
  const differs = dates.length > Math.max(1, trace.clocks.dates.length);
  const what = differs ? 'Date header that contradicts those before it' : 'Date header of an answer';
  return note({ ...trace, clocks: { ...trace.clocks, dates } }, dated, what);
}

/** A stamp of the node's clock (ms) arrived: the node's clock had reached it. */
export function nodeReached(trace: Trace, stamp: number | undefined, seen: Seen): Trace {
  return reached(trace, 'node', stamp, seen);
}

/** A stamp of the API server's clock (RFC 3339) arrived. */
export function apiReached(trace: Trace, stamp: string | undefined, seen: Seen): Trace {
  return reached(trace, 'api', parseTime(stamp), seen);
}

function reached(trace: Trace, which: 'api' | 'node', stamp: number | undefined, seen: Seen): Trace {
  if (stamp === undefined) return trace;
  const clock = noLessThan(trace.clocks[which], { at: arrivedBy(seen), value: stamp - arrivedBy(seen), seq: seen.seq });
  return clock.lower === trace.clocks[which].lower ? trace : { ...trace, clocks: { ...trace.clocks, [which]: clock } };
}
