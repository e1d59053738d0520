/** What the kubelet writes into a pod's status (SIGNALS.md §2 S3, S12, S14). Pure. */
import type { Container } from './container.ts';
import { conditionOf, managedBy, withCondition, type Condition, type ContainerStatus, type Pod } from './objects.ts';
import type { Json } from './rows.ts';

/** Prints a true time (ns) by the node's clock, in whole seconds. */
export type Print = (ns: number) => string;

type ConditionPart = Pick<Condition, 'type' | 'status'> & Partial<Condition>;

/** S3: only the observed generations change, and a Ready that the node controller removed comes back. */
export function acknowledged(pod: Pod, now: string, stamp: string): Pod {
  const ready = conditionOf(pod, 'ContainersReady')?.status === 'True' && conditionOf(pod, 'Ready')?.status === 'False';
  const parts: ConditionPart[] = ready ? [{ type: 'Ready', status: 'True' }] : [];
  return written(pod, apply(pod, parts, now), {}, stamp);
}

/** A readiness probe crossed its threshold. */
export function unreadySeen(pod: Pod, name: string, now: string, stamp: string): Pod {
  const mark = (one: ContainerStatus): ContainerStatus => (one.name === name ? { ...one, ready: false } : one);
  const status = { ...pod.status };
  if (status.containerStatuses) status.containerStatuses = status.containerStatuses.map(mark);
  if (status.initContainerStatuses) status.initContainerStatuses = status.initContainerStatuses.map(mark);
  return written({ ...pod, status }, apply(pod, unreadyParts('ContainersNotReady'), now), {}, stamp);
}

/** S12: all containers in one patch; the phase depends on the exit codes of the main ones. */
export function finished(pod: Pod, containers: readonly Container[], print: Print, now: string, stamp: string): Pod {
  const end = (one: ContainerStatus): ContainerStatus => ended(one, containers, print);
  const statuses = (pod.status.containerStatuses ?? []).map(end);
  const failed = statuses.some((one) => (one.state.terminated as Json).exitCode !== 0);
  const reason = failed ? 'PodFailed' : 'PodCompleted';
  const parts: ConditionPart[] = [
    { type: 'PodReadyToStartContainers', status: 'False' },
    { type: 'Initialized', status: 'True', ...(failed ? {} : { reason }) },
    ...unreadyParts(reason),
  ];
  const status = {
    phase: failed ? 'Failed' : 'Succeeded',
    containerStatuses: statuses,
    ...(pod.status.initContainerStatuses ? { initContainerStatuses: pod.status.initContainerStatuses.map(end) } : {}),
  };
  return written(pod, apply(pod, parts, now), status, stamp);
}

/** A patch that says nothing about the exit: it removes the pod-level resources (SIGNALS.md trap 34). */
export function withoutLimits(pod: Pod, stamp: string): Pod {
  return written(pod, pod.status.conditions ?? [], { resources: {} }, stamp);
}

function ended(status: ContainerStatus, containers: readonly Container[], print: Print): ContainerStatus {
  const container = containers.find((one) => one.story.name === status.name);
  const { exitAt, exitCode } = container?.truth ?? {};
  // A container that exited before the deletion keeps its state.
  if (status.state.terminated !== undefined) return { ...status, ready: false };
  if (!container || exitAt === undefined || container.story.app.lost)
    return { ...status, ready: false, state: { terminated: unknownEnd } };
  const running = status.state.running as { startedAt: string } | undefined;
  const terminated = {
    exitCode,
    reason: container.reason,
    startedAt: running?.startedAt ?? null,
    finishedAt: print(exitAt),
    containerID: status.containerID,
  };
  return { ...status, ready: false, state: { terminated } };
}

/** S14: the container is lost, so the kubelet makes up an exit. */
const unknownEnd = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  startedAt: null,
  finishedAt: null,
};

const unreadyParts = (reason: string): ConditionPart[] =>
  ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'False', reason }));

function apply(pod: Pod, parts: readonly ConditionPart[], now: string): Condition[] {
  return parts.reduce<Condition[]>(
    (conditions, part) => withCondition(conditions, { lastTransitionTime: now, ...part }),
    pod.status.conditions ?? [],
  );
}

/** A merge patch puts conditions of other managers first. */
function written(pod: Pod, conditions: readonly Condition[], status: Json, stamp: string): Pod {
  const generation = pod.metadata.generation;
  const disruption = conditionOf(pod, 'DisruptionTarget');
  const own = conditions.filter((condition) => condition.type !== 'DisruptionTarget');
  const merged = {
    ...pod.status,
    ...status,
    observedGeneration: generation,
    conditions: [...(disruption ? [disruption] : []), ...own],
  };
  return managedBy({ ...pod, status: merged }, 'kubelet', stamp, 'status');
}
