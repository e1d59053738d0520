/** Whether a pod of the same owner came for the one that is traced, in its place, or had been there before. Pure. */
import { requestTime } from './deletion.ts';
import type { Pod } from '../model/kube.ts';
import { controllerOf, isOlder } from '../model/pod.ts';
import { parseFloor } from '../model/stamps.ts';
import type { SiblingFacts, Trace } from '../model/trace.ts';

/** `unknown`: created in the second of the deletion, or unknown; it is neither said to be old nor a replacement. */
export type Age = 'old' | 'new' | 'unknown';

/**
 * A pod that came up while we watched is new, one that was there before the request is old. What a list first held after
 * that is judged by who was there before, and else by the API server's own clock: its creation against the second in which it
 * took the deletion. What holds for all of them is found once: there may be thousands.
 */
export function agesIn(trace: Trace): (sibling: SiblingFacts) => Age {
  const byKin = kinIn(trace);
  const isWrittenBefore = olderThanDeletion(trace);
  const first = trace.deletion?.first.value;
  const asked = trace.deletion && requestTime(trace, trace.deletion);
  return (sibling) => {
    const { pod, old, listedFirst } = sibling;
    if (old) return 'old';
    if (!listedFirst) return 'new';
    const counted = byKin(sibling);
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
export function kinIn(trace: Trace): (sibling: SiblingFacts) => Age | undefined {
  const { kin, deletion } = trace;
  const own = deletion?.first.value;
  // A list without the pod itself is no list of its controller's pods.
  if (!kin || !own || !kin.value.uids.has(own.metadata.uid) || !wasMadeBefore(trace, own)) return () => undefined;
  const controller = controllerOf(own)?.uid;
  return ({ pod }) => {
    if (kin.value.uids.has(pod.metadata.uid)) return 'old';
    return controllerOf(pod)?.uid === controller ? 'new' : undefined;
  };
}

/**
 * Versions of pods may be compared. The first state that is seen to be terminating may be younger than the deletion, where
 * something was missed: then the list must have been answered before we asked.
 */
function wasMadeBefore(trace: Trace, own: Pod): boolean {
  const { kin, requests, deletion } = trace;
  if (!kin || !isOlder(kin.value.resourceVersion, own.metadata.resourceVersion)) return false;
  return wasWholeUntil(trace, deletion?.seenAt ?? Infinity) || requests.some(({ sent }) => kin.seq < sent.seq);
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
