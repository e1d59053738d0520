/** What deleted the pod, by the evidence (SIGNALS.md §4). Kubernetes does not store who sent a DELETE. */
import type { Pod } from '../model/kube.ts';
import { conditionOf, controllerOf, isFinished } from '../model/pod.ts';
import type { TriggerKind } from '../model/report.ts';
import { platformIn } from '../model/reduce/events.ts';
import { parseTime, requestedAt } from '../model/stamps.ts';
import {
  isRefused,
  lostSince,
  type Fact,
  type Occurrence,
  type OwnerFacts,
  type Seen,
  type Trace,
} from '../model/trace.ts';
import { newestMessage } from './arrival.ts';
import type { Trigger } from './context.ts';
import type { Deletion } from './deletion.ts';
import {
  arrivedInTime,
  rolloutEvidence,
  controllerReactionMs,
  deletedBy,
  deliveryLag,
  isAroundDeletion,
  isPodDeletion,
  loweredNear,
  otherTemplate,
  deletionRequestedAt,
  shrunkNear,
  wantedAt,
  withinCauseWindow,
  type Lowering,
} from './workload-changes.ts';

type Rule = (trace: Trace, deletion: Deletion) => Trigger | undefined;

export function triggerOf(trace: Trace, deletion: Deletion): Trigger {
  for (const rule of rules) {
    const trigger = rule(trace, deletion);
    if (trigger) return trigger.note === undefined ? byPlatform(trace, trigger) : trigger;
  }
  return byPlatform(trace, { kind: 'unknown', evidence: [deletion.facts.seenSeq] });
}

/** Names the platform behind an eviction, or a DELETE that nothing else explains; it announces a node's end up to 10 min before. */
function byPlatform(trace: Trace, trigger: Trigger): Trigger {
  if (!['eviction-api', 'taint', 'unknown'].includes(trigger.kind)) return trigger;
  const requested = deletionRequestedAt(trace);
  const isNear = ({ about, time }: Occurrence): boolean =>
    time.hi >= requested - (about.kind === 'Node' ? 600_000 : controllerReactionMs) &&
    time.lo <= requested + deliveryLag;
  const [found] = trace.events.flatMap((event) => {
    const by = isNear(event) ? platformIn({ ...event, kind: event.about.kind }) : undefined;
    return by === undefined ? [] : [{ by, event }];
  });
  return found ? { ...trigger, evidence: [...trigger.evidence, found.event.seq], note: found.by } : trigger;
}

const byUs: Rule = (trace, deletion) => {
  const { ours, facts } = deletion;
  if (!ours) return undefined;
  const evidence = [ours.sent.seq, ...(ours.answer ? [ours.answer.seq] : []), facts.seenSeq];
  return { kind: ours.verb === 'evict' ? 'eviction-api' : 'this-command', evidence, ...refusedBefore(trace, deletion) };
};

/** By how much an eviction that this command, or the drain that it follows, sent again was later than the first one. */
function refusedBefore({ requests }: Trace, { ours, facts }: Deletion): Pick<Trigger, 'note' | 'heldMs'> | undefined {
  const refused = requests.find(({ answer }) => answer?.value.status === 429);
  if (!refused) return undefined;
  const heldMs = (ours?.sent.at ?? facts.seenAt) - refused.sent.at;
  const by =
    refused.verb === 'evict'
      ? `a PodDisruptionBudget${ours && !refused.answer?.value.isByBudget ? ' or throttling' : ''}`
      : 'throttling';
  return { heldMs, note: `first refused for ${secondsOf(heldMs)} by ${by}` };
}

