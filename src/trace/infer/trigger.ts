/** What deleted the pod, as far as evidence goes (SIGNALS.md §4). Who sent a DELETE is stored nowhere. */
import type { Condition, Pod } from '../kube.ts';
import { conditionOf, controllerOf, isFinished, isRunning, statusesOf } from '../pod.ts';
import type { StreamName } from '../observation.ts';
import type { TriggerKind } from '../report.ts';
import { parseTime } from '../stamps.ts';
import type { Fact, Occurrence, OwnerFacts, Trace } from '../trace.ts';
import { askedAt, inTime, isTimely, late, near, prompt } from './around.ts';
import type { Deletion } from './deletion.ts';
import { isWitnessed } from './deletion.ts';
import { comingTemplate, hasPlace, otherTemplate } from './template.ts';

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

/**
 * The condition is a cause only if the first state with deletionTimestamp has it, and did not get it afterwards (trap 26):
 * an eviction of a pod that is terminating adds it, and its DELETE changes nothing.
 */
const byCondition: Rule = (trace, { facts }) => {
  const condition = conditionOf(facts.first.value, 'DisruptionTarget');
  const reason = condition?.status === 'True' ? (condition.reason ?? '') : '';
  // Object.hasOwn: a condition's reason may be any word, `constructor` too.
  const kind = Object.hasOwn(conditionKinds, reason) ? conditionKinds[reason] : undefined;
  if (!kind || (condition && isAfterwards(trace, condition, kind))) return undefined;
  const events = trace.events.filter(
    (event) =>
      event.about.kind === 'Pod' && eventsOf[kind]?.includes(event.reason) && !event.message.startsWith('Cancelling'),
  );
  const told = trace.disruption?.value === reason ? trace.disruption : undefined;
  const drained = kind === 'eviction-api' ? trace.cordoned : undefined;
  return {
    kind,
    evidence: [
      ...(told ? [told.seq] : []),
      facts.seenSeq,
      ...events.map((event) => event.seq),
      ...(drained ? [drained.seq] : []),
    ],
    ...(drained ? { note: 'the node is unschedulable: a drain' } : {}),
  };
};

/**
 * Where the write that set deletionTimestamp was not seen itself, the condition's own stamp tells whether it came later.
 * That of an eviction is by the clock that set the deadline too; any other one by a controller's.
 */
function isAfterwards(trace: Trace, { lastTransitionTime }: Condition, kind: TriggerKind): boolean {
  const since = parseTime(lastTransitionTime);
  if (since === undefined || (trace.deletion && isWitnessed(trace, trace.deletion))) return false;
  return since > askedAt(trace) + (kind === 'eviction-api' ? 0 : late);
}

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
  if (gone && !(job && isExpired(job, trace))) return undefined;
  const told = deletedBy(trace);
  const ended = isFinished(pod) && !gone ? undefined : job && endedNear(job, trace);
  if (!told && !ended && !gone) return undefined;
  return { kind: 'job', evidence: [facts.seenSeq, ...[told, ended, gone].flatMap((fact) => fact?.seq ?? [])] };
};

/** Its time to live has passed since it ended: a Job that goes before that was deleted by somebody. */
function isExpired(job: OwnerFacts, trace: Trace): boolean {
  const { ttlSecondsAfterFinished: ttl } = job.last.value.spec;
  if (!job.ended || ttl === undefined) return false;
  const ended = endStampOf(job);
  return ended === undefined || ended + ttl * 1000 <= askedAt(trace) + late;
}

const endStampOf = ({ ended, last }: OwnerFacts): number | undefined =>
  parseTime(last.value.status.conditions?.find((one) => one.type === ended?.value)?.lastTransitionTime);

/** A Job that ended hours ago has stopped its pods then. It was seen to end, or says when. */
function endedNear(job: OwnerFacts, trace: Trace): Fact<string> | undefined {
  const { first, ended } = job;
  if (!ended) return undefined;
  if (ended.seq !== first.seq) return near(ended, trace);
  const at = endStampOf(job);
  return at !== undefined && Math.abs(at - askedAt(trace)) <= prompt ? ended : undefined;
}

/** An owner that went before the pod was marked; no Event names it (trap 38). The pod must still have been its own. */
const byOwner: Rule = (trace, { facts }) => {
  const named = (facts.first.value.metadata.ownerReferences ?? []).map(({ uid }) => uid);
  const above = named.flatMap((uid) =>
    (trace.owners.get(uid)?.last.value.metadata.ownerReferences ?? []).map((owner) => owner.uid),
  );
  const gone = [...new Set([...named, ...above])].flatMap(
    (uid) => inTime(trace.owners.get(uid)?.gone, trace, soon) ?? [],
  );
  if (gone.length === 0) return undefined;
  return { kind: 'owner-deleted', evidence: [...gone.map((one) => one.seq), facts.seenSeq] };
};

/** The garbage collector acts after the owner is gone, so what is told much later did not cause it. */
const soon = 1000;

/**
 * The controller deleted the pod, as its Event says: for another template, or for a lower number. Where neither shows, it is
 * not known. A number that went down is no proof that the controller chose this pod.
 */
