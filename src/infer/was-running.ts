/** Whether a container still ran when the deletion came: a late first look found it ended, or only an Event reports its start. */
import type { ContainerStatus, Pod } from '../model/kube.ts';
import { containersOf, isFinished, isRunning, statusesOf, type ContainerSpec } from '../model/pod.ts';
import { parseFloor } from '../model/stamps.ts';
import { noContainerFacts } from '../model/reduce/notes.ts';
import type { ContainerFacts, Occurrence, Trace } from '../model/trace.ts';
import { isWitnessed, ranAtDeletion } from './deletion.ts';
import { isBefore, type Estimate } from './estimate.ts';
import type { InferContext, Staged } from './context.ts';

/**
 * `status`: of the first state of the deletion that was seen; where that is a later one (trap 2), what ended in it may have
 * ended because of the deletion. 'perhaps': nothing shows which of the two it was.
 */
export function ranUntilEnd(
  context: InferContext,
  spec: ContainerSpec,
  { status, ended }: { status: ContainerStatus | undefined; ended: Estimate | undefined },
): boolean | 'perhaps' {
  const { trace, deletion, kubelet } = context;
  if (!status?.state.terminated || isWitnessed(trace, deletion.facts)) return false;
  if (isOlder(context, spec, ended)) return false;
  if (!ended) return 'perhaps';
  if (isBefore(deletion.accepted, ended) || (kubelet.noticed && isBefore(kubelet.noticed, ended))) return true;
  return isFinished(deletion.facts.first.value) && ranAtDeletion(deletion) && wasLast(context, status)
    ? true
    : 'perhaps';
}

/**
 * It was started after the first state of the deletion had been written: a sync that is under way is not cancelled, and only
 * then stops what it has started (SIGNALS.md §2 S2). What never ran bears no time of a start (trap 24).
 */
export function wasStartedLate(
  { deletion }: InferContext,
  spec: ContainerSpec,
  { startedLate, terminated }: ContainerFacts,
): boolean {
  if (startedLate) return true;
  const first = statusesOf(deletion.facts.first.value).find(({ name }) => name === spec.name);
  const runs = [first?.state.running, first?.state.terminated, first?.lastState?.terminated];
  const started = terminated?.value.startedAt;
  return parseFloor(started) !== undefined && runs.every((run) => run?.startedAt !== started);
}

/** It had ended before, by its time, its kind, or because the status that ends the pod does not know of the deletion. */
function isOlder({ deletion }: InferContext, spec: ContainerSpec, ended: Estimate | undefined): boolean {
  const { metadata, status } = deletion.facts.first.value;
  const { observedGeneration: seen = Infinity } = status;
  const isUnaware = isFinished(deletion.facts.first.value) && seen < (metadata.generation ?? 0);
  return (
    (ended !== undefined && isBefore(ended, deletion.accepted)) ||
    (spec.kind === 'init' && haveMainsRun(deletion.facts.first.value)) ||
    isUnaware
  );
}

/** An init container ends before any main one starts. */
const haveMainsRun = (pod: Pod): boolean =>
  statusesOf(pod).some(
    ({ name, state }) =>
      containersOf(pod).some((spec) => spec.name === name && spec.kind === 'container') &&
      (isRunning(state) || state.terminated?.startedAt !== undefined),
  );

/**
 * Its end made the pod finished: none of the pod ended in a later second, or was never started and ended with the pod, and
 * it did not itself wait to be started again, as one that crashes in a loop does.
 */
function wasLast({ deletion }: InferContext, { state }: ContainerStatus): boolean {
  const pod = deletion.facts.first.value;
  const end = parseFloor(state.terminated?.finishedAt)?.lo ?? -Infinity;
  return (
    pod.spec.restartPolicy === 'Never' &&
    statusesOf(pod).every((other) => (parseFloor(other.state.terminated?.finishedAt)?.lo ?? Infinity) <= end)
  );
}

/**
 * An Event reports its start, and nothing its end: a status is written only once a postStart hook is over, and one that was on
 * its way when the object was removed is never written (SIGNALS.md §2 "Force").
 */
export const mayHaveRestarted = ({ trace, deletion }: InferContext, spec: ContainerSpec): boolean =>
  deletion.grace === 0 && wasStartedSince(trace, deletion.facts.first.value, spec.name);

/** Without the end of the run before, of its status and of its log, where only an Event reports a later one. */
export function factsOfLastRun({ trace, deletion, stage }: Staged, name: string): ContainerFacts {
  const facts = trace.containers.get(name) ?? noContainerFacts;
  const first = deletion.facts.first.value;
  const start = deletion.grace === 0 ? startSince(trace, first, name) : undefined;
  if (!start) return facts;
  const known = statusesOf(first).find((one) => one.name === name)?.state.terminated;
  const isOfRunBefore = known !== undefined && facts.terminated?.value.startedAt === known.startedAt;
  const startedAt = stage.toClient('node', start.time, start.at + 1);
  const { terminated, log, ...others } = facts;
  const { ended, ...rest } = log;
  return {
    ...others,
    ...(terminated && !isOfRunBefore ? { terminated } : {}),
    log: { ...rest, ...(ended && !(known && ended.at < startedAt.lo) ? { ended } : {}) },
  };
}

/** The Event of a start that is, by its kubelet's clock, after the last end of the container that was reported. */
function startSince({ events }: Trace, pod: Pod, name: string): Occurrence | undefined {
  const status = statusesOf(pod).find((one) => one.name === name);
  if (isFinished(pod) || isRunning(status?.state)) return undefined;
  const ends = [status?.state.terminated, status?.lastState?.terminated].map(
    (one) => parseFloor(one?.finishedAt)?.hi ?? -Infinity,
  );
  return events.find(
    ({ reason, about, time }) => reason === 'Started' && about.container === name && time.lo >= Math.max(...ends),
  );
}

export const wasStartedSince = (trace: Trace, pod: Pod, name: string): boolean =>
  startSince(trace, pod, name) !== undefined;
