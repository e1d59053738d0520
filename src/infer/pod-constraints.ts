/** The constraints that do not depend on how a container ended: Killings, exits, the removal, and the clocks. */
import { millisecondsOf, driftOver } from '../model/assumptions.ts';
import { noMoreThan, offsetAt, stepOf, toClient, upTo, type RemoteClock, type Bound } from '../model/clock.ts';
import { containersOf, isFinished } from '../model/pod.ts';
import { atLeast, atMost, earlierOf, second, type Span } from '../model/span.ts';
import { parseFloor, parseTime, requestedAt } from '../model/stamps.ts';
import {
  isRefused,
  type ContainerFacts,
  type Fact,
  type Occurrence,
  type Trace,
  type NodeSign,
} from '../model/trace.ts';
import { constrainChange, writtenAt, deliverableSince, deliveryLagOf } from './arrival.ts';
import { containerContext, mayBeKubeletsOwn, type ContainerContext } from './before-deletion.ts';
import { constrainExit } from './container-end.ts';
import type { DeletionContext, InferContext, Kubelet } from './context.ts';
import { belongs, loweredGraces, ranAtDeletion, requestTime, type Deletion, type Grace } from './deletion.ts';
import { cite, noLaterThan, onBothClocks, onClient, unbounded, type Estimate } from './estimate.ts';
import { moment, PodNetwork, driftOf } from './pod-network.ts';
import { isKubeletStart, isStopKilling, outlivedDeadline, startsNewAttempt } from './stop.ts';
import type { StreamName } from '../model/observation.ts';

export function contextOf(trace: Trace, deletion: Deletion): InferContext {
  const { killings, unusable } = stopsOf(trace, deletion);
  const unusableClocks = { node: unusable, api: stepOf(deletion.api) };
  const network = new PodNetwork(referencesOf(trace, deletion, killings), unusableClocks);
  const context = { trace, deletion, network };
  constrainOffset(network, 'node', trace.clocks.node);
  constrainOffset(network, 'api', deletion.api);
  constrainAcceptance(context);
  const specs = containersOf(deletion.pod);
  for (const { name } of specs) constrainStopping(context, name, killings.get(name) ?? []);
  for (const [name, facts] of trace.containers) constrainExit(network, name, facts);
  for (const [name, facts] of trace.containers) constrainStart(network, name, facts);
  constrainRemoval(context);
  if (!network.unusable.node && !network.unusable.api) {
    constrainByStorage(network, trace);
    constrainByPosts(network, trace, deletion);
  }
  const noticed = constrainNoticed(context, killings);
  const kubelet = { killings, noticed, grace: graceInForce(context, killings, noticed) };
  const inferContext = { ...context, kubelet, isLate: false };
  return { ...inferContext, isLate: specs.some((spec) => outlives(containerContext(inferContext, spec))) };
}

/** And nothing shows a second attempt to stop it. Without Events, the deadline counts from the kubelet's first sign. */
function outlives(container: ContainerContext): boolean {
  const { trace, network, kubelet, spec, killings, facts } = container;
  const ended = network.read(moment('exit', spec.name));
  // The kubelet ends a log once the runtime reports the exit.
  const logDue = (ended?.client.hi ?? Infinity) + millisecondsOf('log-end') + millisecondsOf('delivery-lag');
  if ((facts.log.ended?.at ?? -Infinity) > logDue) return true;
  const firstSign = isRefused(trace, 'events') ? kubelet.noticed : undefined;
  const start = killings.length === 1 ? network.read(moment('stopping', spec.name)) : firstSign;
  return start !== undefined && outlivedDeadline({ ...container, ended }, start);
}

/** Reference times close to the moments of the exit, so that there is little drift: the first Killing, and the request. */
function referencesOf(trace: Trace, deletion: Deletion, killings: Kubelet['killings']): PodNetwork['references'] {
  const client = deletion.facts.seenAt;
  const [firstKilling] = [...killings.values()].flatMap(([one]) => (one ? [one.time.lo] : [])).sort((a, b) => a - b);
  const roughly = (remote: RemoteClock): number => {
    const { lo } = offsetAt(remote, client);
    return client + (Number.isFinite(lo) ? lo : 0);
  };
  return {
    client,
    node: firstKilling ?? roughly(trace.clocks.node),
    api: requestTime(trace, deletion.facts)?.lo ?? roughly(deletion.api),
  };
}