const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(1)}s`;

/** By the condition's reason: the kind, and the reason of the Event about it. A Map, as a reason can be `constructor`. */
const conditionKinds = new Map<string, { readonly kind: TriggerKind; readonly event?: string }>([
  ['EvictionByEvictionAPI', { kind: 'eviction-api' }],
  ['PreemptionByScheduler', { kind: 'preemption', event: 'Preempted' }],
  ['DeletionByTaintManager', { kind: 'taint', event: 'TaintManagerEviction' }],
  ['DeletionByDeviceTaintManager', { kind: 'device-taint', event: 'DeviceTaintManagerEviction' }],
  ['DeletionByPodGC', { kind: 'pod-gc' }],
]);

/** The condition is a cause only if it was there at the deletion: evictions add it later too (trap 26). */
const byCondition: Rule = (trace, deletion) => {
  const { facts, pod } = deletion;
  const condition = conditionOf(pod, 'DisruptionTarget');
  const reason = condition?.status === 'True' ? (condition.reason ?? '') : '';
  const { kind, event } = conditionKinds.get(reason) ?? {};
  // If we did not see the deletion, by the condition's own timestamp. Only an eviction's is of the same clock.
  const since = deletion.isWitnessed ? undefined : parseTime(condition?.lastTransitionTime);
  const latest = deletionRequestedAt(trace) + (kind === 'eviction-api' ? 0 : deliveryLag);
  if (!kind || (since !== undefined && since > latest)) return undefined;
  const events = trace.events.filter(
    (one) => one.about.kind === 'Pod' && one.reason === event && !one.message.startsWith('Cancelling'),
  );
  const seen = trace.disruption?.value === reason ? [trace.disruption.seq] : [];
  const drained = kind === 'eviction-api' ? trace.cordoned : undefined;
  const shown = [...events, ...(drained ? [drained] : [])].map(({ seq }) => seq);
  const heldMs = drained?.value ? facts.seenAt - drained.at : 0;
  const cordon =
    heldMs < 2000 ? 'its node is unschedulable' : `not until \u2248${secondsOf(heldMs)} after its node was cordoned`;
  return {
    kind,
    evidence: [...seen, facts.seenSeq, ...shown],
    ...(drained && { note: `${cordon}, as for a drain`, heldMs }),
    ...refusedBefore(trace, deletion),
  };
};

/** The deletion of a namespace deletes the owners too. Both timestamps are the API server's, in whole seconds. */
const byNamespace: Rule = ({ namespaceEnding }, { facts, pod }) => {
  if (!namespaceEnding) return undefined;
  const since = parseTime(namespaceEnding.value) ?? -Infinity;
  return since > (requestedAt(pod) ?? Infinity)
    ? undefined
    : { kind: 'namespace-deletion', evidence: [namespaceEnding.seq, facts.seenSeq] };
};

/** A Job that is suspended or done deletes its running pods; finished ones once ttlSecondsAfterFinished is over. */
const byJob: Rule = (trace, { facts, pod }) => {
  const controller = controllerOf(pod);
  if (controller?.kind !== 'Job') return undefined;
  const job = trace.owners.get(controller.uid);
  const gone = arrivedInTime(job?.gone, trace);
  if (gone && !(job && isExpired(job, trace))) return undefined;
  const event = deletedBy(trace);
  const ended = isFinished(pod) && !gone ? undefined : job && endedNear(job, trace);
  if (!event && !ended && !gone) return undefined;
  const ttl = gone && job?.last.value.spec.ttlSecondsAfterFinished;
  const note = ttl === undefined ? undefined : `whose ttlSecondsAfterFinished of ${ttl}s was over`;
  return { kind: 'job', note, evidence: [facts.seenSeq, ...[event, ended, gone].flatMap((fact) => fact?.seq ?? [])] };
};

/** Whether ttlSecondsAfterFinished had passed. A Job that disappears earlier was deleted by a client. */
function isExpired(job: OwnerFacts, trace: Trace): boolean {
  const { ttlSecondsAfterFinished: ttl } = job.last.value.spec;
  if (!job.ended || ttl === undefined) return false;
  const condition = job.last.value.status.conditions?.find(({ type }) => type === job.ended?.value);
  const ended = parseTime(condition?.lastTransitionTime) ?? -Infinity;
  return ended + ttl * 1000 <= deletionRequestedAt(trace) + deliveryLag;
}

/** The Job's end, if we saw it close to the deletion: a Job deletes its pods when it ends, not later. */
const endedNear = ({ first, ended }: OwnerFacts, trace: Trace): Fact<string> | undefined =>
  ended?.seq === first.seq ? undefined : withinCauseWindow(ended, trace);

/** An owner that the pod still named was removed before the pod was marked for deletion; no Event names it (trap 38). */
const byOwner: Rule = (trace, { facts, pod }) => {
  const ownerUids = (pod.metadata.ownerReferences ?? []).map(({ uid }) => uid);
  const parentUids = ownerUids.flatMap((uid) =>
    (trace.owners.get(uid)?.last.value.metadata.ownerReferences ?? []).map((owner) => owner.uid),
  );
  const gone = [...new Set([...ownerUids, ...parentUids])].flatMap(
    // The garbage collector acts after the owner is gone: a removal that arrives a second later was not the cause.
    (uid) => arrivedInTime(trace.owners.get(uid)?.gone, trace, 1000) ?? [],
  );
  if (gone.length === 0) return undefined;
  return { kind: 'owner-deleted', evidence: [...gone.map((owner) => owner.seq), facts.seenSeq] };
};

const rules: Rule[] = [byUs, byCondition, byNamespace, byJob, byOwner, byController];

/** For a new template or fewer replicas. Its Events say so, or name fewer pods than it deleted (SIGNALS.md §2.1). */
function byController(trace: Trace, { facts, pod }: Deletion): Trigger | undefined {
  const controller = controllerOf(pod);
  if (!controller) return undefined;
  const event = deletedBy(trace);
  const owner = trace.owners.get(controller.uid);
  const lowered = loweredNear(owner, trace);
  const unnamed = event ? undefined : unnamedOf(trace, controller, lowered);
  const isMissing = lowered !== undefined && eventMayBeMissing(trace, controller.name);
  if (!event && !unnamed && !isMissing) return undefined;
  const shown = [...(event ? [event] : []), ...(unnamed?.facts ?? lowered?.facts ?? [])];
  const evidence = [facts.seenSeq, ...new Set(shown.map(({ seq }) => seq))];
  const trigger = byChange(trace, pod, owner, lastLowering(trace, owner));
  return trigger && withAutoscaler(trace, owner, { ...trigger, evidence: [...evidence, ...trigger.evidence] });
}

/** The HPA's Event has only the new number (podautoscaler/horizontal.go): it must match for one autoscaler only. */
function withAutoscaler(trace: Trace, owner: OwnerFacts | undefined, trigger: Trigger): Trigger {
  const workload = parentOf(trace, owner) ?? owner;
  if (trigger.kind !== 'scale-down' || !workload) return trigger;
  if (workload.last.value.kind === 'DaemonSet') return { ...trigger, note: 'to fewer nodes' };
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

/** A scale-down whose Events name fewer pods than it had to delete: this pod may be one of the others. */
function unnamedOf(
  trace: Trace,
  controller: { kind: string; name: string; uid: string },
  lowered: Lowering | undefined,
): Lowering | undefined {
  const events = controller.kind === 'ReplicaSet' ? shrunkNear(controller.name, trace) : undefined;
  const largest = [lowered, events].flatMap((lowering) => lowering ?? []).sort((a, b) => b.by - a.by)[0];
  if (!largest || (largest.by < 2 && !isBurstUsedUp(trace, controller.uid))) return undefined;
  return countNamed(trace, controller.name) < largest.by ? largest : undefined;
}

/**
 * If it deletes one pod, its Event is missing only after 25 others about this owner in 5 minutes (SIGNALS.md §2.1), of
 * which each pod that it creates takes one. It creates none for a pod that was too many.
 */
function isBurstUsedUp(trace: Trace, controller: string): boolean {
  const own = [...trace.siblings.values()].filter(({ pod }) => controllerOf(pod)?.uid === controller);
  const at = deletionRequestedAt(trace);
  const ages = own.map(({ pod }) => at - (parseTime(pod.metadata.creationTimestamp) ?? at));
  return ages.every((age) => age > 0) && ages.filter((age) => age < 300_000).length >= 25;
}

const countNamed = (trace: Trace, owner: string): number =>
  new Set(
    trace.events.flatMap((event) => (event.about.name === owner && isPodDeletion(event, trace) ? event.message : [])),
  ).size;

/** A stuck rollout deletes no pod: pods of its template must start. Beside a Deployment's scale-down, the cause is unknown. */
function byChange(
  trace: Trace,
  pod: Pod,
  owner: OwnerFacts | undefined,
  scaled: Seen | undefined,
): Trigger | undefined {
  const isOfDeployment = controllerOf(pod)?.kind === 'ReplicaSet';
  const newer = isOfDeployment ? rolloutEvidence(trace, pod) : scaled ? undefined : otherTemplate(trace, pod);
  const rollout = newer ?? emptied(trace, owner);
  const evidence = [...(scaled ? [scaled.seq] : []), ...(rollout ?? [])];
  if (evidence.length === 0) return undefined;
  return { kind: !scaled ? 'rollout' : rollout ? 'unknown' : 'scale-down', evidence };
}

/** With strategy Recreate, no new pod starts before: its ReplicaSet wants none any more, and its Deployment still wants pods. */
function emptied(trace: Trace, owner: OwnerFacts | undefined): readonly number[] | undefined {
  const [deployment, at] = [parentOf(trace, owner), trace.deletion?.seenAt ?? 0];
  if (!owner || !deployment || wantedAt(owner, at) !== 0 || !wantedAt(deployment, at)) return undefined;
  return shrunkNear(owner.last.value.metadata.name, trace)?.facts.map(({ seq }) => seq);
}

function parentOf(trace: Trace, owner: OwnerFacts | undefined): OwnerFacts | undefined {
  const [parent] = owner?.last.value.metadata.ownerReferences ?? [];
  return parent && trace.owners.get(parent.uid);
}

/** The last change of a scale-down by the user: of a Deployment, or of a controller without an owner. */
function lastLowering(trace: Trace, owner: OwnerFacts | undefined): Seen | undefined {
  const isOfDeployment = owner?.last.value.kind === 'ReplicaSet' && owner.last.value.metadata.ownerReferences?.length;
  return loweredNear(isOfDeployment ? parentOf(trace, owner) : owner, trace)?.facts.at(-1);
}

/** Whether the controller's Event may be missing (SIGNALS.md trap 32), and no Event names another pod. */
function eventMayBeMissing(trace: Trace, owner: string): boolean {
  const isMissing =
    trace.namespaceEnding !== undefined ||
    isRefused(trace, 'owner-events') ||
    lostSince(trace, 'owner-events') < Infinity;
  return isMissing && countNamed(trace, owner) === 0;
}
