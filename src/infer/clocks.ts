/**
 * What ties the clocks of the client, the API server and the node to one another (SIGNALS.md §5 "Clocks"): stamps that
 * arrived, and stamps of one clock that another one wrote down.
 */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import { offsetAt, type Bound, type Clock } from '../model/clock.ts';
import { second, type Span } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerFacts, Fact, Occurrence, Renewal, Trace } from '../model/trace.ts';
import { deliverableSince, deliveryLagOf } from './arrival.ts';
import type { Deletion } from './deletion.ts';
import type { Row } from './network.ts';
import { driftOf, type PodNetwork } from './pod-network.ts';

/** By arrivals and answers: what holds whatever happened. What ties clocks is no evidence of any one moment. */
export function stateClockFacts(network: PodNetwork, trace: Trace, { api }: Deletion): void {
  stateOffset(network, 'node', trace.clocks.node);
  stateOffset(network, 'api', api);
}

/** How far it is ahead, as what arrived shows it of the moment when it showed its reference stamp. */
function stateOffset(network: PodNetwork, origin: 'node' | 'api', clock: Clock): void {
  const { zeros, stepped } = network;
  if (stepped[origin]) return;
  const most = Math.max(...clock.lower.map(({ value }) => value));
  const { lo, hi } = offsetAt(clock, Number.isFinite(most) ? zeros[origin] - most : zeros.client);
  const ahead = zeros[origin] - zeros.client;
  const because = `stamps of the ${origin} clock that arrived`;
  network.state({ from: 'client', to: origin, min: ahead - hi, max: ahead - lo, because });
}

/** A stamp of the node's clock that the API server wrote down in a second of its own. */
interface Written {
  /** Node clock. */
  readonly stamp: number;
  /** API server's clock. */
  readonly written: Span;
  readonly seq: number;
}

/**
 * What the kubelet wrote was stored after its stamp. Weaker than causes: of several API servers another one may have
 * stored it, whose clock is off.
 */
export function stateStored(network: PodNetwork, trace: Trace): void {
  const { zeros, stepped } = network;
  if (stepped.node || stepped.api) return;
  for (const { stamp, written } of storedIn(trace)) {
    const [made, stored] = [stamp - zeros.node, written.hi - zeros.api];
    const max = stored - made + driftOf(made) + driftOf(stored);
    network.state({ from: 'api', to: 'node', max, because: 'an Event is stored after it was made' });
  }
}

function storedIn({ events, nodeSigns }: Trace): Written[] {
  const made = events.flatMap(({ component, named, created, seq }) =>
    component === 'kubelet' && named !== undefined && created ? [{ stamp: named, written: created, seq }] : [],
  );
  const signs = [nodeSigns.event, nodeSigns.lease].flatMap((sign) => (sign ? [{ ...sign.value, seq: sign.seq }] : []));
  return [...made, ...signs];
}

/** Something that the kubelet posted at once, as a rule: it was made at most so long before it was stored, or arrived. */
interface Posting {
  /** Node clock. */
  readonly stamp: number;
  /** API server's clock. */
  readonly written: Span | undefined;
  /** Client ms: it was stored no earlier, as it arrived on a stream that is alive. */
  readonly storedSince: number;
  readonly seq: number;
  /** ms */
  readonly lag: number;
  /** Made before the deletion: nothing that stands still by then can have held it back. */
  readonly isEarlier: boolean;
}

/**
 * The kubelet posts at once: that bounds a clock of its node that is ahead. What a node that stands still holds back would
 * bound it too low, and agrees with itself; so it counts only where something else that the node showed is close to it.
 */
export function statePromptness(network: PodNetwork, trace: Trace, deletion: Deletion): void {
  if (network.stepped.node || network.stepped.api) return;
  const early = witnesses(network, trace, deletion);
  for (const event of trace.events) {
    const posting = postingOf(trace, network, event, deletion);
    if (posting) statePosting(network, posting, early);
  }
  const renewals = trace.nodeSigns.renewals.filter(({ at }) => !isAwayBy(trace, deletion, at));
  const all = renewals.map((one) => renewalOf(trace, one));
  const late = all.some(
    (one) =>
      one.storedSince + deliveryLagOf(trace) >= deletion.accepted.client.lo &&
      rowsOf(network, one).some((row) => !network.allows(row)),
  );
  if (!late) for (const one of all) statePosting(network, one, { ...early, arrivals: trace.clocks.node.lower });
}

function statePosting(network: PodNetwork, posting: Posting, seen: Witnesses): void {
  for (const row of rowsOf(network, posting))
    if (posting.isEarlier || isWitnessed(network, row, posting, seen)) network.state(row);
}

