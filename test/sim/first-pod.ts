/** The pod of the story as the recording finds it. */
import type { ContainerStatus, Pod } from './objects.ts';
import { containerId, createdPod, waitingStatus, type PodTemplate } from './pod-object.ts';
import { bound, readyPod, starting } from './pod-start.ts';
import type { ContainerStory } from './story.ts';
import type { World } from './world.ts';

/** `created`: an older stamp, whole seconds. */
export function firstPod(world: World, template: PodTemplate, created: string): Pod {
  const { pod } = world.story;
  const made = states[pod.state](world, template, created);
  const { finalizers } = pod;
  return finalizers.length === 0 ? made : { ...made, metadata: { ...made.metadata, finalizers } };
}

const states = {
  running: (world: World, template: PodTemplate, created: string): Pod => {
    const ready = readyPod(world, template, created);
    const down = template.containers.filter((container) => container.state.kind !== 'running');
    return down.length === 0 ? ready : withDown(world, ready, down, created);
  },
  unscheduled: (world: World, template: PodTemplate, created: string): Pod => {
    const pod = bound(createdPod(world, template), created);
    const { nodeName: _none, ...spec } = pod.spec;
    const unscheduled = { ...pod.status.conditions![0]!, status: 'False' as const, reason: 'Unschedulable' };
    return { ...pod, spec, status: { ...pod.status, conditions: [unscheduled] } };
  },
  'never-started': (world: World, template: PodTemplate, created: string): Pod =>
    starting(world, bound(createdPod(world, template), created), template, created),
  finished: (world: World, template: PodTemplate, created: string): Pod => {
    const pod = readyPod(world, template, created);
    const end = (status: ContainerStatus): ContainerStatus => ({
      ...status,
      ready: false,
      state: { terminated: terminated(0, created, status.containerID) },
    });
    const conditions = unready(pod, 'PodCompleted');
    return {
      ...pod,
      status: {
        ...pod.status,
        phase: 'Succeeded',
        conditions,
        containerStatuses: pod.status.containerStatuses?.map(end),
        ...(pod.status.initContainerStatuses && { initContainerStatuses: pod.status.initContainerStatuses.map(end) }),
      },
    };
  },
};

function withDown(world: World, pod: Pod, down: ContainerStory[], created: string): Pod {
  const mark = (status: ContainerStatus): ContainerStatus => {
    const state = down.find((container) => container.name === status.name)?.state;
    if (state?.kind === 'waiting') return waitingStatus(status.name, state.reason);
    if (state?.kind !== 'crashed') return status;
    const end = { terminated: terminated(state.code, created, containerId(world)) };
    return { ...status, ready: false, restartCount: 4, state: end, lastState: end };
  };
  const containerStatuses = pod.status.containerStatuses?.map(mark);
  return { ...pod, status: { ...pod.status, containerStatuses, conditions: unready(pod, 'ContainersNotReady') } };
}

const terminated = (exitCode: number, at: string, containerID: string | undefined) => ({
  exitCode,
  reason: exitCode === 0 ? 'Completed' : 'Error',
  startedAt: at,
  finishedAt: at,
  containerID,
});

const unready = (pod: Pod, reason: string) =>
  pod.status.conditions?.map((condition) =>
    ['Ready', 'ContainersReady'].includes(condition.type)
      ? { ...condition, status: 'False' as const, reason }
      : condition,
  );
