/**
 * A node's clock that was set back. Nothing proves it: what such a clock stamps only seems to come late. So what comes later
 * than it should, although its stream is alive, makes the clock doubtful: it is late, or the clock was set, and no instant
 * goes by the one alone.
 */
import { millisecondsOf } from '../assumptions.ts';
import type { Bound, Clock } from '../clock.ts';
import { offsetAt } from '../clock.ts';
import { parseFloor } from '../stamps.ts';
import type { ContainerFacts, Occurrence, Trace } from '../trace.ts';
import { heardSince } from './arrival.ts';
import type { Deletion } from './deletion.ts';

/** `others`: Killings that are older than the deletion by what the clock showed before. */
export function withDoubts(trace: Trace, deletion: Deletion, clock: Clock, others: readonly Occurrence[]): Clock {
  const ends = [...trace.containers.values()].flatMap((facts) => lateEnd(trace, facts, deletion));
  const stops = others.filter(({ isOld, seq }) => !isOld && seq > deletion.facts.seenSeq).map(earlyStop(deletion));
  const doubt = [...stops, ...ends].find(({ at, value }) => Number.isFinite(at) && value < offsetAt(clock, at).lo);
  return doubt ? { ...clock, doubt: { at: doubt.at, seq: doubt.seq } } : clock;
}

/** It came live, after the deletion: is it no older, after all? */
const earlyStop =
  ({ accepted }: Deletion) =>
  ({ time, seq }: Occurrence): Bound => ({ at: accepted.client.lo, value: time.hi - accepted.client.lo, seq });

/** A log ends with its container, and that is told, within what is assumed. */
function lateEnd(trace: Trace, { log, terminated }: ContainerFacts, deletion: Deletion): Bound[] {
  const { ended } = log;
  const finished = parseFloor(terminated?.value.finishedAt);
  // A node that was cut off, or stood still, tells everything late.
  const isAway = trace.nodeReady.some(({ value, at }) => value !== 'True' && at >= deletion.facts.seenAt);
  if (isAway || !finished || !ended?.value.clean || ended.at < deletion.facts.seenAt) return [];
  const lag = millisecondsOf('log-end') + millisecondsOf('delivery-lag');
  const at = heardSince(trace, 'logs', ended.at) - lag;
  return [{ at, value: finished.hi - at, seq: ended.seq }];
}
