/**
 * The pod that takes over: of the same name, or of the same owner, and in the same place where pods have places. It comes after
 * the deletion; only a rollout may have made it before, where no other pod comes. Pods that go at once are equal to their
 * controller: each new one is named once, for the first of them that is reported.
 */
import type { Pod } from '../model/kube.ts';
import { controllerOf, isOlder } from '../model/pod.ts';
import type { TriggerKind } from '../model/report.ts';
import { atLeast, atMost } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { Fact, SiblingFacts, Trace } from '../model/trace.ts';
import { arrival } from './arrival.ts';
import type { DeletionContext, Replacement } from './context.ts';
import { requestTime } from './deletion.ts';
import { narrowed, narrowedByCause, notBefore, onClient, unbounded, type Estimate } from './estimate.ts';
import { deletedBy, isOfNewerTemplate } from './workload-changes.ts';

export function replacementOf(context: DeletionContext, trigger: TriggerKind): Replacement | undefined {
  const { trace, deletion } = context;
  const own = deletion.facts.first.value;
  if (isUnwanted(trace, own, trigger)) return undefined;
  const ageOf = agesIn(trace);
  const isWrittenBefore = olderThanDeletion(trace);
  const isBefore = ([, facts]: Sibling): boolean => isWrittenBefore(facts.pod) || isStampedBefore(context, facts);
  const isOf = (age: Age, [, facts]: Sibling): boolean => ageOf(facts) === age && isReplacementSlot(own, facts);
  const siblings = [...trace.siblings]
    .filter(([uid]) => uid !== own.metadata.uid)
    .sort(([, a], [, b]) => a.seen.seq - b.seen.seq);
  const all = siblings.filter(([uid]) => !trace.taken.has(uid));
  // Looked at only as far as needed: when a workload is scaled up thousands may come, and one of the first is the one.
  for (const isMeant of rankedFor(own)) {
    const [uid, facts] = all.find((one) => isMeant(one[1].pod) && isOf('new', one) && !isBefore(one)) ?? [];
    // A pod created in the deletion's own second may be the replacement: then a later one is not.
    const isDoubtful = (one: Sibling): boolean =>
      isMeant(one[1].pod) && isOf('unknown', one) && !isBefore(one) && !isYounger(one[1], facts);
    if (all.some(isDoubtful)) return undefined;
    if (uid !== undefined && facts) return replacement(context, uid, facts);
  }
  // Which of several replaces this pod is unknown, and before the pod is gone one may still come for it.
  if (trigger !== 'rollout' || !trace.gone) return undefined;
  const ahead = siblings.filter((one) => isOfNewerTemplate(one[1], own) && isOf('new', one));
  const [only] = ahead;
  return only && ahead.length === 1 && all.includes(only) ? replacement(context, ...only) : undefined;
}

type Sibling = readonly [uid: string, facts: SiblingFacts];

/**
 * A pod that comes up afterwards replaces another one. A ReplicaSet deletes a pod of its own only to have fewer, for a rollout
 * or for good: where it is not known which, neither is whether another one was wanted.
 */
function isUnwanted(trace: Trace, own: Pod, trigger: TriggerKind): boolean {
  const isOfSet = controllerOf(own)?.kind === 'ReplicaSet';
  return trigger === 'scale-down' || (trigger === 'unknown' && isOfSet && deletedBy(trace) !== undefined);
}

/** Whom to take for it, in this order: a pod of its name, one of its controller, any of the workload. */
const rankedFor = ({ metadata, ...own }: Pod): ((pod: Pod) => boolean)[] => [
  (pod) => pod.metadata.name === metadata.name,
  (pod) => controllerOf(pod)?.uid === controllerOf({ metadata, ...own })?.uid,
  () => true,
];

