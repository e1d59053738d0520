/** Facts from a state of the pod. States may come late, twice, or from a server that is behind. */
import type { ContainerStatus, Pod } from '../kube.ts';
import {
  conditionOf,
  hasRunning,
  isFinished,
  isOlder,
  isRunning,
  isTerminating,
  statusesOf,
  statusOf,
} from '../pod.ts';
import { parseTime, requestedAt } from '../stamps.ts';
import type { Fact, Seen, Trace } from '../trace.ts';
import { clockReached, writesReached } from './clocks.ts';
import { factOf, addNote, withContainer } from './notes.ts';
import { foldSiblings } from './siblings.ts';

interface Source {
  /** The state was read from the store at this client time or later. */
  consistentSince?: number;
  /** The state came in the answer to our own request, not by a watch. */
  isAnswer?: true;
}

/** Adds one state of the traced pod, or of a successor with the same name. */
export function foldPod(trace: Trace, pod: Pod, seen: Seen, source: Source = {}): Trace {
  if (pod.metadata.uid === '' || isOtherPod(trace, pod)) return trace;
  if (trace.uid !== undefined && trace.uid !== pod.metadata.uid) return foldSuccessor(trace, pod, seen);
  const known = { ...trace, uid: pod.metadata.uid };
  return steps.reduce<Trace>((next, step) => step(next, pod, seen, source), known);
}

/** Another name or namespace than requested: a server, or a proxy before it, may ignore the selector. */
function isOtherPod({ began }: Trace, { metadata: { name, namespace } }: Pod): boolean {
  if (!began) return false;
  const differs = (received: string | undefined, asked: string): boolean =>
    received !== undefined && received !== '' && received !== asked;
  return differs(name, began.value.name) || differs(namespace, began.value.namespace);
}

/** Another pod has the name: the traced pod is gone, even if no watch reported it. */
export const foldSuccessor = (trace: Trace, pod: Pod, seen: Seen): Trace =>
  foldSiblings(gone(trace, 'absent', seen, 'another pod has the name'), [pod], seen, 'took-name');

export const gone = (trace: Trace, how: 'deleted' | 'absent', seen: Seen, what: string): Trace =>
  trace.gone ? trace : addNote({ ...trace, gone: factOf(how, seen) }, seen, what);

type Step = (trace: Trace, pod: Pod, seen: Seen, source: Source) => Trace;

const keepNewest: Step = (trace, pod, seen, { consistentSince = -Infinity }) => {
  const isStale = ({ value: known }: Fact<Pod>): boolean =>
    isOlder(pod.metadata.resourceVersion, known.metadata.resourceVersion);
  const next = trace.pod && isStale(trace.pod) ? trace : { ...trace, pod: factOf(pod, seen) };
  if (isTerminating(pod)) return next;
  const before = trace.before && isStale(trace.before) ? trace.before : factOf(pod, seen);
  return { ...next, before, notDeletingAt: Math.max(trace.notDeletingAt, consistentSince) };
};

const foldDeletion: Step = (trace, pod, seen, { isAnswer = false }) => {
  if (!isTerminating(pod)) return trace;
  if (!trace.deletion) {
    const underWay = trace.before === undefined && trace.requests.length === 0;
    const sight = { first: factOf(pod, seen), seenAt: seen.at, seenSeq: seen.seq };
    const deletion = { ...sight, isAnswer, underWay, nodeClock: trace.clocks.node };
    return addNote({ ...trace, deletion }, seen, `deletionTimestamp ${pod.metadata.deletionTimestamp}`);
  }
  const { resourceVersion } = pod.metadata;
  const known = trace.deletion.first.value.metadata.resourceVersion;
  if (isOlder(resourceVersion, known)) {
    const deletion = { ...trace.deletion, first: factOf(pod, seen), isAnswer };
    return addNote({ ...trace, deletion }, seen, 'an earlier state of the deletion');
  }
  // An answer may contain the same state as an earlier watch event.
  const isSame = resourceVersion !== undefined && resourceVersion === known;
  return isSame && isAnswer ? { ...trace, deletion: { ...trace.deletion, isAnswer } } : trace;
};

