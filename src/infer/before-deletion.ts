/** Did the container still run at the deletion, or was the kubelet already stopping it (SIGNALS.md §4, trap 20)? */
import { signalLag } from '../model/assumptions.ts';
import type { Pod } from '../model/kube.ts';
import {
  conditionOf,
  containersOf,
  isFinished,
  isMadeUp,
  isRunning,
  runtimeOf,
  statusesOf,
  statusOf,
  type PodContainer,
} from '../model/pod.ts';
import { noContainerFacts } from '../model/reduce/notes.ts';
import { parseFloor } from '../model/stamps.ts';
import { eventsAbout, type ContainerFacts, type Occurrence, type Trace } from '../model/trace.ts';
import type { DeletionContext, InferContext } from './context.ts';
import type { Deletion } from './deletion.ts';
import { isBefore } from './estimate.ts';
import { moment } from './pod-network.ts';

/** Whether it may have run until the deletion, though the first state that we saw has it terminated. */
export const mayHaveRunUntilEnd = (container: ContainerContext): boolean =>
  container.status?.state.terminated !== undefined &&
  !container.deletion.isWitnessed &&
  !endedBeforeDeletion(container);

/** Whether it did for certain, as it ended after the deletion, or after the kubelet had noticed that. */
export const ranUntilEnd = (container: ContainerContext): boolean =>
  mayHaveRunUntilEnd(container) &&
  [container.deletion.accepted, container.kubelet.noticed].some(
    (since) => since && container.ended && isBefore(since, container.ended),
  );

/** The kubelet does not cancel a sync under way (SIGNALS.md §2 S2). What never ran has no startedAt (trap 24). */
export function wasStartedLate({ status, facts: { startedLate, terminated } }: ContainerContext): boolean {
  if (startedLate) return true;
  const runs = [status?.state.running, status?.state.terminated, status?.lastState?.terminated];
  const started = terminated?.value.startedAt;
  return parseFloor(started) !== undefined && runs.every((run) => run?.startedAt !== started);
}

/** By its exit time, its kind, or because the kubelet wrote the final status before it knew of the deletion. */
function endedBeforeDeletion({ deletion, spec, ended }: ContainerContext): boolean {
  const { metadata, status } = deletion.pod;
  const { observedGeneration: seen = Infinity } = status;
  const isUnaware = isFinished(deletion.pod) && seen < (metadata.generation ?? 0);
  return (
    (ended !== undefined && isBefore(ended, deletion.accepted)) ||
    (spec.kind === 'init' && haveMainsRun(deletion.pod)) ||
    isUnaware
  );
}

/** Main containers start only after all init containers have ended. */
const haveMainsRun = (pod: Pod): boolean =>
  statusesOf(pod).some(
    ({ name, state }) =>
      containersOf(pod).some((spec) => spec.name === name && spec.kind === 'container') &&
      (isRunning(state) || state.terminated?.startedAt !== undefined),
  );

/** Whether only an Event reports a start: with grace 0 (§2 "Force"), or while a postStart hook runs (§2 S2). */
export const mayHaveRestarted = ({ trace, deletion, spec, facts }: ContainerContext): boolean =>
  (deletion.grace === 0 || (!trace.terminal && !facts.terminated)) && wasStartedSince(trace, deletion.pod, spec.name);

/** A container's facts. If only an Event reports its last start: without exit and log end of the run before. */
export function factsOfLastRun({ trace, deletion, network }: DeletionContext, name: string): ContainerFacts {
  const facts = trace.containers.get(name) ?? noContainerFacts;
  const first = deletion.pod;
  const start = deletion.grace === 0 ? startSince(trace, first, name) : undefined;
  if (!start) return facts;
  const lastExit = statusOf(first, name)?.state.terminated;
  const isOfEarlierRun = lastExit !== undefined && facts.terminated?.value.startedAt === lastExit.startedAt;
  const startedAt = network.toClient('node', start.time);
  const { terminated, log } = facts;
  const { ended } = log;
  return {
    ...facts,
    terminated: isOfEarlierRun ? undefined : terminated,
    log: { ...log, ended: lastExit && ended && ended.at < startedAt.lo ? undefined : ended },
  };
}

export type ContainerContext = Readonly<ReturnType<typeof containerContext>>;

/** What is known of a container of the deleted pod before it is inferred whether and when the kubelet stopped it. */
export function containerContext(context: InferContext, spec: PodContainer) {
  const { deletion, kubelet, network } = context;
  const facts = factsOfLastRun(context, spec.name);
  const end = facts.terminated?.value;
  const isReported = end?.finishedAt !== undefined && !isMadeUp(end.reason, end.exitCode);
  const at = moment('exit', spec.name);
  return {
    ...context,
    spec,
    facts,
    /** In the first state with deletionTimestamp. */
    status: statusOf(deletion.pod, spec.name),
    killings: kubelet.killings.get(spec.name) ?? [],
    /** The exit, if a status reported it. */
    ended: isReported && network.has(at) ? network.read(at) : undefined,
    /** The assumption that bounds how long the runtime takes to deliver a signal. */
    lag: signalLag(deletion.pod.spec.runtimeClassName, runtimeOf(deletion.pod)),
  };
}