function constrainAcceptance({ trace, deletion, network }: DeletionContext): void {
  const { client, evidence } = deletion.accepted;
  network.within('accepted', { client }, { because: 'the deletion was accepted (§1)', evidence });
  const asked = requestTime(trace, deletion.facts);
  const because = 'deletionTimestamp less the grace (§1 "First delete")';
  if (asked) network.stamp('api', 'accepted', asked, { because, evidence: [deletion.facts.seenSeq] });
}

/** K: by the Event's nanoseconds or, if it is repeated, by the second of its last occurrence (trap 19). */
function constrainStopping({ network }: DeletionContext, container: string, killings: readonly Occurrence[]): void {
  const [first] = killings;
  if (!first) return;
  const written = { fact: first, written: atMost(first.at + 1), stamp: first.time, clock: 'node' } as const;
  constrainChange(network, moment('stopping', container), { ...written, after: ['accepted'] });
}

/** A container is started before it is signalled. This matters if it was started after the deletion. */
function constrainStart(network: PodNetwork, container: string, { terminated }: ContainerFacts): void {
  const started = parseFloor(terminated?.value.startedAt);
  if (!terminated || !started) return;
  const proof = { because: 'startedAt: it had been started (§2 S2)', evidence: [terminated.seq] };
  network.stamp('node', moment('stop-signal', container), atLeast(started.lo), proof);
}

function constrainRemoval({ trace, network, deletion }: DeletionContext): void {
  const add = (name: string, fact: Fact<unknown>, after: string[], stamp?: Span): void =>
    constrainChange(network, name, { fact, written: writtenAt(trace, fact, 'pod'), after, stamp });
  const { terminal, finalDelete, gone } = trace;
  const exits = containersOf(deletion.pod).map(({ name }) => moment('exit', name));
  // The status waits for all containers (SIGNALS.md §2 S10, S12).
  const isDone = terminal !== undefined && !isFinished(deletion.pod);
  if (isDone) add('containers-done', terminal, ['accepted', ...exits.filter((exit) => network.has(exit))]);
  const done = isDone ? 'containers-done' : 'accepted';
  // On a running pod, grace 0 is a forced DELETE (trap 4).
  const isFinal = finalDelete && isFinished(finalDelete.value) && (isDone || ranAtDeletion(deletion));
  // It rewrites deletionTimestamp to now (SIGNALS.md §0 row 9); another DELETE may do so again.
  const stamp = parseFloor(finalDelete?.value.metadata.deletionTimestamp);
  if (isFinal) add('final-delete', finalDelete, [done], stamp && atLeast(stamp.lo));
  if (gone) add('removed', gone, [isFinal ? 'final-delete' : done]);
}

/** The Killings of this deletion, and whether the node's clock was set, as arrivals and causes bound it. */
function stopsOf(trace: Trace, deletion: Deletion) {
  const arrivals = trace.clocks.node;
  const killings = trace.events.filter(isStopKilling);
  // By what had arrived until then, as the clock may have been set since.
  const timeOf = ({ time, at }: Occurrence): Span => toClient(upTo(arrivals, at + 1), time, at + 1);
  const later = killings.filter((event) => belongs(deletion, event, timeOf(event)));
  const all = later.filter((event) => !mayBeKubeletsOwn(trace, deletion, event));
  // What the kubelet did because of the deletion came after its acceptance.
  const since = deletion.accepted.client.lo;
  const causes = all.map(({ time, seq }) => ({ at: since, value: time.hi - since, seq }));
  const caused = Number.isFinite(since) ? causes.reduce(noMoreThan, arrivals) : arrivals;
  return { killings: byContainer(all), unusable: stepOf(caused) };
}

function byContainer(events: readonly Occurrence[]): Map<string, Occurrence[]> {
  const nameOf = ({ about }: Occurrence): string => about.container ?? '';
  return new Map(events.map((event) => [nameOf(event), events.filter((other) => nameOf(other) === nameOf(event))]));
}

