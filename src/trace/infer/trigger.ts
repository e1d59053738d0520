/** What deleted the pod, as far as evidence goes (SIGNALS.md §4). Who sent a DELETE is stored nowhere. */
import { millisecondsOf } from '../assumptions.ts';
import { controllerOf, isFinished, isRunning, statusesOf } from '../pod.ts';
import type { TriggerKind } from '../report.ts';
import { parseTime } from '../stamps.ts';
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
  const reason = trace.disruption?.value.withDeletion ? trace.disruption.value.reason : '';
  // Object.hasOwn: a condition's reason may be any word, `constructor` too.
  const kind = Object.hasOwn(conditionKinds, reason) ? conditionKinds[reason] : undefined;
  if (!kind || !trace.disruption) return undefined;
  const events = trace.events.filter(
    (event) =>
      event.about.kind === 'Pod' && eventsOf[kind]?.includes(event.reason) && !event.message.startsWith('Cancelling'),
  );
  const drained = kind === 'eviction-api' ? trace.cordoned : undefined;
  return {
    kind,
    evidence: [
      trace.disruption.seq,
      facts.seenSeq,
      ...events.map((event) => event.seq),
      ...(drained ? [drained.seq] : []),
    ],
    ...(drained ? { note: 'the node is unschedulable: a drain' } : {}),
  };
};

const eventsOf: Partial<Record<TriggerKind, string[]>> = {
  preemption: ['Preempted'],
  taint: ['TaintManagerEviction'],
  'device-taint': ['DeviceTaintManagerEviction'],
};

/** Without a condition PodGC still writes Failed before its DELETE with grace 0, over containers that nobody stopped. */
const byPodGc: Rule = (_trace, { facts }) => {
  const pod = facts.first.value;
  const swept =
    pod.status.phase === 'Failed' &&
    pod.metadata.deletionGracePeriodSeconds === 0 &&
    statusesOf(pod).some((status) => isRunning(status.state));
  return swept ? { kind: 'pod-gc', evidence: [facts.seenSeq] } : undefined;
};

/** A namespace that ends takes the owners with it. Both stamps are the API server's, cut to whole seconds. */
const byNamespace: Rule = ({ namespaceEnding }, { facts, grace }) => {
  if (!namespaceEnding) return undefined;
  const since = parseTime(namespaceEnding.value) ?? -Infinity;
  const asked = (parseTime(facts.first.value.metadata.deletionTimestamp) ?? Infinity) - grace * 1000;
  return since > asked ? undefined : { kind: 'namespace-deletion', evidence: [namespaceEnding.seq, facts.seenSeq] };
};

/** Streams come late against one another: what caused a write may be told after it. */
const late = millisecondsOf('delivery-lag');

const inTime = <T>(fact: Fact<T> | undefined, trace: Trace): Fact<T> | undefined =>
  fact && trace.deletion && fact.at <= trace.deletion.seenAt + late ? fact : undefined;

/**
 * A Job stops what still runs of it when it is suspended or done. It leaves its finished pods alone until its time to
 * live is over; a Job that somebody deletes is an owner like any other.
 */
const byJob: Rule = (trace, { facts }) => {
  const pod = facts.first.value;
  const controller = controllerOf(pod);
  if (controller?.kind !== 'Job') return undefined;
  const job = trace.owners.get(controller.uid);
  const gone = inTime(job?.gone, trace);
  const isExpired = job?.ended !== undefined && job.last.value.spec.ttlSecondsAfterFinished !== undefined;
  if (gone && !isExpired) return undefined;
  const told = deletedBy(trace);
  const ended = isFinished(pod) && !gone ? undefined : inTime(job?.ended, trace);
  if (!told && !ended) return undefined;
  return { kind: 'job', evidence: [facts.seenSeq, ...[told, ended, gone].flatMap((fact) => fact?.seq ?? [])] };
};

/** An owner that went before the pod was marked; no Event names it (trap 38). */
const byOwner: Rule = (trace, { facts }) => {
  const gone = [...trace.owners.values()].flatMap((owner) => inTime(owner.gone, trace) ?? []);
  if (gone.length === 0) return undefined;
  return { kind: 'owner-deleted', evidence: [...gone.map((one) => one.seq), facts.seenSeq] };
};

/** The controller says that it deleted the pod; whether it rolls out or scales down is read from its own owner. */
const byController: Rule = (trace, { facts }) => {
  const told = deletedBy(trace);
  const controller = controllerOf(facts.first.value);
  const owner = controller && trace.owners.get(controller.uid);
  const lowered = inTime(owner?.lowered, trace);
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
const scaledDown = (
  kind: string,
  owner: OwnerFacts | undefined,
  deployment: OwnerFacts | undefined,
): Fact<true> | undefined => (kind === 'ReplicaSet' && deployment ? deployment.lowered : owner?.lowered);

/** The controller's Event about this pod. One that was there before may be about an older pod of the same name. */
function deletedBy(trace: Trace): Occurrence | undefined {
  const { metadata } = trace.deletion?.first.value ?? {};
  const asked = (parseTime(metadata?.deletionTimestamp) ?? 0) - (metadata?.deletionGracePeriodSeconds ?? 0) * 1000;
  return trace.events.find(
    (event) =>
      event.reason === 'SuccessfulDelete' &&
      metadata !== undefined &&
      event.message.split(/\s+/).includes(metadata.name) &&
      (!event.isOld || event.time.hi >= asked - late),
  );
}

const rules: Rule[] = [byUs, byCondition, byPodGc, byNamespace, byJob, byOwner, byController];