/** The Started Event, if it is later, on the kubelet's clock, than the last exit that a status reports. */
function startSince(trace: Trace, pod: Pod, name: string): Occurrence | undefined {
  const status = statusOf(pod, name);
  if (isFinished(pod) || isRunning(status?.state)) return undefined;
  const ends = [status?.state.terminated, status?.lastState?.terminated].map(
    (end) => parseFloor(end?.finishedAt)?.hi ?? -Infinity,
  );
  return eventsAbout(trace, 'Started', name).find(({ time }) => time.lo >= Math.max(...ends));
}

export const wasStartedSince = (trace: Trace, pod: Pod, name: string): boolean =>
  startSince(trace, pod, name) !== undefined;

/** Reasons of a pod's status and of Events. */
const ownReasons = new Set(['Evicted', 'Preempting', 'Terminated', 'DeadlineExceeded']);

/** Whether the kubelet stopped the pod for a reason of its own, which came no later than `stoppedAt` (node ms). */
function wasStoppedByKubelet({ pod, events, deletion }: Trace, stoppedAt: number): boolean {
  const states = [pod, deletion?.first].flatMap((fact) => fact?.value ?? []);
  return (
    states.some(
      (state) =>
        ownReasons.has(state.status.reason ?? '') ||
        conditionOf(state, 'DisruptionTarget')?.reason === 'TerminationByKubelet',
    ) ||
    events.some(({ reason, about, time }) => ownReasons.has(reason) && about.kind === 'Pod' && time.lo <= stoppedAt)
  );
}

/** Whether a "Stopping container" may have another cause than the deletion, although it is not certainly earlier. */
export const mayBeKubeletsOwn = (trace: Trace, deletion: Deletion, { about, time }: Occurrence): boolean =>
  wasStoppedByKubelet(trace, time.hi) || isLeftoverSidecar(trace, deletion, about.container, time.lo);

/** Whether it is a sidecar whose main containers had all ended at `at` (node ms): then the kubelet stops it (§2.2). */
function isLeftoverSidecar(trace: Trace, deletion: Deletion, name: string | undefined, at: number): boolean {
  const specs = containersOf(deletion.pod);
  const isSidecar = specs.some((spec) => spec.name === name && spec.kind === 'sidecar');
  const hasEnded = (spec: PodContainer) => spec.kind !== 'container' || hadEndedForGood(trace, deletion, spec, at);
  return isSidecar && !restartsAll(deletion) && specs.every(hasEnded);
}

/** `at`: node ms. */
function hadEndedForGood(trace: Trace, deletion: Deletion, spec: PodContainer, at: number): boolean {
  const finished = parseFloor(trace.containers.get(spec.name)?.terminated?.value.finishedAt);
  const hasEnded =
    statusOf(deletion.pod, spec.name)?.state.terminated !== undefined || (finished?.hi ?? Infinity) <= at;
  return hasEnded && !willStart(deletion, spec);
}

/** Whether a container waits for its start, or has failed and will be restarted. Until then the pod's sidecars go on. */
export function willStart({ pod }: Deletion, spec: PodContainer): boolean {
  const { state, restartCount = 0 } = statusOf(pod, spec.name) ?? {};
  const own = spec.kind === 'container' ? spec.container.restartPolicy : undefined;
  const isRestarted = (own ?? pod.spec.restartPolicy) === 'OnFailure' || restartCount > 0;
  return state?.waiting !== undefined || (isRestarted && (state?.terminated?.exitCode ?? 0) !== 0);
}

/** With restartPolicy Always, sidecars go on after main containers have ended. A container may have a policy of its own (1.35). */
const restartsAll = ({ pod }: Deletion): boolean =>
  pod.spec.containers.every(({ restartPolicy = pod.spec.restartPolicy }) => restartPolicy === 'Always');

/** Whether the kubelet may have stopped it before. */
export function mayBeStopped(container: ContainerContext): boolean {
  const { trace, deletion, network, spec, killings } = container;
  return (
    wasStoppedByKubelet(trace, killings[0]?.time.hi ?? Infinity) ||
    isLeftoverSidecar(trace, deletion, spec.name, network.read('accepted').node.hi) ||
    eventsAbout(trace, 'Killing', spec.name).some(
      (event) => isOlderKill(container, event) && mayBeOfLastRun(container, event),
    )
  );
}

/** Whether a Killing of the container has another cause than the deletion: a probe, say. */
function isOlderKill({ killings }: ContainerContext, event: Occurrence): boolean {
  const isOfDeletion = killings.some(({ id, count }) => id === event.id && count === event.count);
  return event.about.kind === 'Pod' && !isOfDeletion && event.time.lo <= (killings[0]?.time.lo ?? Infinity);
}

/** A fast restart starts the next run in the same second: then the order of the Events decides. */
function mayBeOfLastRun({ trace, spec, status }: ContainerContext, killing: Occurrence): boolean {
  // The status of the exit may be that of a later run.
  const started = [
    status?.state.running?.startedAt,
    trace.containers.get(spec.name)?.terminated?.value.startedAt,
  ].flatMap((stamp) => parseFloor(stamp) ?? []);
  const isLater = ({ time, isOld, seq }: Occurrence): boolean =>
    time.lo > killing.time.hi || (!isOld && seq > killing.seq);
  if (eventsAbout(trace, 'Started', spec.name).some(isLater)) return false;
  return !started.some(({ lo }) => killing.time.lo < lo && killing.time.hi <= lo);
}
