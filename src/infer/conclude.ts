/**
 * Everything that can be concluded from a trace. Pure, and fast enough to run after each observation. First come the
 * constraints that do not depend on how a container ended: Killings, exits, results of pod probes, and the clocks.
 */
import { offsetAt, type RemoteClock } from '../model/clock.ts';
import type { Observation } from '../model/observation.ts';
import { containersOf } from '../model/pod.ts';
import { atLeast, atMost, laterOf } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerFacts, Occurrence, Trace } from '../model/trace.ts';
import { endpointsOf } from './after-containers.ts';
import { factsOfLastRun, willStart } from './before-deletion.ts';
import { constrainByPosts, constrainByStorage, constrainClocks } from './clocks.ts';
import { constrainExit } from './container-end.ts';
import { containerContext, containerExit } from './container-rules.ts';
import {
  reportedExit,
  type ContainerContext,
  type ContainerExit,
  type DeletionContext,
  type InferContext,
  type PodExit,
} from './context.ts';
import { deletionOf, requestTime, type Deletion } from './deletion.ts';
import { cite, onBothClocks, unbounded, type Estimate } from './estimate.ts';
import { kubeletOf, stopsOf, type Stops } from './kubelet.ts';
import { moment, PodNetwork } from './pod-network.ts';
import { probeResultsOf } from './probes.ts';
import { replacementOf } from './replacement.ts';
import { outlivedDeadline } from './stop.ts';
import { timelineFrom } from './timeline-from.ts';
import type { Timeline } from './timeline.ts';
import { triggerOf } from './trigger.ts';

/** Undefined until the pod is seen. `context`: what verdicts need beside the timeline; undefined if no deletion was seen. */
export function conclude(trace: Trace): { timeline: Timeline; context: DeletionContext | undefined } | undefined {
  if (!trace.pod) return undefined;
  const exit = podExitOf(trace);
  return { timeline: timelineFrom(trace, exit, exit?.deletion.pod ?? trace.pod.value), context: exit };
}

export const timelineOf = (trace: Trace): Timeline | undefined => conclude(trace)?.timeline;

function podExitOf(trace: Trace): PodExit | undefined {
  const deletion = deletionOf(trace);
  if (!deletion) return undefined;
  const context = contextOf(trace, deletion);
  const containers = containersIn(context);
  const trigger = triggerOf(trace, deletion);
  return {
    ...context,
    containers,
    endpoints: endpointsOf(context, containers),
    replacement: replacementOf(context, trigger.kind),
    trigger,
  };
}

/**
 * Main containers stop together, sidecars after them in reverse order (SIGNALS.md §2 S7). Returned in the order of the
 * report: main containers, sidecars, init and ephemeral containers, each as in the spec.
 */
function containersIn(context: InferContext): ContainerExit[] {
  const specs = containersOf(context.deletion.pod);
  const nonSidecars = specs.filter(({ kind }) => kind !== 'sidecar').map((spec) => containerExit(context, spec));
  const mains = nonSidecars.filter(({ spec }) => spec.kind === 'container');
  const noMainRunning = mains.every(
    ({ ran, mayHaveEndedBefore, spec }) => (!ran || mayHaveEndedBefore === true) && !willStart(context.deletion, spec),
  );
  let turn = mains.reduce<Estimate | undefined>((latest, exit) => turnAfter(context, latest, exit), undefined);
  const sidecars = specs.filter(({ kind }) => kind === 'sidecar').reverse();
  const stopped = sidecars.map((spec) => {
    const exit = containerExit(context, spec, turn, noMainRunning);
    turn = turnAfter(context, turn, exit);
    return exit;
  });
  // A sidecar's exit does not prove that its turn had come: it may have died of another signal.
  const exits = [...nonSidecars, ...stopped];
  return order.flatMap((kind) => exits.filter(({ spec }) => spec.kind === kind));
}

const order = ['container', 'sidecar', 'init', 'ephemeral'] as const;

/** The turn of the next sidecar: after `latest`, the turn of the one before it, and after this container. */
function turnAfter(
  context: InferContext,
  latest: Estimate | undefined,
  container: ContainerExit,
): Estimate | undefined {
  if (!container.ran) return latest;
  const end = doneWith(context, container);
  return latest ? later(latest, end) : end;
}

/**
 * When the kubelet was done with a container: after its exit and its hook, as a sleep goes on after the exit. At any
 * time if the exit is not known. A kill that is only assumed is no longer in the network (container-rules.ts), so it
 * does not date another's turn.
 */
function doneWith({ network }: InferContext, container: ContainerExit): Estimate {
  const { spec, hook, assumes } = container;
  const exit = reportedExit(container);
  if (!exit) return unbounded;
  const at = assumes.includes('silent-kill') ? network.read(moment('exit', spec.name)) : exit;
  if (!hook) return at;
  const end = later(at, hook.end);
  if (!hook.mayNotHaveRun) return end;
  return { ...end, ...onBothClocks((clock) => ({ lo: at[clock].lo, hi: end[clock].hi })) };
}

const later = (a: Estimate, b: Estimate): Estimate => ({
  ...onBothClocks((clock) => laterOf(a[clock], b[clock])),
  basis: 'inferred',
  evidence: cite(a.evidence, b.evidence),
});

