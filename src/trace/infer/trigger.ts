/** What deleted the pod, as far as evidence goes (SIGNALS.md §4). Who sent a DELETE is stored nowhere. */
import { millisecondsOf } from '../assumptions.ts';
import { controllerOf } from '../pod.ts';
import type { TriggerKind } from '../report.ts';
import type { Fact, Occurrence, OwnerFacts, Trace } from '../trace.ts';
import type { Deletion } from './deletion.ts';

export interface Trigger {
  readonly kind: TriggerKind;
  readonly evidence: readonly number[];
  /** In words, for people: what more is known. */
  readonly note?: string;
}

export function triggerOf(trace: Trace, deletion: Deletion): Trigger {
  for (const rule of rules) {
    const trigger = rule(trace, deletion);
    if (trigger) return trigger;
  }
  return { kind: 'unknown', evidence: [deletion.facts.seenSeq] };
}

type Rule = (trace: Trace, deletion: Deletion) => Trigger | undefined;

const byUs: Rule = (_trace, { ours, facts }) => {
  if (!ours) return undefined;
  const evidence = [ours.sent.seq, ...(ours.answer ? [ours.answer.seq] : []), facts.seenSeq];
  return { kind: ours.verb === 'evict' ? 'eviction-api' : 'this-command', evidence };
};

const conditionKinds: Record<string, TriggerKind> = {
  EvictionByEvictionAPI: 'eviction-api',
  PreemptionByScheduler: 'preemption',
  DeletionByTaintManager: 'taint',
  DeletionByDeviceTaintManager: 'device-taint',
  DeletionByPodGC: 'pod-gc',
};

/** The condition is a cause only if it came no later than deletionTimestamp (trap 26). */
const byCondition: Rule = (trace, { facts }) => {
  const kind = trace.disruption?.value.withDeletion ? conditionKinds[trace.disruption.value.reason] : undefined;
  if (!kind || !trace.disruption) return undefined;
  const events = trace.events.filter(
    (event) =>
      event.about.kind === 'Pod' && eventsOf[kind]?.includes(event.reason) && !event.message.startsWith('Cancelling'),
  );
  const drained = kind === 'eviction-api' && trace.node?.value.spec.unschedulable === true;
  return {
    kind,
    evidence: [
      trace.disruption.seq,
      facts.seenSeq,
      ...events.map((event) => event.seq),
      ...(drained && trace.node ? [trace.node.seq] : []),
    ],
    ...(drained ? { note: 'the node is unschedulable: a drain' } : {}),
  };
};

const eventsOf: Partial<Record<TriggerKind, string[]>> = {
  preemption: ['Preempted'],
  taint: ['TaintManagerEviction'],
  'device-taint': ['DeviceTaintManagerEviction'],
};

/** PodGC of an unscheduled or orphaned pod writes phase Failed and grace 0, and no condition. */
const byPodGc: Rule = (trace, { facts }) => {
  const { metadata, status } = facts.first.value;
  const gc = metadata.managedFields?.some(
    (entry) => entry.manager === 'pod-garbage-collector' || entry.subresource === 'podgc',
  );
  return gc && status.phase === 'Failed' && metadata.deletionGracePeriodSeconds === 0
    ? { kind: 'pod-gc', evidence: [facts.seenSeq] }
    : undefined;
};

const byNamespace: Rule = (trace, { facts }) =>
  trace.namespaceEnding
    ? { kind: 'namespace-deletion', evidence: [trace.namespaceEnding.seq, facts.seenSeq] }
    : undefined;

const byJob: Rule = (trace, { facts }) => {
  const controller = controllerOf(facts.first.value);
  if (controller?.kind !== 'Job') return undefined;
  const job = trace.owners.get(controller.uid);
  const told = deletedBy(trace);
  const ended = job?.last.value.status.conditions?.some(
    (one) => one.status === 'True' && ['Complete', 'Failed', 'Suspended'].includes(one.type),
  );
  if (!told && !job?.gone && !ended && job?.last.value.spec.suspend !== true) return undefined;
  return {
    kind: 'job',
    evidence: [facts.seenSeq, ...(told ? [told.seq] : []), ...(job ? [(job.gone ?? job.last).seq] : [])],
  };
};

/** Streams come late against one another: what caused a write may be told after it. */
const late = millisecondsOf('delivery-lag');

/** An owner that went before the pod was marked; no Event names it (trap 38). */
const byOwner: Rule = (trace, { facts }) => {
  const gone = [...trace.owners.values()].filter(
    (owner) => owner.gone !== undefined && owner.gone.at <= facts.seenAt + late,
  );
  if (gone.length === 0) return undefined;
  return { kind: 'owner-deleted', evidence: [...gone.flatMap((owner) => owner.gone?.seq ?? []), facts.seenSeq] };
};

/** The controller says that it deleted the pod; whether it rolls out or scales down is read from its own owner. */
const byController: Rule = (trace, { facts }) => {
  const told = deletedBy(trace);
  const controller = controllerOf(facts.first.value);
  const owner = controller && trace.owners.get(controller.uid);
  const lowered = owner?.lowered && owner.lowered.at <= facts.seenAt + late ? owner.lowered : undefined;
  if (!controller || (!told && !lowered)) return undefined;
  const evidence = [facts.seenSeq, ...(told ? [told.seq] : []), ...(lowered ? [lowered.seq] : [])];
  const deployment = [...trace.owners.values()].find((one) => one.first.value.kind === 'Deployment');
  const scaled = scaledDown(controller.kind, owner, deployment);
  const rollout = trace.events.filter(
    (event) => event.reason === 'ScalingReplicaSet' && event.message.includes(controller.name),
  );
  return scaled
    ? { kind: 'scale-down', evidence: [...evidence, scaled.seq] }
    : { kind: 'rollout', evidence: [...evidence, ...rollout.map((event) => event.seq)] };
};

/** What the user set (a Deployment's or StatefulSet's replicas) went down; a ReplicaSet's goes down in rollouts too. */
function scaledDown(
  kind: string,
  owner: OwnerFacts | undefined,
  deployment: OwnerFacts | undefined,
): Fact<true> | undefined {
  if (kind === 'ReplicaSet' && deployment) return deployment.lowered;
  return kind === 'DaemonSet' ? undefined : owner?.lowered;
}

const deletedBy = (trace: Trace): Occurrence | undefined => {
  const name = trace.deletion?.first.value.metadata.name;
  return trace.events.find(
    (event) => event.reason === 'SuccessfulDelete' && name !== undefined && event.message.split(/\s+/).includes(name),
  );
};

const rules: Rule[] = [byUs, byCondition, byPodGc, byOwner, byJob, byController, byNamespace];