const byController: Rule = (trace, { facts }) => {
  const pod = facts.first.value;
  const told = deletedBy(trace);
  const controller = controllerOf(pod);
  const owner = controller && trace.owners.get(controller.uid);
  const lowered = near(owner?.lowered, trace);
  if (!controller || (!told && !(lowered && mayBeUntold(trace, controller.name)))) return undefined;
  const evidence = [facts.seenSeq, ...(told ? [told.seq] : []), ...(lowered ? [lowered.seq] : [])];
  const scaled = owner && scaledDown(trace, pod, owner, told);
  if (controller.kind === 'ReplicaSet') return bySet(trace, pod, { above: aboveOf(trace, owner), scaled, evidence });
  const isPlaced = controller.kind === 'StatefulSet' || controller.kind === 'DaemonSet';
  const template = scaled && isPlaced ? undefined : otherTemplate(trace, pod, facts.seenAt + late);
  if (template) return { kind: 'rollout', evidence: [...evidence, ...template] };
  return scaled ? { kind: 'scale-down', evidence: [...evidence, scaled.seq] } : undefined;
};

interface SetFacts {
  /** The Deployment, where it was told. */
  readonly above: OwnerFacts | undefined;
  readonly scaled: Scaled | undefined;
  readonly evidence: readonly number[];
}

type Scaled = Pick<Fact<unknown>, 'seq' | 'at'>;

/**
 * A rollout may be stuck for hours: its template is there, and deletes nothing. Only what comes up around the deletion
 * tells that it went on. Where that and a lower number fit both, what came last before the deletion caused it, if
 * it was seen to; else it is not known.
 */
function bySet(trace: Trace, pod: Pod, { above, scaled, evidence }: SetFacts): Trigger | undefined {
  const coming = comingTemplate(trace, pod);
  if (!scaled) {
    const seqs = coming?.seqs ?? (above && otherTemplate(trace, pod, (trace.deletion?.seenAt ?? 0) + late));
    return seqs && { kind: 'rollout', evidence: [...evidence, ...seqs] };
  }
  if (!coming) return { kind: 'scale-down', evidence: [...evidence, scaled.seq] };
  const last = coming.ready.find(({ at }) => at >= scaled.at);
  if (last) return { kind: 'rollout', evidence: [...evidence, ...coming.seqs, last.seq] };
  return { kind: 'unknown', evidence: [...evidence, scaled.seq, ...coming.seqs] };
}

function aboveOf(trace: Trace, owner: OwnerFacts | undefined): OwnerFacts | undefined {
  const [above] = owner?.last.value.metadata.ownerReferences ?? [];
  return above && trace.owners.get(above.uid);
}

/** What the user set went down: a Deployment's replicas, or those of a controller that nothing owns. */
function scaledDown(trace: Trace, pod: Pod, owner: OwnerFacts, told: Occurrence | undefined): Scaled | undefined {
  const { kind, metadata } = owner.last.value;
  const [above] = metadata.ownerReferences ?? [];
  if (kind === 'ReplicaSet' && above) {
    const deployment = trace.owners.get(above.uid);
    return near(deployment?.lowered, trace) ?? (deployment && scaledToAll(trace, metadata.name, deployment));
  }
  const outOfPlace = kind === 'StatefulSet' && hasPlace(owner.last.value, pod) === false;
  // A ReplicaSet of its own deletes a pod only where it has too many.
  return near(owner.lowered, trace) ?? (outOfPlace || kind === 'ReplicaSet' ? told : undefined);
}

/** The pod's ReplicaSet was scaled down to all that the Deployment wants: no other one takes a share. */
function scaledToAll(trace: Trace, set: string, { last }: OwnerFacts): Occurrence | undefined {
  const [start, end] = [`Scaled down replica set ${set} `, ` to ${last.value.spec.replicas}`];
  return trace.events.find(
    ({ reason, message, ...event }) =>
      reason === 'ScalingReplicaSet' && message.startsWith(start) && message.endsWith(end) && isTimely(event, trace),
  );
}

/** The controller's Event about this pod. One that was there before may be about an older pod of the same name. */
function deletedBy(trace: Trace): Occurrence | undefined {
  const name = trace.deletion?.first.value.metadata.name;
  return trace.events.find(
    (event) =>
      event.reason === 'SuccessfulDelete' &&
      name !== undefined &&
      event.message.split(/\s+/).includes(name) &&
      isTimely(event, trace),
  );
}

/** No Event of the controller can be heard of (SIGNALS.md trap 32), and it is not known to have chosen another pod. */
function mayBeUntold(trace: Trace, owner: string): boolean {
  const isOwners = ({ value }: Fact<{ stream: StreamName; to?: number }>): boolean =>
    value.stream === 'owner-events' && value.to === undefined;
  const isUnheard = trace.namespaceEnding !== undefined || [...trace.refused, ...trace.gaps].some(isOwners);
  const chose = (event: Occurrence): boolean =>
    event.reason === 'SuccessfulDelete' && event.about.name === owner && isTimely(event, trace);
  return isUnheard && !trace.events.some(chose);
}

const rules: Rule[] = [byUs, byCondition, byPodGc, byNamespace, byJob, byOwner, byController];