function contextOf(trace: Trace, deletion: Deletion): InferContext {
  const stops = stopsOf(trace, deletion);
  const network = new PodNetwork(referencesOf(trace, deletion, stops), { node: stops.clock, api: deletion.api });
  const context = { trace, deletion, network };
  constrainClocks(network, trace, deletion);
  constrainAcceptance(context);
  const specs = containersOf(deletion.pod);
  for (const { name } of specs) constrainStopping(context, name, stops.killings.get(name) ?? []);
  for (const { name } of specs) constrainExit(network, name, factsOfLastRun(context, name));
  for (const { name } of specs) constrainStart(network, name, factsOfLastRun(context, name));
  constrainServed(context);
  constrainByStorage(network, trace);
  constrainByPosts(network, trace, deletion);
  const kubelet = kubeletOf(context, stops.killings);
  const inferContext = { ...context, kubelet, isLate: false };
  return { ...inferContext, isLate: specs.some((spec) => outlives(containerContext(inferContext, spec))) };
}

/** Whether a container outlived its deadline, and nothing shows a second attempt to stop it. */
function outlives(container: ContainerContext): boolean {
  const { network, spec, killings } = container;
  const ended = network.read(moment('exit', spec.name));
  return (
    killings.length === 1 && outlivedDeadline({ ...container, ended }, network.read(moment('stopping', spec.name)))
  );
}

/** Reference times close to the moments of the exit, so that there is little drift: the first Killing, and the request. */
function referencesOf(trace: Trace, deletion: Deletion, { killings, clock }: Stops): PodNetwork['references'] {
  const client = deletion.facts.seenAt;
  const [firstKilling] = [...killings.values()].flatMap(([one]) => (one ? [one.time.lo] : [])).sort((a, b) => a - b);
  const roughly = (remote: RemoteClock): number => {
    const { lo } = offsetAt(remote, client);
    return client + (Number.isFinite(lo) ? lo : 0);
  };
  const node = trace.clocks.node.lower.length > 0 ? trace.clocks.node : clock;
  return {
    client,
    node: firstKilling ?? roughly(node),
    api: requestTime(trace, deletion.facts)?.lo ?? roughly(deletion.api),
  };
}

function constrainAcceptance({ trace, deletion, network }: DeletionContext): void {
  const { client, evidence } = deletion.accepted;
  network.within('accepted', { client }, { because: 'the deletion was accepted (§1)', evidence });
  const asked = requestTime(trace, deletion.facts);
  const because = 'deletionTimestamp less the grace (§1 "First delete")';
  if (asked) network.stamp('api', 'accepted', asked, client.hi, { because, evidence: [deletion.facts.seenSeq] });
}

/** K: by the Event's nanoseconds or, if it is repeated, by the second of its last occurrence (trap 19). */
function constrainStopping(
  { deletion, network }: DeletionContext,
  container: string,
  killings: readonly Occurrence[],
): void {
  const [first] = killings;
  if (!first) return;
  const at = moment('stopping', container);
  const evidence = [first.seq];
  network.within(at, { client: atMost(first.at + 1) }, { because: 'Killing had arrived', evidence });
  const proof = { because: 'Killing is made before the hook (§2 S5)', evidence };
  network.stamp('node', at, first.time, first.at + 1, proof, deletion.accepted.client.lo);
  network.follows('accepted', at, {}, { because: 'the kubelet acts on the deletion (§2 S1)' });
}

/** A container is started before it is signalled. This matters if it was started after the deletion. */
function constrainStart(network: PodNetwork, container: string, { terminated }: ContainerFacts): void {
  const started = parseFloor(terminated?.value.startedAt);
  if (!terminated || !started) return;
  const proof = { because: 'startedAt: it had been started (§2 S2)', evidence: [terminated.seq] };
  network.stamp('node', moment('stop-signal', container), atLeast(started.lo), terminated.at + 1, proof);
}

/**
 * A probe's answer shows that the container accepted requests when the request was sent; a refused connection, that it
 * accepts no more. Only for a pod with one container: with several, we cannot know which of them answered. And only if
 * no other pod can have answered: not on the node's network, not under a name that the successor has too (StatefulSet,
 * bare pods), and not after the container's exit is known.
 */
function constrainServed({ trace, deletion, network }: DeletionContext): void {
  const [only, ...others] = containersOf(deletion.pod);
  const { uid, ownerReferences = [] } = deletion.pod.metadata;
  const isOwnName = ownerReferences.some(({ kind }) => ['ReplicaSet', 'DaemonSet', 'Job'].includes(kind));
  if (!only || others.length > 0 || !isOwnName || deletion.pod.spec.hostNetwork === true) return;
  const endKnownAt = trace.containers.get(only.name)?.terminated?.at ?? Infinity;
  const [served, exit] = [moment('served', only.name), moment('exit', only.name)];
  for (const { answered, refusedBy, pod } of probeResultsOf(trace.probes, {})) {
    if (pod !== uid || !answered || answered.last >= endKnownAt) continue;
    network.follows(served, exit, {}, { because: 'it answers while it lives' });
    const answer = { because: 'it answered a request that was sent then', evidence: [answered.seq] };
    network.within(served, { client: atLeast(answered.last) }, answer);
    if (!refusedBy) continue;
    const refusal = { because: 'its port refused a connection', evidence: [refusedBy.seq] };
    network.within(served, { client: atMost(refusedBy.at + 1) }, refusal);
  }
}

const maxConclusionsPerWindow = 3;
const windowMs = 100;

/**
 * Whether to conclude again after an observation. Sixty containers can log a thousand lines per second, and a line that
 * names no signal changes little: in a burst of such lines only the first few count. The rest shows with the next
 * observation.
 */
export function createChatterLimit(): (trace: Trace, observation: Observation) => boolean {
  let recent: readonly number[] = [];
  return ({ now }, observation) => {
    const isPlain = observation.kind === 'line' && !observation.namesSignal;
    if (isPlain && recent.length === maxConclusionsPerWindow && now - (recent[0] ?? -Infinity) < windowMs) return false;
    if (isPlain) recent = [...recent, now].slice(-maxConclusionsPerWindow);
    return true;
  };
}
