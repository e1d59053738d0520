/** What is known before any container is judged, as rows: Killings, ends, what a probe of the pod proves, and the clocks. */
import { offsetAt, type Clock } from '../model/clock.ts';
import { containersOf } from '../model/pod.ts';
import { atLeast, atMost } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerFacts, Occurrence, Trace } from '../model/trace.ts';
import { factsOfLastRun } from './before-deletion.ts';
import { stateClockFacts, statePromptness, stateStored } from './clocks.ts';
import { stateEnd } from './container-end.ts';
import type { DeletionContext, InferContext } from './context.ts';
import { requestTime, type Deletion } from './deletion.ts';
import { kubeletOf, stopsOf, type Stops } from './kubelet.ts';
import { PodNetwork, moment } from './pod-network.ts';
import { probeResultsOf } from './probes.ts';

export function contextOf(trace: Trace, deletion: Deletion): InferContext {
  const stops = stopsOf(trace, deletion);
  const network = new PodNetwork(zerosOf(trace, deletion, stops), { node: stops.clock, api: deletion.api });
  const known = { trace, deletion, network };
  stateClockFacts(network, trace, deletion);
  stateAcceptance(known);
  const specs = containersOf(deletion.facts.first.value);
  for (const { name } of specs) stateStopping(known, name, stops.killings.get(name) ?? []);
  for (const { name } of specs) stateEnd(network, name, factsOfLastRun(known, name));
  for (const { name } of specs) stateStart(network, name, factsOfLastRun(known, name));
  stateServed(known);
  stateStored(network, trace);
  statePromptness(network, trace, deletion);
  return { ...known, kubelet: kubeletOf(known, stops) };
}

/** References close to what is compared, so that little drift lies between: the first Killing, the second of the request. */
function zerosOf(trace: Trace, deletion: Deletion, { killings, clock }: Stops): PodNetwork['zeros'] {
  const client = deletion.facts.seenAt;
  const [first] = [...killings.values()].flatMap(([one]) => (one ? [one.time.lo] : [])).sort((a, b) => a - b);
  const roughly = (one: Clock): number => {
    const { lo } = offsetAt(one, client);
    return client + (Number.isFinite(lo) ? lo : 0);
  };
  const node = trace.clocks.node.lower.length > 0 ? trace.clocks.node : clock;
  return {
    client,
    node: first ?? roughly(node),
    api: requestTime(trace, deletion.facts)?.lo ?? roughly(deletion.api),
  };
}

function stateAcceptance({ trace, deletion, network }: DeletionContext): void {
  const { client, evidence } = deletion.accepted;
  network.within('accepted', { client }, { because: 'the deletion was accepted (§1)', evidence });
  const asked = requestTime(trace, deletion.facts);
  const because = 'deletionTimestamp less the grace (§1 "First delete")';
  if (asked) network.stamp('api', 'accepted', asked, client.hi, { because, evidence: [deletion.facts.seenSeq] });
}

/** K: the Event's own nanoseconds; a repeated Event only has the second of its last occurrence (trap 19). */
function stateStopping(
  { deletion, network }: DeletionContext,
  container: string,
  killings: readonly Occurrence[],
): void {
  const [first] = killings;
  if (!first) return;
  const at = moment('stopping', container);
  const evidence = [first.seq];
  network.within(at, { client: atMost(first.at + 1) }, { because: 'Killing had arrived', evidence });
  network.stamp(
    'node',
    at,
    first.time,
    first.at + 1,
    { because: 'Killing is made before the hook (§2 S5)', evidence },
    deletion.accepted.client.lo,
  );
  network.follows('accepted', at, {}, { because: 'the kubelet acts on the deletion (§2 S1)' });
}

/** A container is started before it is signalled. This matters for one that was started after the deletion had begun. */
function stateStart(network: PodNetwork, container: string, { terminated }: ContainerFacts): void {
  const started = parseFloor(terminated?.value.startedAt);
  if (!terminated || !started) return;
  const proof = { because: 'startedAt: it had been started (§2 S2)', evidence: [terminated.seq] };
  network.stamp('node', moment('stop-signal', container), atLeast(started.lo), terminated.at + 1, proof);
}

/**
 * A request that it answered was sent while it took requests, and so while it lived; where the port refuses, it takes none any
 * more. Said of one container alone: of several nobody knows which one answered. And only where the pod alone can have
 * answered: neither a node's address nor a name that its successor has (StatefulSet, bare pods) says which pod did, nor does an
 * address that answers after the container's end is known.
 */
function stateServed({ trace, deletion, network }: DeletionContext): void {
  const { metadata, spec } = deletion.facts.first.value;
  const [only, ...others] = containersOf(deletion.facts.first.value);
  const { uid, ownerReferences = [] } = metadata;
  const isOwnName = ownerReferences.some(({ kind }) => ['ReplicaSet', 'DaemonSet', 'Job'].includes(kind));
  if (!only || others.length > 0 || !isOwnName || spec.hostNetwork === true) return;
  const endKnownAt = trace.containers.get(only.name)?.terminated?.at ?? Infinity;
  const [served, exit] = [moment('served', only.name), moment('exit', only.name)];
  for (const { answered, refusedBy, pod } of probeResultsOf(trace.probes, {})) {
    if (pod !== uid || !answered || answered.last >= endKnownAt) continue;
    network.follows(served, exit, {}, { because: 'it answers while it lives' });
    network.within(
      served,
      { client: atLeast(answered.last) },
      { because: 'it answered a request that was sent then', evidence: [answered.seq] },
    );
    if (refusedBy)
      network.within(
        served,
        { client: atMost(refusedBy.at + 1) },
        { because: 'its port refused a connection', evidence: [refusedBy.seq] },
      );
  }
}
