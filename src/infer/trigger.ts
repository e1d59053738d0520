/** What deleted the pod, as far as evidence goes (SIGNALS.md §4). Who sent a DELETE is stored nowhere. */
import type { Condition } from '../model/kube.ts';
import { conditionOf, controllerOf, isFinished, isRunning, statusesOf } from '../model/pod.ts';
import type { TriggerKind } from '../model/report.ts';
import { parseTime } from '../model/stamps.ts';
import type { Fact, OwnerFacts, Trace } from '../model/trace.ts';
import { requestedAt, arrivedInTime, deliveryLag, withinCauseWindow, controllerDelay } from './cause-window.ts';
import { byController, deletedBy } from './controller-trigger.ts';
import type { Deletion } from './deletion.ts';
import { isWitnessed } from './deletion.ts';
import type { Rule, Trigger } from './trigger-rule.ts';

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
    ...(drained ? { note: 'the node is unschedulable: a drain' } : {}),
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
