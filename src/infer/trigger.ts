/** What deleted the pod, as far as evidence goes (SIGNALS.md §4). Who sent a DELETE is stored nowhere. */
import type { Condition, Pod } from '../model/kube.ts';
import type { StreamName } from '../model/observation.ts';
import { newestMessage } from '../model/observe/event.ts';
import { conditionOf, controllerOf, isFinished, isRunning, statusesOf } from '../model/pod.ts';
import type { TriggerKind } from '../model/report.ts';
import { parseTime } from '../model/stamps.ts';
import type { Fact, Occurrence, OwnerFacts, Trace } from '../model/trace.ts';
import type { Trigger } from './context.ts';
import { isWitnessed, type Deletion } from './deletion.ts';
import {
  arrivedInTime,
  comingTemplate,
  controllerDelay,
  deletedBy,
  deliveryLag,
  hasPlace,
  isAroundDeletion,
  isDeleting,
  loweredNear,
  otherTemplate,
  requestedAt,
  scalingsOf,
  shrunkNear,
  wantedAt,
  withinCauseWindow,
  type Lowering,
  type Scaling,
} from './workload-changes.ts';

/** Undefined where it does not hold. */
type Rule = (trace: Trace, deletion: Deletion) => Trigger | undefined;

export function triggerOf(trace: Trace, deletion: Deletion): Trigger {
  for (const rule of rules) {
    const trigger = rule(trace, deletion);
    if (trigger) return trigger;
  }
  return { kind: 'unknown', evidence: [deletion.facts.seenSeq] };
}

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
  const seen = trace.disruption?.value === reason ? trace.disruption : undefined;
  const drained = kind === 'eviction-api' ? trace.cordoned : undefined;
  return {
    kind,
    evidence: [
      ...(seen ? [seen.seq] : []),
      facts.seenSeq,
      ...events.map((event) => event.seq),
      ...(drained ? [drained.seq] : []),
    ],
    note: drained && 'its node is unschedulable, as for a drain',
  };
};

/**
 * Where the write that set deletionTimestamp was not seen itself, the condition's own stamp shows whether it came later.
 * That of an eviction is by the clock that set the deadline too; any other one by a controller's.
 */
function isAfterwards(trace: Trace, { lastTransitionTime }: Condition, kind: TriggerKind): boolean {
  const since = parseTime(lastTransitionTime);
  if (since === undefined || (trace.deletion && isWitnessed(trace, trace.deletion))) return false;
  return since > requestedAt(trace) + (kind === 'eviction-api' ? 0 : deliveryLag);
}

const eventsOf: Partial<Record<TriggerKind, string[]>> = {
  preemption: ['Preempted'],
  taint: ['TaintManagerEviction'],
  'device-taint': ['DeviceTaintManagerEviction'],
};

/** Without a condition PodGC still writes Failed before its DELETE with grace 0, over containers that were not stopped. */
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
  const gone = arrivedInTime(job?.gone, trace);
  if (gone && !(job && isExpired(job, trace))) return undefined;
  const event = deletedBy(trace);
  const ended = isFinished(pod) && !gone ? undefined : job && endedNear(job, trace);
  if (!event && !ended && !gone) return undefined;
  return { kind: 'job', evidence: [facts.seenSeq, ...[event, ended, gone].flatMap((fact) => fact?.seq ?? [])] };
};

/** Its time to live has passed since it ended: a Job that goes before that was deleted by somebody. */
function isExpired(job: OwnerFacts, trace: Trace): boolean {
  const { ttlSecondsAfterFinished: ttl } = job.last.value.spec;
  if (!job.ended || ttl === undefined) return false;
  const ended = endStampOf(job);
  return ended === undefined || ended + ttl * 1000 <= requestedAt(trace) + deliveryLag;
}

const endStampOf = ({ ended, last }: OwnerFacts): number | undefined =>
  parseTime(last.value.status.conditions?.find((one) => one.type === ended?.value)?.lastTransitionTime);

/** A Job that ended hours ago has stopped its pods then. It was seen to end, or says when. */
function endedNear(job: OwnerFacts, trace: Trace): Fact<string> | undefined {
  const { first, ended } = job;
  if (!ended) return undefined;
  if (ended.seq !== first.seq) return withinCauseWindow(ended, trace);
  const at = endStampOf(job);
  return at !== undefined && Math.abs(at - requestedAt(trace)) <= controllerDelay ? ended : undefined;
}

