/** Constraints between the clocks of client, API server and node (SIGNALS.md §5 "Clocks"), from their timestamps. */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import { offsetAt, type Bound, type RemoteClock } from '../model/clock.ts';
import type { StreamName } from '../model/observation.ts';
import { second, type Span } from '../model/span.ts';
import type { Fact, NodeSign, Occurrence, Trace } from '../model/trace.ts';
import { deliverableSince, deliveryLagOf } from './arrival.ts';
import type { Deletion } from './deletion.ts';
import { driftOf, type PodNetwork } from './pod-network.ts';

/** Certain constraints, by arrivals and answers. They carry no evidence, as they prove nothing about any moment. */
export function constrainClocks(network: PodNetwork, trace: Trace, { api }: Deletion): void {
  constrainOffset(network, 'node', trace.clocks.node);
  constrainOffset(network, 'api', api);
}

/** Constrains how far a clock was ahead of the client's when it showed its reference time. */
function constrainOffset(network: PodNetwork, origin: 'node' | 'api', clock: RemoteClock): void {
  const { references, unusable } = network;
  if (unusable[origin]) return;
  const offset = Math.max(...clock.lower.map(({ value }) => value));
  const { lo, hi } = offsetAt(clock, Number.isFinite(offset) ? references[origin] - offset : references.client);
  const ahead = references[origin] - references.client;
  const because = `stamps of the ${origin} clock that arrived`;
  network.add({ from: 'client', to: origin, min: ahead - hi, max: ahead - lo, because });
}

/** What the kubelet wrote is stored later. Less certain than causes: another API server's wrong clock may date it. */
export function constrainByStorage(network: PodNetwork, trace: Trace): void {
  const { references } = network;
  const made = trace.events.flatMap(({ component, named, created }) =>
    component === 'kubelet' && named !== undefined && created ? [{ stamp: named, written: created }] : [],
  );
  for (const { stamp, written } of [...made, ...signsIn(trace).map(({ value }) => value)]) {
    const [since, stored] = [stamp - references.node, written.hi - references.api];
    const max = stored - since + driftOf(since) + driftOf(stored);
    network.add({ from: 'api', to: 'node', max, because: 'an Event is stored after it was made' });
  }
}

const signsIn = ({ nodeSigns: { event, lease } }: Trace): Fact<Required<NodeSign>>[] =>
  [event, lease].flatMap((sign) => sign ?? []);

/** The kubelet posts promptly. A paused node posts late, so a post counts only if another sign confirms it. */
export function constrainByPosts(network: PodNetwork, trace: Trace, deletion: Deletion): void {
  const { references } = network;
  const arrived = (stream: StreamName, at: number): Post['since'] => [
    'client',
    deliverableSince(trace, stream, at) - deliveryLagOf(trace) - references.client,
  ];
  const stored = (written: Span): Post['since'] => {
    const since = written.lo - references.api;
    return ['api', since - driftOf(since)];
  };
  const earlySigns = signsBefore(network, trace, deletion);
  const eventLag = millisecondsOf('event-lag');
  for (const event of trace.events) {
    const { component, named, count, created, isOld, at, seq } = event;
    if (component !== 'kubelet' || named === undefined || count > 1 || !created) continue;
    const post = { stamp: named, seq, lag: placeInQueue(event, trace.events) * eventLag };
    const storedBy = created.hi - references.api + network.boundsOf('api', 'client').hi + references.client;
    // A pause of the node since the deletion did not delay what was stored before it.
    const signs = storedBy <= deletion.accepted.client.lo ? undefined : earlySigns;
    constrainByPost(network, { ...post, since: stored(created) }, signs);
    if (!isOld) constrainByPost(network, { ...post, since: arrived('events', at) }, signs);
  }
  const signs = { ...earlySigns, arrivals: trace.clocks.node.lower };
  for (const { value, at, seq } of trace.nodeSigns.renewals) {
    const post = { stamp: value.stamp, seq, lag: eventLag };
    if (value.written) constrainByPost(network, { ...post, since: stored(value.written) }, signs);
    constrainByPost(network, { ...post, since: arrived('lease', at) }, signs);
  }
}

/** An Event, or a renewal of the Lease. The kubelet normally posts it at most `lag` after its timestamp. */
interface Post {
  readonly stamp: number;
  readonly seq: number;
  readonly lag: number;
  /** It was stored, or arrived, no earlier than this long after the reference time of that clock. */
  readonly since: readonly [from: 'api' | 'client', ms: number];
}

/** Without `signs`, it needs no confirmation. */
function constrainByPost(network: PodNetwork, post: Post, signs: NodeSigns | undefined): void {
  const [from, since] = post.since;
  const made = post.stamp - network.references.node;
  const min = since - made - post.lag - driftOf(made);
  const earliest = network.boundsOf(from, 'client').lo + min;
  if (Number.isFinite(min) && (!signs || isConfirmed(network, earliest, post, signs)))
    network.add({ from, to: 'node', min, because: from === 'api' ? 'event-lag' : 'delivery-lag' });
}

interface NodeSigns {
  readonly arrivals: readonly Bound[];
  readonly stored: readonly Fact<Required<NodeSign>>[];
}

/** The node's signs from before the deletion was accepted. A later pause of the node did not delay them. */
const signsBefore = (network: PodNetwork, trace: Trace, { facts, accepted }: Deletion): NodeSigns => ({
  arrivals: facts.nodeClock.lower.filter(({ at }) => at <= accepted.client.hi),
  stored: signsIn(trace).filter(({ value }) => value.written.hi - network.references.api <= second),
});

/** Whether another sign of the node implies nearly the same offset, as two prompt ones do. */
function isConfirmed(network: PodNetwork, earliest: number, { lag, seq }: Post, signs: NodeSigns): boolean {
  const { references } = network;
  const closeMs = lag + millisecondsOf('delivery-lag') + second;
  const api = network.boundsOf('api', 'client');
  const latest = [
    ...signs.arrivals
      .filter((bound) => bound.seq !== seq)
      .map(({ at, value }) => references.node - value - references.client + driftOver(at - references.client)),
    ...signs.stored
      .filter((sign) => sign.seq !== seq)
      .map(({ value: { stamp, written } }) => written.hi - references.api + api.hi - (stamp - references.node)),
  ];
  return latest.some((one) => one - earliest <= closeMs);
}

/** The kubelet posts Events one after the other (SIGNALS.md §2.1). This counts only this pod's Events. */
function placeInQueue({ named = 0 }: Occurrence, all: readonly Occurrence[]): number {
  const isAhead = ({ component, named: other = Infinity }: Occurrence): boolean =>
    component === 'kubelet' && other < named && named - other < 10_000;
  return 1 + all.filter(isAhead).length;
}
