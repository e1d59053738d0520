/** What is known before any container is judged, as rows: Killings, ends, what a probe of the pod proves, and the clocks. */
import { millisecondsOf } from '../model/assumptions.ts';
import { offsetAt, type Clock } from '../model/clock.ts';
import { containersOf } from '../model/pod.ts';
import { atLeast, atMost } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerFacts, Occurrence, Trace } from '../model/trace.ts';
import { requestTime, type Deletion } from './deletion.ts';
import { kubeletOf, stopsOf, type Stops } from './kubelet.ts';
import type { InferContext, Staged } from './context.ts';
import { factsOfLastRun } from './was-running.ts';
import { stateClockFacts, statePromptness, stateStored } from './clocks.ts';
import { Stage, moment } from './stage.ts';
import type { Estimate } from './estimate.ts';
import { probeResultsOf } from './probes.ts';

/** The stage with all that is known before any container is judged. */
export function podNetworkOf(trace: Trace, deletion: Deletion): InferContext {
  const stops = stopsOf(trace, deletion);
  const stage = new Stage(zerosOf(trace, deletion, stops), { node: stops.clock, api: deletion.api });
  const known = { trace, deletion, stage };
  stateClockFacts(stage, trace, deletion);
  stateAcceptance(known);
  const specs = containersOf(deletion.facts.first.value);
  for (const { name } of specs) stateStopping(known, name, stops.killings.get(name) ?? []);
  for (const { name } of specs) stateEnd(stage, name, factsOfLastRun(known, name));
  stateServed(known);
  stateStored(stage, trace);
  statePromptness(stage, trace, deletion);
  return { ...known, kubelet: kubeletOf(known, stops) };
}

/** References close to what is compared, so that little drift lies between: the first Killing, the second of the request. */
function zerosOf(trace: Trace, deletion: Deletion, { killings, clock }: Stops): Stage['zeros'] {
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

function stateAcceptance({ trace, deletion, stage }: Staged): void {
  const { client, evidence } = deletion.accepted;
  stage.within('accepted', { client }, { because: 'the deletion was accepted (§1)', evidence });
  const asked = requestTime(trace, deletion.facts);
  const because = 'deletionTimestamp less the grace (§1 "First delete")';
  if (asked) stage.stamp('api', 'accepted', asked, client.hi, { because, evidence: [deletion.facts.seenSeq] });
}

/** K: the Event's own nanoseconds; a repeated Event only has the second of its last occurrence (trap 19). */
function stateStopping({ deletion, stage }: Staged, container: string, killings: readonly Occurrence[]): void {
  const [first] = killings;
  if (!first) return;
  const at = moment('stopping', container);
  const evidence = [first.seq];
  stage.within(at, { client: atMost(first.at + 1) }, { because: 'Killing had arrived', evidence });
  stage.stamp(
    'node',
    at,
    first.time,
    first.at + 1,
    { because: 'Killing is made before the hook (§2 S5)', evidence },
    deletion.accepted.client.lo,
  );
  stage.follows('accepted', at, {}, { because: 'the kubelet acts on the deletion (§2 S1)' });
}

/** The status of an end: [finishedAt, + 1 s) on the node's clock, and it had arrived. */
function stateEnd(stage: Stage, container: string, facts: ContainerFacts): void {
  const { terminated, log } = facts;
  const finished = parseFloor(terminated?.value.finishedAt);
  if (!terminated || !finished || isMadeUp(terminated.value.reason, terminated.value.exitCode)) return;
  const at = moment('exit', container);
  const evidence = [terminated.seq];
  stage.within(
    at,
    { client: atMost(terminated.at + 1) },
    { because: 'the status of its end had arrived (§2 S12)', evidence },
  );
  stage.stamp('node', at, finished, terminated.at + 1, { because: 'finishedAt (§5)', evidence });
  const line = log.lastLine;
  // Of a clock that was set, what it showed before does not come before what it showed after.
  if (!line || stage.stepped.node) return;
  stage.stamp('node', at, atLeast(line.value - millisecondsOf('log-stamp-lag')), line.at + 1, {
    because: 'log-stamp-lag',
    evidence: [line.seq],
  });
}

/** 137 ContainerStatusUnknown is made up by the kubelet (trap 24); 255 Unknown is a runtime that lost the status (§5). */
export const isMadeUp = (reason: string | undefined, code: number): boolean =>
  reason === 'ContainerStatusUnknown' || (reason === 'Unknown' && code === 255);

/**
 * A request that it answered was sent while it took requests, and so while it lived; where the port refuses, it takes none any
 * more. Said of one container alone: of several nobody knows which one answered. And only where the pod alone can have
 * answered: neither a node's address nor a name that its successor has (StatefulSet, bare pods) says which pod did, nor does an
 * address that answers after the container's end is known.
 */
function stateServed({ trace, deletion, stage }: Pick<InferContext, 'trace' | 'deletion'> & { stage: Stage }): void {
  const { metadata, spec } = deletion.facts.first.value;
  const [only, ...others] = containersOf(deletion.facts.first.value);
  const { uid, ownerReferences = [] } = metadata;
  const isOwnName = ownerReferences.some(({ kind }) => ['ReplicaSet', 'DaemonSet', 'Job'].includes(kind));
  if (!only || others.length > 0 || !isOwnName || spec.hostNetwork === true) return;
  const endKnownAt = trace.containers.get(only.name)?.terminated?.at ?? Infinity;
  const [served, exit] = [moment('served', only.name), moment('exit', only.name)];
  for (const { answered, refusedBy, pod } of probeResultsOf(trace.probes, {})) {
    if (pod !== uid || !answered || answered.last >= endKnownAt) continue;
    stage.follows(served, exit, {}, { because: 'it answers while it lives' });
    stage.within(
      served,
      { client: atLeast(answered.last) },
      { because: 'it answered a request that was sent then', evidence: [answered.seq] },
    );
    if (refusedBy)
      stage.within(
        served,
        { client: atMost(refusedBy.at + 1) },
        { because: 'its port refused a connection', evidence: [refusedBy.seq] },
      );
  }
}

/** Undefined where no probe asked it, or nothing bounds when it stopped. */
export function servedOf({ stage }: { stage: Stage }, container: string): Estimate | undefined {
  const at = moment('served', container);
  const known = stage.net.has(at) ? stage.read(at) : undefined;
  return known && Number.isFinite(known.client.lo) && Number.isFinite(known.client.hi) ? known : undefined;
}
