/** The constraints that do not depend on how a container ended: Killings, exits, the removal, and the clocks. */
import { millisecondsOf } from '../model/assumptions.ts';
import { noMoreThan, offsetAt, stepOf, toClient, upTo, type RemoteClock } from '../model/clock.ts';
import { containersOf, isFinished } from '../model/pod.ts';
import { atLeast, atMost, earlierOf, second, type Span } from '../model/span.ts';
import { parseFloor, parseTime, requestedAt } from '../model/stamps.ts';
import { isRefused, type ContainerFacts, type Fact, type Occurrence, type Trace } from '../model/trace.ts';
import { constrainChange, writtenAt } from './arrival.ts';
import { containerContext, mayBeKubeletsOwn, type ContainerContext } from './before-deletion.ts';
import { constrainByPosts, constrainByStorage, constrainClocks } from './clocks.ts';
import { constrainExit } from './container-end.ts';
import type { DeletionContext, InferContext, Kubelet } from './context.ts';
import { belongs, loweredGraces, ranAtDeletion, requestTime, type Deletion, type Grace } from './deletion.ts';
import { cite, noLaterThan, onBothClocks, onClient, unbounded, type Estimate } from './estimate.ts';
import { moment, PodNetwork } from './pod-network.ts';
import { isKubeletStart, isStopKilling, outlivedDeadline } from './stop.ts';

export function contextOf(trace: Trace, deletion: Deletion): InferContext {
  const { killings, unusable } = stopsOf(trace, deletion);
  const unusableClocks = { node: unusable, api: stepOf(deletion.api) };
  const network = new PodNetwork(referencesOf(trace, deletion, killings), unusableClocks);
  const context = { trace, deletion, network };
  constrainClocks(network, trace, deletion);
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
  const kubelet = { killings, noticed, grace: graceInForce(context, noticed) };
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

/** Constrains when the pod became Succeeded or Failed, when the kubelet sent its last DELETE, and the removal. */
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

/** A later, shorter DELETE does not affect a running kill (trap 3). */
function graceInForce(context: DeletionContext, noticed = unbounded): Kubelet['grace'] {
  const { trace, deletion } = context;
  const first = Math.max(1, deletion.grace);
  const lowered = loweredGraces(trace, deletion);
  const since = noticed.client;
  const possible = lowered.filter((grace) => loweredSince(context, grace) <= since.hi);
  const certain = lowered.filter(({ at }) => at + 1 <= since.lo);
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
