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
  statusOf,
  type PodContainer,
} from '../model/pod.ts';
import { noContainerFacts } from '../model/reduce/notes.ts';
import { parseFloor } from '../model/stamps.ts';
import { eventsAbout, type Occurrence, type Trace } from '../model/trace.ts';
import type { InferContext } from './context.ts';
import type { Deletion } from './deletion.ts';
import { isBefore } from './estimate.ts';
import { moment } from './pod-network.ts';

/** Whether it may have run until the deletion, though the first state that we saw has it terminated. */
export const mayHaveRunUntilEnd = (container: ContainerContext): boolean =>
  container.status?.state.terminated !== undefined &&
  !container.deletion.isWitnessed &&
  !(container.ended && isBefore(container.ended, container.deletion.accepted));

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

/** Whether only an Event reports a start, as while a postStart hook runs (§2 S2). */
export const mayHaveRestarted = ({ trace, deletion, spec, facts }: ContainerContext): boolean =>
  !trace.terminal && !facts.terminated && wasStartedSince(trace, deletion.pod, spec.name);

export type ContainerContext = Readonly<ReturnType<typeof containerContext>>;

/** What is known of a container of the deleted pod before it is inferred whether and when the kubelet stopped it. */
export function containerContext(context: InferContext, spec: PodContainer) {
  const { deletion, kubelet, network } = context;
  const facts = context.trace.containers.get(spec.name) ?? noContainerFacts;
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

/** Whether a Started Event is later, on the kubelet's clock, than the last exit that a status reports. */
export function wasStartedSince(trace: Trace, pod: Pod, name: string): boolean {
  const status = statusOf(pod, name);
  if (isFinished(pod) || isRunning(status?.state)) return false;
  const ends = [status?.state.terminated, status?.lastState?.terminated].map(
    (end) => parseFloor(end?.finishedAt)?.hi ?? -Infinity,
  );
  return eventsAbout(trace, 'Started', name).some(({ time }) => time.lo >= Math.max(...ends));
}

const ownReasons = new Set(['Evicted', 'Preempting', 'Terminated', 'DeadlineExceeded']);

/** Whether the kubelet stopped the pod for a reason of its own, which came no later than `stoppedAt` (node ms). */
function wasStoppedByKubelet({ pod, events, deletion }: Trace, stoppedAt: number): boolean {
  const states = [pod, deletion?.first].flatMap((fact) => fact?.value ?? []);
  const own = events.filter(({ reason, about }) => ownReasons.has(reason) && about.kind === 'Pod');
  // A reason that came later is in the last state too: its Event shows when.
  const isOwn = (state: Pod): boolean =>
    ownReasons.has(state.status.reason ?? '') ||
    conditionOf(state, 'DisruptionTarget')?.reason === 'TerminationByKubelet';
  return own.length > 0 ? own.some(({ time }) => time.lo <= stoppedAt) : states.some(isOwn);
}

/** Whether a "Stopping container" may have another cause than the deletion, although it is not certainly earlier. */
export const mayBeKubeletsOwn = (trace: Trace, deletion: Deletion, { about, time }: Occurrence): boolean =>
  wasStoppedByKubelet(trace, time.hi) || isLeftoverSidecar(deletion, about.container);

/** Whether it is a sidecar whose main containers had all ended: then the kubelet stops it (§2.2), unless it restarts them. */
function isLeftoverSidecar({ pod }: Deletion, name: string | undefined): boolean {
  const specs = containersOf(pod);
  return (
    pod.spec.restartPolicy !== 'Always' &&
    specs.some((spec) => spec.name === name && spec.kind === 'sidecar') &&
    specs.every((spec) => spec.kind !== 'container' || statusOf(pod, spec.name)?.state.terminated !== undefined)
  );
}

/** Whether the kubelet may have stopped it before the deletion: a Killing has another cause, such as a probe. */
export function mayBeStopped({ trace, deletion, spec, status, killings }: ContainerContext): boolean {
  const starts = [
    ...eventsAbout(trace, 'Started', spec.name).map(({ time }) => time.lo),
    parseFloor(status?.state.running?.startedAt)?.lo ?? -Infinity,
  ];
  return (
    wasStoppedByKubelet(trace, killings[0]?.time.hi ?? Infinity) ||
    isLeftoverSidecar(deletion, spec.name) ||
    eventsAbout(trace, 'Killing', spec.name).some(
      ({ id, count, time }) =>
        !killings.some((killing) => killing.id === id && killing.count === count) &&
        !starts.some((start) => start > time.hi),
    )
  );
}
