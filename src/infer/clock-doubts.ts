/**
 * A node's clock that was set back. Nothing proves it: what such a clock stamps only seems to come late. So what comes later
 * than it should, although its stream is alive, makes the clock doubtful: it is late, or the clock was set, and no instant
 * goes by the one alone. A log alone is late far more often than a clock is set: the end of one counts only where the
 * status of its container is as late.
 */
import { millisecondsOf } from '../model/assumptions.ts';
import type { Bound, Clock } from '../model/clock.ts';
import { offsetAt } from '../model/clock.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerFacts, Fact, Occurrence, Trace } from '../model/trace.ts';
import { deliverableSince } from './arrival.ts';
import type { Deletion } from './deletion.ts';

/** `others`: Killings that are older than the deletion by what the clock showed before. */
export function withDoubts(trace: Trace, deletion: Deletion, clock: Clock, others: readonly Occurrence[]): Clock {
  const ends = lateEnds(trace, deletion);
  const stops = others.filter(({ isOld, seq }) => !isOld && seq > deletion.facts.seenSeq).map(earlyStop(deletion));
  const doubt = [...stops, ...ends].find(({ at, value }) => Number.isFinite(at) && value < offsetAt(clock, at).lo);
  return doubt ? { ...clock, doubt: { at: doubt.at, seq: doubt.seq } } : clock;
}

/** It came live, after the deletion: is it no older, after all? */
const earlyStop =
  ({ accepted }: Deletion) =>
  ({ time, seq }: Occurrence): Bound => ({ at: accepted.client.lo, value: time.hi - accepted.client.lo, seq });

/**
 * A log ends with its container, and the statuses follow the last end of the pod within a second or two (SIGNALS.md §2
 * S9, S10; unmounting and the cgroup come later, S15). Both come late where the stamp is too early.
 */
function lateEnds(trace: Trace, deletion: Deletion): Bound[] {
  const all = [...trace.containers.values()];
  const finished = all.flatMap(({ terminated }) => parseFloor(terminated?.value.finishedAt)?.hi ?? []);
  const last = Math.max(...finished);
  // A node that was cut off, or paused, reports everything late.
  const isAway = trace.nodeReady.some(({ value, at }) => value !== 'True' && at >= deletion.facts.seenAt);
  return isAway ? [] : all.flatMap((facts) => lateEnd(trace, facts, { last, since: deletion.facts.seenAt }));
}

/** A clean end of a container's log; one that is still open when the status comes will end later than that. */
export function logEndAtLeast({
  log,
  terminated,
}: Pick<ContainerFacts, 'log' | 'terminated'>): Fact<unknown> | undefined {
  const { opened, ended } = log;
  if (ended) return ended.value.clean ? ended : undefined;
  return opened && terminated;
}

/** `last`: the last finishedAt of the pod (node clock); `since`: when the deletion was seen. */
function lateEnd(
  trace: Trace,
  { log, terminated }: ContainerFacts,
  { last, since }: { last: number; since: number },
): Bound[] {
  const { opened, reopened = opened } = log;
  const end = logEndAtLeast({ log, terminated });
  if (terminated?.value.finishedAt === undefined || !end || end.at < since) return [];
  const lag = millisecondsOf('log-end') + millisecondsOf('delivery-lag');
  // One that was reopened just before may have been at its end for as long as it was cut.
  if (reopened && reopened.at >= since && end.at - reopened.at <= lag) return [];
  const at = Math.min(deliverableSince(trace, 'logs', end.at), deliverableSince(trace, 'pod', terminated.at)) - lag;
  return [{ at, value: last - at, seq: Math.max(end.seq, terminated.seq) }];
}
