/**
 * What the kubelet may have begun to stop by itself before the deletion came (SIGNALS.md §4, trap 20): with a grace of
 * its own, and with a hook and a signal that lie before the acceptance.
 */
import { conditionOf, containersOf, statusesOf, type ContainerSpec } from '../model/pod.ts';
import type { ContainerStatus } from '../model/kube.ts';
import { parseFloor } from '../model/stamps.ts';
import type { Occurrence, Trace } from '../model/trace.ts';
import type { Deletion } from './deletion.ts';
import type { InferContext } from './context.ts';

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
export function mayBeOwn(trace: Trace, deletion: Deletion, { about, time }: Occurrence): boolean {
  if (isKubeletsOwn(trace, time.hi)) return true;
  const specs = containersOf(deletion.facts.first.value);
  const isSidecar = specs.some(({ name, kind }) => name === about.container && kind === 'sidecar');
  return (
    isSidecar &&
    !startsAnew(deletion) &&
    specs.every((one) => one.kind !== 'container' || isOver(trace, deletion, one, time.lo))
  );
}

/** It had ended by then (node clock), for good. */
function isOver(trace: Trace, deletion: Deletion, spec: ContainerSpec, by: number): boolean {
  const finished = parseFloor(trace.containers.get(spec.name)?.terminated?.value.finishedAt);
  const hasEnded = statusIn(deletion, spec)?.state.terminated !== undefined || (finished?.hi ?? Infinity) <= by;
  return hasEnded && !isToStart(deletion, spec);
}

const statusIn = ({ facts }: Deletion, { name }: ContainerSpec): ContainerStatus | undefined =>
  statusesOf(facts.first.value).find((status) => status.name === name);

/** It waits to be started, or failed in a pod that starts such containers again: then its sidecars go on. */
export function isToStart(deletion: Deletion, spec: ContainerSpec): boolean {
  const { state, restartCount = 0 } = statusIn(deletion, spec) ?? {};
  const isRestarted = deletion.facts.first.value.spec.restartPolicy === 'OnFailure' || restartCount > 0;
  return state?.waiting !== undefined || (isRestarted && (state?.terminated?.exitCode ?? 0) !== 0);
}

/** Where containers are restarted, the sidecars of those that have ended go on. */
const startsAnew = ({ facts }: Deletion): boolean => facts.first.value.spec.restartPolicy === 'Always';

/**
 * Whether it may have been stopped already. `mainsOver`: the containers that a sidecar serves had ended before the
 * deletion: then the kubelet stops it (SIGNALS.md §2.2 "Killing").
 */
export const mayBeStopped = (context: InferContext, spec: ContainerSpec, mainsOver: boolean): boolean =>
  isKubeletsOwn(context.trace, beganWith(context, spec)) ||
  (spec.kind === 'sidecar' && mainsOver && !startsAnew(context.deletion)) ||
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