/** An owner that went before the pod was marked; no Event names it (trap 38). The pod must still have been its own. */
const byOwner: Rule = (trace, { facts }) => {
  const named = (facts.first.value.metadata.ownerReferences ?? []).map(({ uid }) => uid);
  const above = named.flatMap((uid) =>
    (trace.owners.get(uid)?.last.value.metadata.ownerReferences ?? []).map((owner) => owner.uid),
  );
  const gone = [...new Set([...named, ...above])].flatMap(
    (uid) => arrivedInTime(trace.owners.get(uid)?.gone, trace, soon) ?? [],
  );
  if (gone.length === 0) return undefined;
  return { kind: 'owner-deleted', evidence: [...gone.map((one) => one.seq), facts.seenSeq] };
};

/** The garbage collector acts after the owner is gone, so what arrives much later did not cause it. */
const soon = 1000;

const rules: Rule[] = [byUs, byCondition, byPodGc, byNamespace, byJob, byOwner, byController];

/**
 * The controller deleted the pod, as its Event says, or as it came to want fewer pods than it has named in Events: of a burst
 * it names the first 25 at most (SIGNALS.md §2.1). For another template, or for a lower number; where neither shows, it is
 * not known.
 */
function byController(trace: Trace, { facts }: Deletion): Trigger | undefined {
  const pod = facts.first.value;
  const named = deletedBy(trace);
  const controller = controllerOf(pod);
  const owner = controller && trace.owners.get(controller.uid);
  if (!controller) return undefined;
  const lowered = loweredNear(owner, trace);
  const unnamed = named ? undefined : unnamedOf(trace, controller, lowered);
  const isMissing = lowered !== undefined && eventMayBeMissing(trace, controller.name);
  if (!named && !unnamed && !isMissing) return undefined;
  const shown = [...(named ? [named] : []), ...(unnamed?.facts ?? lowered?.facts ?? [])];
  const evidence = [facts.seenSeq, ...new Set(shown.map(({ seq }) => seq))];
  const scaled = owner && scaledDown(trace, pod, owner, named);
  if (controller.kind === 'ReplicaSet')
    return withAutoscaler(trace, owner, bySet(trace, pod, { above: aboveOf(trace, owner), scaled, evidence }));
  const isPlaced = controller.kind === 'StatefulSet' || controller.kind === 'DaemonSet';
  const template = scaled && isPlaced ? undefined : otherTemplate(trace, pod, facts.seenAt + deliveryLag);
  if (template) return { kind: 'rollout', evidence: [...evidence, ...template] };
  return withAutoscaler(trace, owner, scaled ? { kind: 'scale-down', evidence: [...evidence, scaled.seq] } : undefined);
}

/**
 * An autoscaler's Event says which number it has set, not of what (podautoscaler/horizontal.go, `SuccessfulRescale`): the one
 * that has set just what the workload came to want, around the deletion. Where two have, it is not known which.
 */
function withAutoscaler(
  trace: Trace,
  owner: OwnerFacts | undefined,
  trigger: Trigger | undefined,
): Trigger | undefined {
  const workload = aboveOf(trace, owner) ?? owner;
  if (trigger?.kind !== 'scale-down' || !workload) return trigger;
  const setters = trace.events.filter(
    (event) =>
      event.reason === 'SuccessfulRescale' &&
      isAroundDeletion(event, trace) &&
      Number(/^New size: (\d+);/.exec(newestMessage(event))?.[1]) === wantedAt(workload, event.at),
  );
  const [setter] = setters;
  if (!setter || new Set(setters.map(({ about }) => about.name)).size > 1) return trigger;
  const note = `by HorizontalPodAutoscaler ${setter.about.name}`;
  return { ...trigger, evidence: [...trigger.evidence, setter.seq], note };
}

/**
 * The controller deletes as many pods as it came to want fewer. Where it has named fewer than that, this one may be of the
 * others; where it has named as many, somebody else deleted this one.
 */
