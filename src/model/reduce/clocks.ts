/** Bounds on remote clocks that always hold: from timestamps that arrived, and from `Date` headers. */
import { noLessThan, noMoreThan } from '../clock.ts';
import type { ObservedObject } from '../kube.ts';
import type { ObservationOf, StreamName } from '../observation.ts';
import { second, type Span } from '../span.ts';
import { isPlausibleTime, parseFloor, parseTime } from '../stamps.ts';
import type { Seen, Trace } from '../trace.ts';
import { factOf, addNote, withEntry } from './notes.ts';

/** `at` is rounded down: the observation happened before at + 1. */
const arrivedBy = (seen: Seen): number => seen.at + 1;

/** The server's clock showed [date, date + 1 s) at some moment between sending and arrival. */
export function foldDated(trace: Trace, dated: ObservationOf<'dated'>): Trace {
  const { seq, date, sentAt, at, read } = dated;
  if (!isPlausibleTime(date)) return trace;
  const answers = [...trace.answers, { lo: sentAt, hi: at, read }].slice(-64);
  const lower = noLessThan(trace.clocks.dates, { at: arrivedBy(dated), value: date - arrivedBy(dated), seq });
  const dates = noMoreThan(lower, { at: sentAt, value: date + second - sentAt, seq });
  return addNote({ ...trace, answers, clocks: { ...trace.clocks, dates } }, dated, 'Date header of an answer');
}

/** The timestamps of all writes of an object arrived. */
export const writesReached = (trace: Trace, { metadata: { managedFields = [] } }: ObservedObject, seen: Seen): Trace =>
  managedFields.reduce((next, { time }) => clockReached(next, 'api', parseTime(time), seen), trace);

/** A timestamp (ms) of a clock arrived: the clock had reached it. */
export function clockReached(trace: Trace, which: 'api' | 'node', stamp: number | undefined, seen: Seen): Trace {
  if (stamp === undefined) return trace;
  const clock = noLessThan(trace.clocks[which], { at: arrivedBy(seen), value: stamp - arrivedBy(seen), seq: seen.seq });
  return clock.lower === trace.clocks[which].lower ? trace : { ...trace, clocks: { ...trace.clocks, [which]: clock } };
}

/** How an object arrived, which tells whether its timestamp belongs to the write that brought it. */
type Arrival = 'listed' | 'resumed' | 'added' | 'changed';

/**
 * Measures how late changes arrive on a live stream. Not every write is stamped: except for an added Event, only a
 * second that is newer than all earlier ones of the stream belongs to the write that arrived.
 */
export function foldDelay(trace: Trace, stream: StreamName, object: ObservedObject, seen: Seen, came: Arrival): Trace {
  const stored = storedAt(object);
  const { newest, longest } = trace.delays;
  const last = newest.get(stream) ?? -Infinity;
  if (stored === undefined || !(stored.lo > last || (object.kind === 'Event' && came === 'added'))) return trace;
  const delay = seen.at - stored.hi;
  const isLongest = (came === 'added' || came === 'changed') && delay > (longest?.value ?? -Infinity);
  const withLast = withEntry(newest, stream, Math.max(stored.lo, last));
  return { ...trace, delays: { newest: withLast, longest: isLongest ? factOf(delay, seen) : longest } };
}

/** The API server's timestamp of the last write that has one. An Event that was counted again has none. */
function storedAt(object: ObservedObject): Span | undefined {
  if (object.kind === 'Event') return object.count > 1 ? undefined : parseFloor(object.metadata.creationTimestamp);
  return lastWritten(object);
}

/** The time of the last write, API server's clock. */
export function lastWritten({ metadata: { managedFields = [] } }: ObservedObject): Span | undefined {
  const written = managedFields.flatMap(({ time }) => parseFloor(time) ?? []);
  return written.reduce<Span | undefined>((last, one) => (last && last.lo >= one.lo ? last : one), undefined);
}