const foldGrace: Step = (trace, pod, seen) => {
  const { deletionGracePeriodSeconds: grace, deletionTimestamp: deadline, resourceVersion: rv } = pod.metadata;
  if (deadline === undefined || grace === undefined) return trace;
  if (trace.graces.some((one) => one.value.grace === grace && one.value.deadline === deadline)) return trace;
  const graces = [...trace.graces, factOf({ grace, deadline, rv }, seen)].sort((a, b) =>
    isOlder(a.value.rv, b.value.rv) ? -1 : isOlder(b.value.rv, a.value.rv) ? 1 : 0,
  );
  return addNote({ ...trace, graces }, seen, `grace ${grace} s, deadline ${deadline}`);
};

/** The kubelet wrote a status with the deletion's generation (SIGNALS.md §2 S3); before 1.35 there is none. */
const foldAcknowledged: Step = (trace, pod, seen) => {
  const wanted = trace.deletion?.first.value.metadata.generation;
  const before = trace.before?.value.metadata.generation;
  const seenGeneration = pod.status.observedGeneration;
  if (trace.acknowledged || !isTerminating(pod) || wanted === undefined || seenGeneration === undefined) return trace;
  if (seenGeneration < wanted || before === wanted || !isWrittenByKubelet(trace, pod)) return trace;
  const next: Trace = { ...trace, acknowledged: factOf(true, seen) };
  return addNote(next, seen, `observedGeneration ${seenGeneration}: the kubelet has the deletion`);
};

/** Whether the kubelet wrote the status, by managedFields, else by PodGC's condition or phase (SIGNALS.md §4). */
function isWrittenByKubelet({ deletion, before }: Trace, pod: Pod): boolean {
  const written = kubeletWrote(pod);
  if (written === undefined) {
    const isSwept = isFinished(pod) && hasRunning(pod);
    return !isSwept && conditionOf(pod, 'DisruptionTarget')?.reason !== 'DeletionByPodGC';
  }
  const asked = (deletion && requestedAt(deletion.first.value)) ?? Infinity;
  const earlier = before ? kubeletWrote(before.value) : undefined;
  // If a forced DELETE changed the deadline, the time of the request cannot be computed from it.
  return written >= asked || (before ? written !== earlier : isNewest(pod, written));
}

const statusWriters = ({ metadata: { managedFields = [] } }: Pod) =>
  managedFields.filter(({ subresource }) => subresource === 'status');

const kubeletWrote = (pod: Pod): number | undefined =>
  parseTime(statusWriters(pod).find(({ manager }) => manager === 'kubelet')?.time);

const isNewest = (pod: Pod, written: number): boolean =>
  statusWriters(pod).every(({ time }) => (parseTime(time) ?? -Infinity) <= written);

/** PodGC sets Failed while containers may still run; the kubelet only when none does (SIGNALS.md §4, S14). */
const foldPhase: Step = (trace, pod, seen) => {
  if (trace.terminal || !isFinished(pod) || hasRunning(pod)) return trace;
  return addNote({ ...trace, terminal: factOf(pod, seen) }, seen, `phase ${pod.status.phase}`);
};

/** Grace 0 on a finished pod is the kubelet's final DELETE (SIGNALS.md §0 row 9), before that a client's (trap 4). */
const foldFinal: Step = (trace, pod, seen) => {
  const { deletionGracePeriodSeconds: grace, finalizers = [] } = pod.metadata;
  if (grace !== 0 || !isTerminating(pod)) return trace;
  const forcedBefore = trace.graces.some((one) => one.value.grace === 0 && one.seq !== seen.seq);
  const isLast = isFinished(pod) && !trace.finalDelete && !forcedBefore;
  const final = isLast
    ? addNote({ ...trace, finalDelete: factOf(pod, seen) }, seen, 'grace 0: the last DELETE')
    : trace;
  if (finalizers.length === 0 || (final.finalizing && final.gone)) return final;
  return {
    ...final,
    finalizing: final.finalizing ? { ...final.finalizing, value: finalizers } : factOf(finalizers, seen),
  };
};

