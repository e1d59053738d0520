/**
 * What a container did before the deletion. Whether it still ran: a late first list may show that it has ended, and sometimes
 * only an Event reports its start. Whether the kubelet was stopping it already for a reason of its own (SIGNALS.md §4, trap 20):
 * then grace period, hook and signal are not those of the deletion.
 */
import type { ContainerStatus, Pod } from '../model/kube.ts';
import { conditionOf, containersOf, isFinished, isRunning, statusesOf, type ContainerSpec } from '../model/pod.ts';
import { noContainerFacts } from '../model/reduce/notes.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerFacts, Occurrence, Trace } from '../model/trace.ts';
import type { InferContext, DeletionContext } from './context.ts';
import { isWitnessed, ranAtDeletion, type Deletion } from './deletion.ts';
import { isBefore, type Estimate } from './estimate.ts';

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
export function factsOfLastRun({ trace, deletion, network }: DeletionContext, name: string): ContainerFacts {
  const facts = trace.containers.get(name) ?? noContainerFacts;
  const first = deletion.facts.first.value;
  const start = deletion.grace === 0 ? startSince(trace, first, name) : undefined;
  if (!start) return facts;
  const known = statusesOf(first).find((one) => one.name === name)?.state.terminated;
  const isOfRunBefore = known !== undefined && facts.terminated?.value.startedAt === known.startedAt;
  const startedAt = network.toClient('node', start.time, start.at + 1);
  const { terminated, log } = facts;
  const { ended } = log;
  return {
    ...facts,
    terminated: isOfRunBefore ? undefined : terminated,
    log: { ...log, ended: known && ended && ended.at < startedAt.lo ? undefined : ended },
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

const ownReasons = new Set(['Evicted', 'Preempting', 'Terminated', 'DeadlineExceeded']);
const ownEvents = new Set(['Evicted', 'Preempting', 'DeadlineExceeded']);

/**
 * The kubelet ended the pod for a reason of its own; a status reports it only once nothing runs (SIGNALS.md §2). `by`: the
 * node's time (ms) at which it began to stop it: what it decided after that stopped nothing.
 */
function isKubeletsOwn({ pod, events, deletion }: Trace, by: number): boolean {
  const states = [pod, deletion?.first].flatMap((fact) => fact?.value ?? []);
  return (
    states.some(
      (one) =>
        ownReasons.has(one.status.reason ?? '') ||
        conditionOf(one, 'DisruptionTarget')?.reason === 'TerminationByKubelet',
    ) || events.some(({ reason, about, time }) => ownEvents.has(reason) && about.kind === 'Pod' && time.lo <= by)
  );
}

/** This "Stopping container" need not be the deletion's doing, though no clock says that it was before it. */
export function mayBeKubeletsOwn(trace: Trace, deletion: Deletion, { about, time }: Occurrence): boolean {
  if (isKubeletsOwn(trace, time.hi)) return true;
  const specs = containersOf(deletion.facts.first.value);
  const isSidecar = specs.some(({ name, kind }) => name === about.container && kind === 'sidecar');
  return (
    isSidecar &&
    !restartsAll(deletion) &&
    specs.every((one) => one.kind !== 'container' || isOver(trace, deletion, one, time.lo))
  );
}

/** It had ended by then (node clock), for good. */
function isOver(trace: Trace, deletion: Deletion, spec: ContainerSpec, by: number): boolean {
  const finished = parseFloor(trace.containers.get(spec.name)?.terminated?.value.finishedAt);
  const hasEnded = statusIn(deletion, spec)?.state.terminated !== undefined || (finished?.hi ?? Infinity) <= by;
  return hasEnded && !willStart(deletion, spec);
}

const statusIn = ({ facts }: Deletion, { name }: ContainerSpec): ContainerStatus | undefined =>
  statusesOf(facts.first.value).find((status) => status.name === name);

/** It waits to be started, or failed in a pod that starts such containers again: then its sidecars go on. */
export function willStart(deletion: Deletion, spec: ContainerSpec): boolean {
  const { state, restartCount = 0 } = statusIn(deletion, spec) ?? {};
  const isRestarted = deletion.facts.first.value.spec.restartPolicy === 'OnFailure' || restartCount > 0;
  return state?.waiting !== undefined || (isRestarted && (state?.terminated?.exitCode ?? 0) !== 0);
}

/** Where containers are restarted, the sidecars of those that have ended go on. */
const restartsAll = ({ facts }: Deletion): boolean => facts.first.value.spec.restartPolicy === 'Always';

/**
 * Whether it may have been stopped already. `mainsOver`: the containers that a sidecar serves had ended before the
 * deletion: then the kubelet stops it (SIGNALS.md §2.2 "Killing").
 */
export const mayBeStopped = (context: InferContext, spec: ContainerSpec, mainsOver: boolean): boolean =>
  isKubeletsOwn(context.trace, beganWith(context, spec)) ||
  (spec.kind === 'sidecar' && mainsOver && !restartsAll(context.deletion)) ||
  context.trace.events.some((event) => isOlderKill(context, spec, event));

/** Its first Killing, by the node's clock (ms). */
const beganWith = ({ kubelet }: InferContext, { name }: ContainerSpec): number =>
  kubelet.killings.get(name)?.[0]?.time.hi ?? Infinity;

/** A Killing of the run that the deletion found, and not of the deletion: a probe's, say, or one certainly before it. */
function isOlderKill({ trace, deletion, kubelet }: InferContext, spec: ContainerSpec, event: Occurrence): boolean {
  const { name } = spec;
  if (event.reason !== 'Killing' || event.about.kind !== 'Pod' || event.about.container !== name) return false;
  const own = kubelet.killings.get(name) ?? [];
  const isOwn = own.some(({ id, count }) => id === event.id && count === event.count);
  const isLater = event.time.lo > (own[0]?.time.lo ?? Infinity);
  // One of the second in which this run started ended the run before it, but for a postStart hook, which fails as a run starts.
  const edge = event.message === 'FailedPostStartHook' ? 'lo' : 'hi';
  // The status at its end may be of a later run.
  const starts = [
    statusIn(deletion, spec)?.state.running?.startedAt,
    trace.containers.get(name)?.terminated?.value.startedAt,
  ].map((stamp) => parseFloor(stamp)?.[edge] ?? -Infinity);
  return !isOwn && !isLater && event.time.lo >= Math.max(...starts);
}