/** It was created after that one. */
const isYounger = ({ pod }: SiblingFacts, other: SiblingFacts | undefined): boolean =>
  other !== undefined &&
  (parseFloor(pod.metadata.creationTimestamp)?.lo ?? -Infinity) >=
    (parseFloor(other.pod.metadata.creationTimestamp)?.hi ?? Infinity);

function isStampedBefore({ deletion, network }: DeletionContext, { pod, seen }: SiblingFacts): boolean {
  const stamp = parseFloor(pod.metadata.creationTimestamp);
  return stamp !== undefined && network.toClient('api', stamp, seen.at + 1).hi < deletion.accepted.client.lo;
}

function replacement(context: DeletionContext, uid: string, facts: SiblingFacts): Replacement {
  const { trace, deletion, network } = context;
  const stamp = parseFloor(facts.pod.metadata.creationTimestamp);
  const known = network.stamped(arrivalOf(trace, facts, facts.seen, unbounded), 'api', stamp, facts.seen);
  // resourceVersions of pods may be compared: one that came up later was created later. In a list it may be of a change.
  const isCounted = facts.listedFirst && agesByEarlierList(trace)(facts) === 'new';
  const after = facts.listedFirst
    ? !isCounted
    : isOlder(deletion.facts.first.value.metadata.resourceVersion, facts.pod.metadata.resourceVersion);
  const since =
    isCounted && trace.siblingUids ? onClient(atLeast(trace.siblingUids.value.sentAt), [trace.siblingUids.seq]) : known;
  const created = after
    ? narrowed(known, { ...notBefore(deletion.accepted), evidence: [deletion.facts.seenSeq] })
    : narrowed(known, since);
  const scheduled = scheduledAt(context, facts, created);
  const started = facts.started && startedAt(context, facts.started, scheduled ?? created);
  const ready = facts.ready && arrivalOf(trace, facts, facts.ready, created);
  return { name: facts.pod.metadata.name, uid, created, scheduled, started, ready };
}

/** The apiserver stamps the condition as it binds the pod to its node. */
function scheduledAt(
  { trace, network }: DeletionContext,
  facts: SiblingFacts,
  created: Estimate,
): Estimate | undefined {
  const { scheduled: fact } = facts;
  if (!fact) return undefined;
  return network.stamped(arrivalOf(trace, facts, fact, created), 'api', parseFloor(fact.value), fact);
}

/**
 * A kubelet stamps the start, and reports it later: only the stamp bounds it from below, and only where the
 * replacement runs on the node whose clock is known.
 */
function startedAt(
  { deletion, network }: DeletionContext,
  fact: NonNullable<SiblingFacts['started']>,
  scheduled: Estimate,
): Estimate {
  const known = arrivedBy(fact, scheduled);
  const { at, node } = fact.value;
  const isSameNode = node !== undefined && node === deletion.facts.first.value.spec.nodeName;
  return isSameNode ? network.stamped(known, 'node', parseFloor(at), fact, known.client.lo) : known;
}

/** What a late first list shows may have been so for a long time. */
function arrivalOf(trace: Trace, facts: SiblingFacts, fact: Fact<unknown>, cause: Estimate): Estimate {
  const { listedFirst, seen, onPodStream = [] } = facts;
  const stream = onPodStream.includes(fact.seq) ? 'pod' : 'siblings';
  if (!listedFirst || fact.seq !== seen.seq) return arrival(trace, fact, stream, cause);
  return arrivedBy(fact, cause);
}

const arrivedBy = ({ at, seq }: Fact<unknown>, cause: Estimate): Estimate =>
  narrowedByCause(onClient(atMost(at + 1), [seq], 'observed'), cause);

/** `unknown`: created in the second of the deletion, or unknown; it is neither said to be old nor a replacement. */
export type Age = 'old' | 'new' | 'unknown';

/**
 * A pod that came up while we watched is new, one that was there before the request is old. What a list first held after
 * that is judged by who was there before, and else by the API server's own clock: its creation against the second in which it
 * took the deletion. What holds for all of them is found once: there may be thousands.
 */