/** Kept only if it may be the cause: it must not be later than the deletionTimestamp (SIGNALS.md §4, trap 26). */
const foldDisruption: Step = (trace, pod, seen) => {
  const condition = conditionOf(pod, 'DisruptionTarget');
  const reason = condition?.reason ?? '';
  const later = trace.deletion !== undefined && trace.deletion.first.value !== pod;
  if (condition?.status !== 'True' || later || trace.disruption?.value === reason) return trace;
  return addNote({ ...trace, disruption: factOf(reason, seen) }, seen, `DisruptionTarget: ${condition.reason}`);
};

const foldStamps: Step = (trace, pod, seen) => {
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds: grace } = pod.metadata;
  const written = writesReached(clockReached(trace, 'api', parseTime(creationTimestamp), seen), pod, seen);
  return grace === 0 ? clockReached(written, 'api', parseTime(deletionTimestamp), seen) : written;
};

const steps: Step[] = [
  keepNewest,
  foldDeletion,
  foldGrace,
  foldAcknowledged,
  foldContainers,
  foldPhase,
  foldFinal,
  foldDisruption,
  foldStamps,
];

function foldContainers(trace: Trace, pod: Pod, seen: Seen): Trace {
  return statusesOf(pod).reduce((next, status) => foldStatus(next, pod, status, seen), trace);
}

function foldStatus(before: Trace, pod: Pod, status: ContainerStatus, seen: Seen): Trace {
  const { terminated } = status.state;
  const isLate = isOlder(pod.metadata.resourceVersion, before.pod?.value.metadata.resourceVersion);
  if (isLate && terminated && isRunning(statusOf(before.pod?.value, status.name)?.state)) return before;
  const trace =
    !isLate && isRunning(status.state) ? withNewRun(withLateStart(before, pod, status, seen), status.name) : before;
  const known = trace.containers.get(status.name);
  if (terminated) {
    const old = known?.terminated?.value;
    const same =
      old?.exitCode === terminated.exitCode &&
      old.finishedAt === terminated.finishedAt &&
      old.reason === terminated.reason;
    if (same) return trace;
    const ended = withContainer(trace, status.name, (facts) => ({ ...facts, terminated: factOf(terminated, seen) }));
    const next = clockReached(ended, 'node', parseTime(terminated.finishedAt), seen);
    const reason = terminated.reason === undefined ? '' : ` (${terminated.reason})`;
    return addNote(next, seen, `${status.name} terminated, code ${terminated.exitCode}${reason}`);
  }
  const wasReady = statusOf(trace.deletion?.first.value, status.name)?.ready === true;
  const isLost = isTerminating(pod) && isRunning(status.state) && !status.ready && wasReady;
  if (!isLost || known?.readyLost) return trace;
  const next = withContainer(trace, status.name, (facts) => ({ ...facts, readyLost: factOf(true, seen) }));
  return addNote(next, seen, `${status.name} not ready any more`);
}

/** A kubelet sync that is under way when the deletion comes still starts its containers (SIGNALS.md §2 S2). */
function withLateStart(trace: Trace, pod: Pod, { name }: ContainerStatus, seen: Seen): Trace {
  const ranFirst = isRunning(statusOf(trace.deletion?.first.value, name)?.state);
  if (!isTerminating(pod) || !trace.deletion || ranFirst || trace.containers.get(name)?.startedLate) return trace;
  const next = withContainer(trace, name, (facts) => ({ ...facts, startedLate: factOf(true, seen) }));
  return addNote(next, seen, `${name} runs, started since the deletion`);
}

/** The container restarted: termination and readiness of its previous run no longer apply. */
function withNewRun(trace: Trace, name: string): Trace {
  if (!trace.containers.get(name)?.terminated) return trace;
  return withContainer(trace, name, ({ terminated: _terminated, readyLost: _readyLost, ...facts }) => facts);
}
