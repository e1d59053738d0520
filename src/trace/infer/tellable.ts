/** Whether an Event of the kubelet would certainly have been told: only then does it say something that none was. */
import type { Trace } from '../trace.ts';
import { isMerged } from './merged.ts';

/** Events may not be read, or are not made any more (SIGNALS.md trap 32). */
const isClosed = ({ refused, namespaceEnding }: Trace): boolean =>
  namespaceEnding !== undefined || refused.some(({ value }) => value.stream === 'events');

/** The stream of them, before the pod's end, and it never came back: a list that closes a gap has them all. */
const isLost = ({ gaps, gone }: Trace): boolean =>
  gaps.some(
    ({ value: { stream, from, to } }) => stream === 'events' && to === undefined && from < (gone?.at ?? Infinity),
  );

/** No absence of a Killing tells anything. */
export const isUntellable = (trace: Trace): boolean => isUnwritten(trace) || isLost(trace);

/**
 * Nor would it on a stream that is whole: of those that are alike ten become one, which names the first, and none is made any
 * more once a pod has spent what the kubelet allows it (SIGNALS.md §2.1).
 */
export const isUnwritten = (trace: Trace): boolean =>
  isClosed(trace) || isSpent(trace.normals) || areKillingsMerged(trace);

/** The same of a Warning. */
export const isWarningUntellable = ({ namespaceEnding, warnings }: Trace): boolean =>
  namespaceEnding !== undefined || isSpent(warnings);

const areKillingsMerged = ({ events }: Trace): boolean =>
  events.some((event) => event.reason === 'Killing' && isMerged(event));

const isSpent = (counts: ReadonlyMap<string, number>): boolean =>
  [...counts.values()].reduce((sum, count) => sum + count, 0) >= fewest;

/**
 * The filter starts with 25 of a type and gives one back every 5 min. What is older than an hour is not told any more (the
 * TTL): if that had spent everything, 12 have come back since.
 */
const fewest = 12;
