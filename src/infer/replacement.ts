/**
 * The pod that takes over: of the same name, or of the same owner, and in the same place where pods have places. It comes after
 * the deletion; only a rollout may have made it before, where no other pod comes. Pods that go at once are equal to their
 * controller: each new one is named once, for the first of them that is reported.
 */
import type { Pod } from '../model/kube.ts';
import { controllerOf, isOlder } from '../model/pod.ts';
import { atMost } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { TriggerKind } from '../model/report.ts';
import { agesIn, isReplacementSlot, kinIn, olderThanDeletion, type Age } from './siblings.ts';
import type { Fact, SiblingFacts, Trace } from '../model/trace.ts';
import { arrival } from './arrival.ts';
import { deletedBy } from './cause-window.ts';
import { narrowed, notBefore, onClient, unbounded, type Estimate } from './estimate.ts';
import type { Staged } from './context.ts';
import { isOfNewerTemplate } from './template.ts';

export interface Replacement {
  readonly name: string;
  readonly uid: string;
  readonly created: Estimate;
  readonly scheduled?: Estimate;
  /** All its main containers run. */
  readonly started?: Estimate;
  readonly ready?: Estimate;
}

export function replacementOf(context: Staged, trigger: TriggerKind): Replacement | undefined {
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

function isStampedBefore({ deletion, stage }: Staged, { pod, seen }: SiblingFacts): boolean {
  const stamp = parseFloor(pod.metadata.creationTimestamp);
  return stamp !== undefined && stage.toClient('api', stamp, seen.at + 1).hi < deletion.accepted.client.lo;
}

function replacement(context: Staged, uid: string, facts: SiblingFacts): Replacement {
  const { trace, deletion, stage } = context;
  const stamp = parseFloor(facts.pod.metadata.creationTimestamp);
  const seen = toldBy(trace, facts, facts.seen, unbounded);
  const known = stamp
    ? narrowed(seen, onClient(stage.toClient('api', stamp, facts.seen.at + 1), [facts.seen.seq]))
    : seen;
  // resourceVersions of pods may be compared: one that came up later was created later. In a list it may be of a change.
  const isCounted = facts.listedFirst && kinIn(trace)(facts) === 'new';
  const after = facts.listedFirst
    ? !isCounted
    : isOlder(deletion.facts.first.value.metadata.resourceVersion, facts.pod.metadata.resourceVersion);
  const since =
    isCounted && trace.kin ? onClient({ lo: trace.kin.value.sentAt, hi: Infinity }, [trace.kin.seq]) : known;
  const created = after
    ? narrowed(known, { ...notBefore(deletion.accepted), evidence: [deletion.facts.seenSeq] })
    : narrowed(known, since);
  const scheduled = scheduledAt(context, facts, created);
  const started = facts.started && startedAt(context, facts.started, scheduled ?? created);
  const ready = facts.ready && toldBy(trace, facts, facts.ready, created);
  return { name: facts.pod.metadata.name, uid, created, scheduled, started, ready };
}

/** The apiserver stamps the condition as it binds the pod to its node. */
function scheduledAt({ trace, stage }: Staged, facts: SiblingFacts, created: Estimate): Estimate | undefined {
  const { scheduled: fact } = facts;
  if (!fact) return undefined;
  const seen = toldBy(trace, facts, fact, created);
  const stamp = parseFloor(fact.value);
  return stamp ? narrowed(seen, onClient(stage.toClient('api', stamp, fact.at + 1), [fact.seq])) : seen;
}

/**
 * A kubelet stamps the start, and reports it later: only the stamp bounds it from below, and only where the
 * replacement runs on the node whose clock is known.
 */
function startedAt(
  { deletion, stage }: Staged,
  { value, seq, at }: NonNullable<SiblingFacts['started']>,
  scheduled: Estimate,
): Estimate {
  const known = narrowed(onClient(atMost(at + 1), [seq], 'observed'), { ...notBefore(scheduled), evidence: [] });
  const stamp = parseFloor(value.at);
  const isSameNode = value.node !== undefined && value.node === deletion.facts.first.value.spec.nodeName;
  if (!stamp || !isSameNode) return known;
  return narrowed(known, onClient(stage.toClient('node', stamp, at + 1, known.client.lo), [seq]));
}

/** What stands in a late first list may have been so for long. */
function toldBy(trace: Trace, facts: SiblingFacts, fact: Fact<unknown>, cause: Estimate): Estimate {
  const { listedFirst, seen, onPodStream = [] } = facts;
  const stream = onPodStream.includes(fact.seq) ? 'pod' : 'siblings';
  if (!listedFirst || fact.seq !== seen.seq) return arrival(trace, fact, stream, cause);
  return narrowed(onClient({ lo: -Infinity, hi: fact.at + 1 }, [fact.seq], 'observed'), {
    ...notBefore(cause),
    evidence: [],
  });
}
