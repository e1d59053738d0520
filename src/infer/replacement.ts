/** The pod that replaces the deleted one, by name or owner and place: before the deletion only in a rollout. */
import type { Pod } from '../model/kube.ts';
import { controllerOf, isOlder } from '../model/pod.ts';
import type { TriggerKind } from '../model/report.ts';
import { atMost } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { Fact, SiblingFacts, Trace } from '../model/trace.ts';
import { constrainChange, writtenAt, type ApiChange } from './arrival.ts';
import type { DeletionContext, Replacement } from './context.ts';
import { type Deletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import { deletedBy, isOfNewerTemplate } from './workload-changes.ts';

export function replacementOf(context: DeletionContext, trigger: TriggerKind): Replacement | undefined {
  const { trace, deletion } = context;
  const own = deletion.pod;
  // No pod replaces this one, or we cannot know: a new pod after a scale-down replaces another one.
  const isOfSet = controllerOf(own)?.kind === 'ReplicaSet';
  if (trigger === 'scale-down' || (trigger === 'unknown' && isOfSet && deletedBy(trace))) return undefined;
  const ageOf = agesIn(trace);
  const isWrittenBefore = olderThanDeletion(trace);
  const isOf = (age: Age, [, facts]: Sibling): boolean => ageOf(facts) === age && isReplacementSlot(own, facts);
  const siblings = [...trace.siblings]
    .filter(([uid]) => uid !== own.metadata.uid)
    .sort(([, a], [, b]) => a.seen.seq - b.seen.seq);
  const free = siblings.filter(([uid]) => !trace.taken.has(uid));
  // Stops at the first match: a scale-up can bring thousands of pods.
  for (const isCandidate of candidatesFor(own)) {
    const later = free.filter(([, { pod }]) => isCandidate(pod) && !isWrittenBefore(pod));
    // What is perhaps older than the deletion may be the replacement: then it is not known.
    if (later.some((one) => isOf('unknown', one))) return undefined;
    const found = later.find((one) => isOf('new', one));
    if (found) return replacement(context, ...found);
  }
  // A pod of the new template from before the deletion: only if it is the only one, and no other can come any more.
  if (trigger !== 'rollout' || !trace.gone) return undefined;
  const newer = siblings.filter((sibling) => isOfNewerTemplate(sibling[1], own) && isOf('new', sibling));
  const [only] = newer;
  return only && newer.length === 1 && free.includes(only) ? replacement(context, ...only) : undefined;
}

type Sibling = readonly [uid: string, facts: SiblingFacts];

/** Candidates for the replacement, best first: of the same name, of the same controller, of the same workload. */
const candidatesFor = (own: Pod): ((pod: Pod) => boolean)[] => [
  (pod) => pod.metadata.name === own.metadata.name,
  (pod) => controllerOf(pod)?.uid === controllerOf(own)?.uid,
  () => true,
];

function replacement(context: DeletionContext, uid: string, facts: SiblingFacts): Replacement {
  const { deletion } = context;
  const { pod, seen, scheduled, started, ready } = facts;
  const [created, bound] = ['replacement-created', 'replacement-scheduled'];
  // Of a pod that the watch brought as new, a higher resourceVersion means that it was created later.
  const isAfterDeletion =
    facts.listedFirst || isOlder(deletion.pod.metadata.resourceVersion, pod.metadata.resourceVersion);
  const after = isAfterDeletion ? ['accepted'] : [];
  const createdAt = stepAt(context, facts, created, seen, { after, stamp: parseFloor(pod.metadata.creationTimestamp) });
  return {
    name: pod.metadata.name,
    uid,
    createdAt,
    // The API server sets the condition's timestamp as it binds the pod to its node.
    scheduledAt:
      scheduled && stepAt(context, facts, bound, scheduled, { after: [created], stamp: parseFloor(scheduled.value) }),
    startedAt: started && stepAt(context, facts, 'replacement-started', started, startOf(deletion, facts)),
    readyAt: ready && stepAt(context, facts, 'replacement-ready', ready, { after: [created] }),
  };
}

/** Why the replacement was not there, by its own state or that of its owner; if it is not there yet, by the owner's last. */
export function replacementHold({ siblings, owners }: Trace, replacement: Replacement | undefined) {
  const failures = [...owners.values()].flatMap(({ failed, last }) => {
    // No state of these owners shows that they can create pods again.
    const isLasting = ['StatefulSet', 'DaemonSet'].includes(last.value.kind) || (failed?.seq ?? 0) >= last.seq;
    return failed && (replacement ? failed.at < replacement.createdAt.client.hi : isLasting) ? failed : [];
  });
  return siblings.get(replacement?.uid ?? '')?.held ?? failures.at(-1);
}

type Causes = Pick<ApiChange, 'after' | 'stamp' | 'clock'>;

/** When the replacement took a step. What the first list shows may be old. */
function stepAt(
  { trace, network }: DeletionContext,
  { listedFirst, seen, onPodStream = [] }: SiblingFacts,
  name: string,
  fact: Fact<unknown>,
  causes: Causes,
): Estimate {
  const mayBeOld = (listedFirst && fact.seq === seen.seq) || causes.clock === 'node';
  const stream = onPodStream.includes(fact.seq) ? 'pod' : 'siblings';
  const written = mayBeOld ? atMost(fact.at + 1) : writtenAt(trace, fact, stream);
  constrainChange(network, name, { fact, written, ...causes });
  return network.read(name, 'observed');
}

/** Only its timestamp bounds the start from below, if the replacement runs on the same node, whose clock is known. */
function startOf({ pod }: Deletion, { started, scheduled }: SiblingFacts): Causes {
  const { at, node } = started?.value ?? {};
  const isSameNode = node !== undefined && node === pod.spec.nodeName;
  const after = [scheduled ? 'replacement-scheduled' : 'replacement-created'];
  return { after, stamp: isSameNode ? parseFloor(at) : undefined, clock: 'node' };
}

/** Created before or after the deletion. */
export type Age = 'old' | 'new' | 'unknown';

/** Returns a function for the age of a sibling. What siblings share is computed once: there can be thousands. */
export function agesIn(trace: Trace): (sibling: SiblingFacts) => Age {
  const isWrittenBefore = olderThanDeletion(trace);
  const first = trace.deletion?.first.value;
  return ({ pod, old, listedFirst }) => {
    if (old) return 'old';
    if (!listedFirst) return 'new';
    return first && isWrittenBefore(pod) ? 'old' : 'unknown';
  };
}

/** By resourceVersion against the first terminating state. False if that may be newer than a replacement. */
export function olderThanDeletion(trace: Trace): (pod: Pod) => boolean {
  const { deletion, gaps } = trace;
  const isMissed = gaps.some(({ value: { stream, from } }) => stream === 'pod' && from < (deletion?.seenAt ?? 0));
  if (!deletion || deletion.underWay || (isMissed && !deletion.isAnswer)) return () => false;
  const first = deletion.first.value.metadata.resourceVersion;
  return ({ metadata }) => isOlder(metadata.resourceVersion, first);
}

const completionIndex = (pod: Pod): string | undefined =>
  pod.metadata.labels?.['batch.kubernetes.io/job-completion-index'];

/** A StatefulSet gives places by name, a DaemonSet by node (once scheduled), an indexed Job by index. */
export function isReplacementSlot(own: Pod, { pod, node }: SiblingFacts): boolean {
  const sameName = pod.metadata.name === own.metadata.name;
  switch (controllerOf(own)?.kind) {
    case 'StatefulSet':
      return sameName;
    case 'DaemonSet':
      return sameName || (node !== undefined && node === own.spec.nodeName);
    case 'Job':
      return completionIndex(pod) === completionIndex(own);
    default:
      return true;
  }
}
