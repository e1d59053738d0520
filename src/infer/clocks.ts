/** Constraints between the clocks of client, API server and node (SIGNALS.md §5 "Clocks"), from their timestamps. */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import { offsetAt, type Bound, type RemoteClock } from '../model/clock.ts';
import { second } from '../model/span.ts';
import type { Fact, NodeSign, Occurrence, Trace } from '../model/trace.ts';
import { deliverableSince, deliveryLagOf } from './arrival.ts';
import type { Deletion } from './deletion.ts';
import type { Constraint } from './network.ts';
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

/** An Event, or a renewal of the Lease. The kubelet normally posts it at most `lag` after its timestamp. */
interface Post extends NodeSign {
  /** The earliest client time (ms) at which it can have been stored, as its stream was alive. */
  readonly storedSince: number;
  readonly seq: number;
  readonly lag: number;
  /** It was stored before the deletion, so a pause of the node since then did not delay it. */
  readonly isEarlier: boolean;
}

/** The kubelet posts promptly. A paused node posts late, so a post counts only if another sign confirms it. */
export function constrainByPosts(network: PodNetwork, trace: Trace, deletion: Deletion): void {
  const earlySigns = signsBefore(network, trace, deletion);
  for (const event of trace.events) {
    const post = postOf(trace, network, event, deletion);
    if (post) constrainByPost(network, post, earlySigns);
  }
  const signs = { ...earlySigns, arrivals: trace.clocks.node.lower };
  for (const renewal of trace.nodeSigns.renewals)
    if (!isNotReadyBy(trace, deletion, renewal.at)) constrainByPost(network, renewalOf(trace, renewal), signs);
}

function constrainByPost(network: PodNetwork, post: Post, signs: NodeSigns): void {
  for (const constraint of constraintsOf(network, post))
    if (post.isEarlier || isConfirmed(network, constraint, post, signs)) network.add(constraint);
}

/** It was stored, and arrived, at most the lag after its timestamp. */
function constraintsOf({ references }: PodNetwork, { stamp, written, storedSince, lag }: Post): Constraint[] {
  const made = stamp - references.node;
  const arrived = storedSince - references.client;
  const delivered: Constraint = {
    from: 'client',
    to: 'node',
    min: arrived - lag - made - driftOf(made),
    because: 'delivery-lag',
  };
  if (!written) return Number.isFinite(arrived) ? [delivered] : [];
  const stored = written.lo - references.api;
  const min = stored - made - lag - driftOf(made) - driftOf(stored);
  return [{ from: 'api', to: 'node', min, because: 'event-lag' }, ...(Number.isFinite(arrived) ? [delivered] : [])];
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
function isConfirmed(network: PodNetwork, constraint: Constraint, { lag, seq }: Post, signs: NodeSigns): boolean {
  const { references } = network;
  const closeMs = lag + millisecondsOf('delivery-lag') + second;
  const api = network.boundsOf('api', 'client');
  const earliest = (constraint.from === 'client' ? 0 : api.lo) + (constraint.min ?? -Infinity);
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

function postOf(trace: Trace, network: PodNetwork, event: Occurrence, { accepted }: Deletion): Post | undefined {
  const { references } = network;
  const { component, named, count, created, isOld, at, seq } = event;
  if (component !== 'kubelet' || named === undefined || count > 1) return undefined;
  const apiLatest = network.boundsOf('api', 'client').hi;
  const storedBy = (created?.hi ?? Infinity) - references.api + apiLatest + references.client;
  return {
    stamp: named,
    written: created,
    storedSince: isOld ? -Infinity : deliverableSince(trace, 'events', at) - deliveryLagOf(trace),
    seq,
    lag: placeInQueue(event, trace.events) * millisecondsOf('event-lag'),
    isEarlier: storedBy <= accepted.client.lo,
  };
}

/** The kubelet posts Events one after the other (SIGNALS.md §2.1). This counts only this pod's Events. */
function placeInQueue({ named = 0 }: Occurrence, all: readonly Occurrence[]): number {
  const isAhead = ({ component, named: other = Infinity }: Occurrence): boolean =>
    component === 'kubelet' && other < named && named - other < 10_000;
  return 1 + all.filter(isAhead).length;
}

const renewalOf = (trace: Trace, { value, at, seq }: Fact<NodeSign>): Post => ({
  ...value,
  storedSince: deliverableSince(trace, 'lease', at) - deliveryLagOf(trace),
  seq,
  lag: millisecondsOf('event-lag'),
  isEarlier: false,
});

/** Whether the node was NotReady: posts that arrive during that time, or just after it, may be late. */
const isNotReadyBy = ({ nodeReady }: Trace, { facts }: Deletion, arrivedAt: number): boolean =>
  nodeReady.some(
    ({ value, at }) => value !== 'True' && at >= facts.seenAt && at <= arrivedAt + millisecondsOf('delivery-lag'),
  );