/** By the kubelet's first sign; without a Killing or status only at the latest. The Killings must be in the network. */
function constrainNoticed(
  { trace, deletion, network }: DeletionContext,
  killings: Kubelet['killings'],
): Estimate | undefined {
  const stops = [...killings.keys()].map((name) => network.read(moment('stopping', name), 'observed'));
  const { acknowledged } = trace;
  if (acknowledged) {
    const written = writtenAt(trace, acknowledged, 'pod');
    constrainChange(network, 'acknowledged', { fact: acknowledged, written, after: ['accepted'] });
  }
  const statuses = acknowledged ? [network.read('acknowledged', 'observed')] : [];
  const signs = stops.length + statuses.length > 0 ? [...stops, ...statuses] : lateSigns(trace, deletion);
  const [first, ...others] = signs;
  if (!first) return undefined;
  const earliest = others.reduce((a, b) => (b.client.hi < a.client.hi ? b : a), first);
  const sign = { ...earliest, ...onBothClocks((clock) => signs.map((one) => one[clock]).reduce(earlierOf)) };
  // If the kubelet has restarted, it may have known before.
  const isRestarted = trace.events.some((one) => isKubeletStart(one) && !one.isOld && one.time.lo <= sign.node.hi);
  network.follows('accepted', 'noticed', {}, { because: 'the kubelet acts on the deletion (§2 S1)' });
  const proof = { because: 'the first sign of the kubelet (§2 S3)', evidence: sign.evidence };
  network.within('noticed', isRestarted ? noLaterThan(sign) : sign, proof);
  return { ...network.read('noticed', sign.basis), evidence: cite(deletion.accepted.evidence, sign.evidence) };
}

/** In a terminating namespace, say: it accepts no Events. Only the kubelet (or PodGC) writes a terminal phase. */
function lateSigns(trace: Trace, deletion: Deletion): Estimate[] {
  if (!trace.terminal || !ranAtDeletion(deletion)) return [];
  const lines = [...trace.containers.values()]
    .flatMap(({ log }) => log.signalLines.find((line) => line.at >= deletion.facts.seenAt) ?? [])
    .map(({ value, at, seq }) => ({ ...onClient(atMost(at + 1), [seq]), node: atMost(value) }));
  return [...lines, onClient(atMost(trace.terminal.at + 1), [trace.terminal.seq])];
}

/** A later, shorter DELETE does not affect a running kill (trap 3). It counts for one that is tried again. */
function graceInForce(context: DeletionContext, killings: Kubelet['killings'], noticed = unbounded): Kubelet['grace'] {
  const { trace, deletion } = context;
  const first = Math.max(1, deletion.grace);
  const isRetried = trace.events.some((event) => startsNewAttempt(event) && !event.isOld);
  const kills = [...killings.values()].flat().map(({ at }) => at);
  const isRepeated = isRetried || kills.length > killings.size;
  const begun = isRetried ? Infinity : isRepeated ? Math.max(...kills) : Math.min(...kills);
  const lowered = loweredGraces(trace, deletion).filter(({ at }) => at - deliveryLagOf(trace) <= begun);
  const possible = lowered.filter((grace) => isRepeated || loweredSince(context, grace) <= noticed.client.hi);
  const certain = lowered.filter(({ at }) => at + 1 <= noticed.client.lo);
  const minOf = (graces: Grace[]): number => Math.min(first, ...graces.map(({ value }) => Math.max(1, value.grace)));
  const own = deletion.pod.spec.terminationGracePeriodSeconds;
  const likely = Math.max(minOf(certain), deletion.isWitnessed ? 0 : (own ?? 0));
  // An unseen grace (trap 2) may have been longer than the pod's own (SIGNALS.md §1 "Repeat delete").
  const mayBeLonger = !deletion.isWitnessed && (deletion.grace === 0 || deletion.grace !== own);
  return { min: minOf(possible), max: mayBeLonger ? Infinity : likely, likely };
}

/** The earliest client time of the write that lowered the grace, by its deadline (SIGNALS.md §1 "Repeat delete"). */
function loweredSince({ deletion, network }: DeletionContext, { value }: Grace): number {
  const { pod, accepted } = deletion;
  const stamp = parseTime(value.deadline);
  if (stamp === undefined || stamp - value.grace * second === requestedAt(pod)) return accepted.client.lo;
  return network.toClient('api', { lo: stamp, hi: stamp + second }).lo;
}

/**
 * Constrains how far a clock was ahead of the client's when it showed its reference time, by arrivals and answers. It is
 * certain, and carries no evidence, as it proves nothing about any moment.
 */
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
function constrainByStorage(network: PodNetwork, trace: Trace): void {
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
function constrainByPosts(network: PodNetwork, trace: Trace, deletion: Deletion): void {
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
