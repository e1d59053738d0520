/**
 * How far the node's clock is off, by what the kubelet's Events say: the API server stamps when it stored them, and none
 * was made before the deletion that it is about.
 */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import type { Bound, Clock } from '../model/clock.ts';
import { noLessThan, noMoreThan, offsetAt, toClient, upTo } from '../model/clock.ts';
import type { Span } from '../model/span.ts';
import { second } from '../model/span.ts';
import type { Fact, Occurrence, Renewal, Trace } from '../model/trace.ts';
import { deliverableSince } from './arrival.ts';
import type { Deletion } from './deletion.ts';

/** Nothing that the kubelet did because of the deletion is earlier than its acceptance. */
export function withCause(clock: Clock, event: Occurrence, deletion: Deletion): Clock {
  const since = deletion.accepted.client.lo;
  if (!Number.isFinite(since)) return clock;
  const value = event.time.hi - since;
  // A contradiction means that the Killing was not caused by this deletion after all: arrivals are certain, causes are not.
  if (offsetAt(upTo(clock, event.at + 1), since).lo > value) return clock;
  return noMoreThan(clock, { at: since, value, seq: event.seq });
}

/**
 * What the kubelet wrote was written after its stamp: the apiserver's second bounds the node's clock where delivery was
 * slow. It is believed where nothing contradicts it: it may be the second of another server than ours, whose clock is off.
 */
export function withCreations(trace: Trace, deletion: Deletion, clock: Clock): Clock {
  const events = trace.events.flatMap((event) => {
    const created = event.component === 'kubelet' ? createdAt(event, deletion) : undefined;
    return event.named === undefined || !created ? [] : [signOf(event.named, created, event.seq)];
  });
  return [...events, ...signsBefore(trace, deletion)]
    .filter(({ at }) => Number.isFinite(at))
    .filter(({ at, value }) => value <= offsetAt(clock, at).hi)
    .reduce(noLessThan, clock);
}

/** The node's clock had shown `stamp` when it was written. */
const signOf = (stamp: number, written: Span, seq: number): Bound => ({
  at: written.hi,
  value: stamp - written.hi,
  seq,
});

const signsBefore = ({ nodeSigns }: Trace, { api }: Deletion): Bound[] =>
  [nodeSigns.event, nodeSigns.lease].flatMap((sign) =>
    sign ? [signOf(sign.value.stamp, toClient(api, sign.value.written, sign.at + 1), sign.seq)] : [],
  );

/** When the apiserver wrote the Event, on the client's clock. */
const createdAt = ({ created, at }: Occurrence, { api }: Deletion): Span | undefined =>
  created && toClient(api, created, at + 1);

/**
 * An Event reaches the apiserver soon after its stamp, which bounds a node clock that is ahead. An Event that was held
 * back would bound it too low. So it is believed only where nothing contradicts it, and, since what a node that stood
 * still holds back agrees with itself, only where what the node
 * showed before says the same.
 */
export function withPostings(trace: Trace, deletion: Deletion, clock: Clock): Clock {
  return trace.events.reduce((next, event) => withPosting(trace, next, event, deletion), clock);
}

function withPosting(trace: Trace, clock: Clock, event: Occurrence, deletion: Deletion): Clock {
  if (event.component !== 'kubelet' || event.named === undefined || event.count > 1) return clock;
  const created = createdAt(event, deletion);
  const delivered = event.isOld ? -Infinity : event.at - millisecondsOf('delivery-lag');
  const lag = queued(event, trace.events) * millisecondsOf('event-lag');
  const posted = Math.max(created?.lo ?? -Infinity, delivered) - lag;
  if (!Number.isFinite(posted)) return clock;
  const limit = { at: Math.min(event.at, posted), value: event.named - posted, seq: event.seq };
  if (limit.value < offsetAt(clock, limit.at).lo) return clock;
  const isEarlier = created !== undefined && created.hi <= deletion.accepted.client.lo;
  return isEarlier || isWitnessed(witnesses(trace, deletion), limit, lag) ? noMoreThan(clock, limit) : clock;
}

/** What the node had shown when the deletion was accepted: nothing that it held back later was held back with it. */
const witnesses = (trace: Trace, deletion: Deletion): Bound[] =>
  [...deletion.facts.nodeClock.lower, ...signsBefore(trace, deletion)].filter(
    ({ at }) => at <= deletion.accepted.client.hi,
  );

/** A witness that came late itself says little: only one that is close to the limit has seen that it holds. */
function isWitnessed(bounds: readonly Bound[], limit: Bound, lag: number): boolean {
  const close = lag + millisecondsOf('delivery-lag') + second;
  return bounds.some(({ at, value }) => limit.value - value + driftOver(at - limit.at) <= close);
}

/** Events are posted one after the other (SIGNALS.md §2.1): its place in the queue, as far as it concerns this pod. */
function queued(event: Occurrence, all: readonly Occurrence[]): number {
  const { named = 0 } = event;
  const ahead = all.filter((one) => one.component === 'kubelet' && one.named !== undefined && one.named < named);
  return 1 + ahead.filter((one) => named - (one.named ?? 0) < burst).length;
}

/** ms: what was queued earlier has been posted by then. */
const burst = 10_000;

/**
 * A renewal of the node's Lease that a watch delivered as it came bounds a node clock that is ahead, as an Event does, and also
 * where the deletion makes no Event. It may have been held back too: one that contradicts what the node showed is dropped,
 * and where one has since the deletion, the node stands still or its clock was set: then none is believed.
 */
export function withRenewals(trace: Trace, deletion: Deletion, clock: Clock): Clock {
  const renewals = trace.nodeSigns.renewals.filter(({ at }) => !isAwayBy(trace, deletion, at));
  const limits = renewals.map((renewal) => renewedBy(trace, deletion, renewal));
  const isLate = (limit: Bound): boolean => limit.value < offsetAt(clock, limit.at).lo;
  if (limits.some((limit) => isLate(limit) && limit.at >= deletion.accepted.client.lo)) return clock;
  return limits
    .filter((limit) => Number.isFinite(limit.value) && !isLate(limit))
    .filter((limit) => isWitnessed(othersThan(limit, trace, deletion), limit, renewalLag))
    .reduce(noMoreThan, clock);
}

/** The node was not ready: what arrives then, or just after it, may have waited. */
const isAwayBy = ({ nodeReady }: Trace, { facts }: Deletion, by: number): boolean =>
  nodeReady.some(
    ({ value, at }) => value !== 'True' && at >= facts.seenAt && at <= by + millisecondsOf('delivery-lag'),
  );

const renewalLag = millisecondsOf('event-lag');

function renewedBy(trace: Trace, { api }: Deletion, { value: { stamp, written }, at, seq }: Fact<Renewal>): Bound {
  const delivered = deliverableSince(trace, 'lease', at) - millisecondsOf('delivery-lag');
  const stored = written ? toClient(api, written, at + 1).lo : -Infinity;
  const posted = Math.max(delivered, stored) - renewalLag;
  return { at: Math.min(at, posted), value: stamp - posted, seq };
}

/** What the node showed at any time, but for this sign itself: one that was held back agrees with itself. */
const othersThan = ({ seq }: Bound, trace: Trace, deletion: Deletion): Bound[] =>
  [...trace.clocks.node.lower, ...signsBefore(trace, deletion)].filter((one) => one.seq !== seq);