export function agesIn(trace: Trace): (sibling: SiblingFacts) => Age {
  const byEarlierList = agesByEarlierList(trace);
  const isWrittenBefore = olderThanDeletion(trace);
  const first = trace.deletion?.first.value;
  const asked = trace.deletion && requestTime(trace, trace.deletion);
  return (sibling) => {
    const { pod, old, listedFirst } = sibling;
    if (old) return 'old';
    if (!listedFirst) return 'new';
    const counted = byEarlierList(sibling);
    if (counted) return counted;
    if (!first) return 'unknown';
    if (isWrittenBefore(pod)) return 'old';
    const created = parseFloor(pod.metadata.creationTimestamp);
    if (!created || !asked) return 'unknown';
    if (created.hi <= asked.lo) return 'old';
    return created.lo >= asked.hi ? 'new' : 'unknown';
  };
}

/**
 * Whether the state of a pod is older than the one in which the traced pod was first seen to terminate. Versions of pods may
 * be compared, but where the deletion itself was not witnessed, that state may be younger than a pod that came for it.
 */
export function olderThanDeletion(trace: Trace): (pod: Pod) => boolean {
  const { deletion } = trace;
  if (!deletion || deletion.underWay || !(deletion.isAnswer || wasWholeUntil(trace, deletion.seenAt)))
    return () => false;
  const first = deletion.first.value.metadata.resourceVersion;
  return ({ metadata }) => isOlder(metadata.resourceVersion, first);
}

/** Nothing of the pod was missed by then (client ms). */
const wasWholeUntil = ({ gaps }: Trace, at: number): boolean =>
  gaps.every(({ value }) => value.stream !== 'pod' || value.from >= at);

/** What the list of the controller's pods that was made before the deletion says of a pod; nothing of another one's. */
function agesByEarlierList(trace: Trace): (sibling: SiblingFacts) => Age | undefined {
  const { siblingUids, deletion } = trace;
  const own = deletion?.first.value;
  // A list without the pod itself is no list of its controller's pods.
  if (!siblingUids || !own || !siblingUids.value.uids.has(own.metadata.uid) || !wasMadeBefore(trace, own))
    return () => undefined;
  const controller = controllerOf(own)?.uid;
  return ({ pod }) => {
    if (siblingUids.value.uids.has(pod.metadata.uid)) return 'old';
    return controllerOf(pod)?.uid === controller ? 'new' : undefined;
  };
}

/**
 * Versions of pods may be compared. The first state that is seen to be terminating may be younger than the deletion, where
 * something was missed: then the list must have been answered before we asked.
 */
function wasMadeBefore(trace: Trace, own: Pod): boolean {
  const { siblingUids, requests, deletion } = trace;
  if (!siblingUids || !isOlder(siblingUids.value.resourceVersion, own.metadata.resourceVersion)) return false;
  return wasWholeUntil(trace, deletion?.seenAt ?? Infinity) || requests.some(({ sent }) => siblingUids.seq < sent.seq);
}

const index = (pod: Pod): string | undefined => pod.metadata.labels?.['batch.kubernetes.io/job-completion-index'];

/**
 * Some owners give their pods places: a StatefulSet by name, a DaemonSet by node, an indexed Job by index. Whether it may
 * take over from `own`: it is in the same place, or there are no places. Until a DaemonSet's pod has a
 * node it is unknown which one it is for.
 */
export function isReplacementSlot(own: Pod, { pod, node }: SiblingFacts): boolean {
  const sameName = pod.metadata.name === own.metadata.name;
  switch (controllerOf(own)?.kind) {
    case 'StatefulSet':
      return sameName;
    case 'DaemonSet':
      return sameName || (node !== undefined && node === own.spec.nodeName);
    case 'Job':
      return index(pod) === index(own);
    default:
      return true;
  }
}