/** Between its stamp and its arrival, or its being stored, lies no more than the lag. */
function rowsOf({ zeros }: PodNetwork, { stamp, written, storedSince, lag }: Posting): Row[] {
  const made = stamp - zeros.node;
  const arrived = storedSince - zeros.client;
  const delivered: Row = {
    from: 'client',
    to: 'node',
    min: arrived - lag - made - driftOf(made),
    because: 'delivery-lag',
  };
  if (!written) return Number.isFinite(arrived) ? [delivered] : [];
  const stored = written.lo - zeros.api;
  const min = stored - made - lag - driftOf(made) - driftOf(stored);
  return [{ from: 'api', to: 'node', min, because: 'event-lag' }, ...(Number.isFinite(arrived) ? [delivered] : [])];
}

interface Witnesses {
  readonly arrivals: readonly Bound[];
  readonly signs: readonly Written[];
}

/** What the node had shown when the deletion was accepted: nothing that it held back later was held back with it. */
const witnesses = (network: PodNetwork, trace: Trace, { facts, accepted }: Deletion): Witnesses => ({
  arrivals: facts.nodeClock.lower.filter(({ at }) => at <= accepted.client.hi),
  signs: [trace.nodeSigns.event, trace.nodeSigns.lease].flatMap((sign) =>
    sign && sign.value.written.hi - network.zeros.api <= second ? [{ ...sign.value, seq: sign.seq }] : [],
  ),
});

/** Another sign of the node is as close to it as two prompt ones are. */
function isWitnessed(network: PodNetwork, row: Row, { lag, seq }: Posting, { arrivals, signs }: Witnesses): boolean {
  const { zeros } = network;
  const close = lag + millisecondsOf('delivery-lag') + second;
  const earliest = (row.from === 'client' ? 0 : network.boundsOf('api', 'client').lo) + (row.min ?? -Infinity);
  const apiLatest = network.boundsOf('api', 'client').hi;
  const latest = [
    ...arrivals
      .filter((one) => one.seq !== seq)
      .map(({ at, value }) => zeros.node - value - zeros.client + driftOver(at - zeros.client)),
    ...signs
      .filter((one) => one.seq !== seq)
      .map(({ stamp, written }) => written.hi - zeros.api + apiLatest - (stamp - zeros.node)),
  ];
  return latest.some((one) => one - earliest <= close);
}

function postingOf(trace: Trace, network: PodNetwork, event: Occurrence, { accepted }: Deletion): Posting | undefined {
  const { zeros } = network;
  const { component, named, count, created, isOld, at, seq } = event;
  if (component !== 'kubelet' || named === undefined || count > 1) return undefined;
  const storedBy = (created?.hi ?? Infinity) - zeros.api + network.boundsOf('api', 'client').hi + zeros.client;
  return {
    stamp: named,
    written: created,
    storedSince: isOld ? -Infinity : deliverableSince(trace, 'events', at) - deliveryLagOf(trace),
    seq,
    lag: queued(event, trace.events) * millisecondsOf('event-lag'),
    isEarlier: storedBy <= accepted.client.lo,
  };
}

/** Events are posted one after the other (SIGNALS.md §2.1): its place in the queue, as far as it concerns this pod. */
function queued({ named = 0 }: Occurrence, all: readonly Occurrence[]): number {
  const ahead = all.filter((one) => one.component === 'kubelet' && one.named !== undefined && one.named < named);
  return 1 + ahead.filter((one) => named - (one.named ?? 0) < burst).length;
}

/** ms: what was queued earlier has been posted by then. */
const burst = 10_000;

const renewalOf = (trace: Trace, { value: { stamp, written }, at, seq }: Fact<Renewal>): Posting => ({
  stamp,
  written,
  storedSince: deliverableSince(trace, 'lease', at) - deliveryLagOf(trace),
  seq,
  lag: millisecondsOf('event-lag'),
  isEarlier: false,
});

/** The node was not ready: what arrives then, or just after it, may have waited. */
const isAwayBy = ({ nodeReady }: Trace, { facts }: Deletion, by: number): boolean =>
  nodeReady.some(
    ({ value, at }) => value !== 'True' && at >= facts.seenAt && at <= by + millisecondsOf('delivery-lag'),
  );

/**
 * A node's clock that was set back. Nothing proves it: what such a clock stamps only seems to come late. So what comes later
 * than it should, although its stream is alive, makes the clock doubtful: it is late, or the clock was set, and no instant
 * goes by the one alone. A log alone is late far more often than a clock is set: the end of one counts only where the
 * status of its container is as late. `others`: Killings that are older than the deletion by what the clock showed before.
 */
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