function unnamedOf(
  trace: Trace,
  controller: { kind: string; name: string },
  lowered: Lowering | undefined,
): Lowering | undefined {
  const events = controller.kind === 'ReplicaSet' ? shrunkNear(controller.name, trace) : undefined;
  const most = [lowered, events].flatMap((one) => one ?? []).sort((a, b) => b.by - a.by)[0];
  if (!most || most.by < leastBurst) return undefined;
  return namedBy(trace, controller.name) < most.by ? most : undefined;
}

/** Of fewer pods than these, all are named: what the Events do not name, the controller did not delete. */
const leastBurst = 2;

/** How many pods the controller's Events around the deletion name. */
const namedBy = (trace: Trace, owner: string): number =>
  new Set(
    trace.events
      .filter((event) => event.about.name === owner && isDeleting(event, trace))
      .map(({ message }) => message),
  ).size;

interface SetFacts {
  /** The Deployment, where it is known. */
  readonly above: OwnerFacts | undefined;
  readonly scaled: Scaled | undefined;
  readonly evidence: readonly number[];
}

type Scaled = Pick<Fact<unknown>, 'seq' | 'at'>;

/**
 * A rollout may be stuck for hours: its template is there, and deletes nothing. Only what comes up around the deletion
 * shows that it went on. Where that and a lower number fit both, what came last before the deletion caused it, if
 * it was seen to; else it is not known.
 */
function bySet(trace: Trace, pod: Pod, { above, scaled, evidence }: SetFacts): Trigger | undefined {
  const coming = comingTemplate(trace, pod);
  if (!scaled) {
    const seqs = coming?.seqs ?? (above && otherTemplate(trace, pod, (trace.deletion?.seenAt ?? 0) + deliveryLag));
    return seqs && { kind: 'rollout', evidence: [...evidence, ...seqs] };
  }
  if (!coming) return { kind: 'scale-down', evidence: [...evidence, scaled.seq] };
  const seenAt = trace.deletion?.seenAt ?? -Infinity;
  const last = coming.ready.find(({ at }) => at >= scaled.at && at <= seenAt);
  if (last) return { kind: 'rollout', evidence: [...evidence, ...coming.seqs, last.seq] };
  return { kind: 'unknown', evidence: [...evidence, scaled.seq, ...coming.seqs] };
}

function aboveOf(trace: Trace, owner: OwnerFacts | undefined): OwnerFacts | undefined {
  const [above] = owner?.last.value.metadata.ownerReferences ?? [];
  return above && trace.owners.get(above.uid);
}

/** What the user set went down: a Deployment's replicas, or those of a controller that nothing owns. */
function scaledDown(trace: Trace, pod: Pod, owner: OwnerFacts, named: Occurrence | undefined): Scaled | undefined {
  const { kind, metadata } = owner.last.value;
  const [above] = metadata.ownerReferences ?? [];
  if (kind === 'ReplicaSet' && above) {
    const deployment = trace.owners.get(above.uid);
    return lastOf(loweredNear(deployment, trace)) ?? (deployment && scaledToAll(trace, metadata.name, deployment));
  }
  const outOfPlace = kind === 'StatefulSet' && hasPlace(owner.last.value, pod) === false;
  // A ReplicaSet of its own deletes a pod only where it has too many.
  return lastOf(loweredNear(owner, trace)) ?? (outOfPlace || kind === 'ReplicaSet' ? named : undefined);
}

const lastOf = (lowering: Lowering | undefined): Scaled | undefined => lowering?.facts.at(-1);

/** The pod's ReplicaSet was scaled down to all that the Deployment wanted then: no other one takes a share. */
function scaledToAll(trace: Trace, set: string, deployment: OwnerFacts): Occurrence | undefined {
  const isIt = (one: Scaling): boolean =>
    one.way === 'down' &&
    one.set === set &&
    one.to === wantedAt(deployment, one.event.at) &&
    isAroundDeletion(one.event, trace);
  return scalingsOf(trace).find(isIt)?.event;
}

/** Events of the controller may be missing (SIGNALS.md trap 32), and it is not known to have chosen another pod. */
function eventMayBeMissing(trace: Trace, owner: string): boolean {
  const isOwners = ({ value }: Fact<{ stream: StreamName; to?: number }>): boolean =>
    value.stream === 'owner-events' && value.to === undefined;
  const isMissing = trace.namespaceEnding !== undefined || [...trace.refused, ...trace.gaps].some(isOwners);
  return isMissing && namedBy(trace, owner) === 0;
}
