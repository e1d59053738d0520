/** Whether Events of the kubelet may be missing: only where none can be does their absence prove anything. */
import { millisecondsOf } from '../model/assumptions.ts';
import { isMerged } from '../model/observe/event.ts';
import type { Trace } from '../model/trace.ts';
import { deliveryLagOf } from './arrival.ts';
import type { Estimate } from './estimate.ts';

/** Events may not be read, or are not made any more (SIGNALS.md trap 32). */
const isClosed = ({ refused, namespaceEnding }: Trace): boolean =>
  namespaceEnding !== undefined || refused.some(({ value }) => value.stream === 'events');

/**
 * The stream of them was lost before the Killings of this deletion could come, and never came back: a list that closes a gap has
 * them all. The kubelet writes those of all containers at once when it begins (SIGNALS.md §2 S3): where one arrived before the
 * loss, the others would have been. `by`: client ms before which they were written.
 */
function isLost(trace: Trace, by: number): boolean {
  const { gaps, gone, events, deletion, requests } = trace;
  const began = Math.min(deletion?.seenAt ?? Infinity, ...requests.map(({ sent }) => sent.at));
  const killedAt = events.find(({ reason, at }) => reason === 'Killing' && at >= began)?.at ?? Infinity;
  const due = Math.min(killedAt, gone?.at ?? Infinity, by + millisecondsOf('event-lag') + deliveryLagOf(trace));
  return gaps.some(({ value: { stream, from, to } }) => stream === 'events' && to === undefined && from < due);
}

/**
 * The absence of a Killing proves nothing. `ended`: the end of the container whose Killing it is, where that is known: it was
 * written before.
 */
export const killingsMissing = (trace: Trace, ended?: Estimate): boolean =>
  killingsUnwritten(trace) || isLost(trace, ended?.client.hi ?? Infinity);

/**
 * Nor would it on a stream that is whole: of those that are alike ten become one, which names the first, and none is made any
 * more once a pod has spent what the kubelet allows it (SIGNALS.md §2.1).
 */
export const killingsUnwritten = (trace: Trace): boolean =>
  isClosed(trace) || isSpent(trace.normals) || areKillingsMerged(trace);

/** The same of a Warning. */
export const warningsMissing = ({ namespaceEnding, warnings }: Trace): boolean =>
  namespaceEnding !== undefined || isSpent(warnings);

const areKillingsMerged = ({ events }: Trace): boolean =>
  events.some((event) => event.reason === 'Killing' && isMerged(event));

const isSpent = (counts: ReadonlyMap<string, number>): boolean =>
  [...counts.values()].reduce((sum, count) => sum + count, 0) >= fewest;

/**
 * The filter starts with 25 of a type and gives one back every 5 min. What is older than an hour is not listed any more (the
 * TTL): if that had spent everything, 12 have come back since.
 */
const fewest = 12;
