/** The constraints that do not depend on how a container ended: Killings, exits, the removal, and the clocks. */
import { offsetAt, stepOf, type RemoteClock } from '../model/clock.ts';
import { millisecondsOf } from '../model/assumptions.ts';
import { containersOf, isFinished } from '../model/pod.ts';
import { atLeast, atMost, type Span } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import { isRefused, type ContainerFacts, type Fact, type Occurrence, type Trace } from '../model/trace.ts';
import { constrainChange, writtenAt } from './arrival.ts';
import { containerContext, type ContainerContext } from './before-deletion.ts';
import { constrainByPosts, constrainByStorage, constrainClocks } from './clocks.ts';
import { constrainExit } from './container-end.ts';
import type { DeletionContext, InferContext, Kubelet } from './context.ts';
import { ranAtDeletion, requestTime, type Deletion } from './deletion.ts';
import { constrainNoticed, graceInForce, stopsOf } from './kubelet.ts';
import { moment, PodNetwork } from './pod-network.ts';
import { outlivedDeadline } from './stop.ts';

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
