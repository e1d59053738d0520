/** How a new pod becomes Ready: created, bound, sandbox, containers, probe; and the pod of the story as the recording finds it. */
import type { EventRecorder } from './event-recorder.ts';
import { managedBy, withCondition, type ContainerStatus, type Pod } from './objects.ts';
import { containerId, createdPod, nodeName, waitingStatus, type PodTemplate } from './pod-object.ts';
import { sleep, type Process } from './virtual-time.ts';
import type { World } from './world.ts';
import type { ContainerStory } from './story.ts';

/** The recorders of Events about new pods. */
export interface Recorders {
  scheduler: EventRecorder;
  kubelet: EventRecorder;
}

/** With a readiness probe, the pod becomes ready `readyAfterMs` after its containers have started. */
export function startPod(world: World, template: PodTemplate, readyAfterMs: number, recorders: Recorders): void {
  const pod = world.api.put('pods', createdPod(world, template));
  const { namespace, name, uid } = pod.metadata;
  world.cluster.spawn(bindPod());

  function* bindPod(): Process {
    yield sleep(world.random.between(2, 5));
    change((current) => bound(current, world.api.stamp()));
    emit(recorders.scheduler, 'Scheduled', `Successfully assigned ${namespace}/${name} to ${nodeName}`);
    world.starter.spawn(startContainers());
  }

  /** The kubelet's part of the start. */
  function* startContainers(): Process {
    yield sleep(world.random.between(6, 15));
    const node = (): string => world.clocks.node.seconds(world.time.now);
    change((current) => starting(world, current, template, node()));
    yield sleep(world.random.between(350, 450));
    emit(recorders.kubelet, 'Pulled', 'Container image already present on machine');
    change((current) => reported(world, current, { PodReadyToStartContainers: 'True' }, node()));
    yield sleep(world.random.between(8, 15));
    emit(recorders.kubelet, 'Created', 'Container created');
    yield sleep(world.random.between(35, 60));
    emit(recorders.kubelet, 'Started', 'Container started');
    yield sleep(world.random.between(3, 8));
    const probed = template.containers.some((container) => container.readiness);
    change((current) => started(world, current, !probed, node()));
    if (!probed) return;
    yield sleep(readyAfterMs);
    change((current) => started(world, current, true, node()));
  }

  /** Only as long as the pod exists. */
  function change(next: (pod: Pod) => Pod): void {
    const current = world.api.pod(name, uid);
    if (current) world.api.put('pods', next(current));
  }

  function emit(recorder: EventRecorder, reason: string, message: string): void {
    recorder.emit('Pod', pod, reason, message);
  }
}

/** A pod that has been ready for a long time when the recording begins. */
export function readyPod(world: World, template: PodTemplate, created: string): Pod {
  const pod = bound(createdPod(world, template), created);
  const ready = started(world, starting(world, pod, template, created), true, created);
  return { ...ready, metadata: { ...ready.metadata, creationTimestamp: created } };
}

export function bound(pod: Pod, stamp: string): Pod {
  const conditions = withCondition(pod.status.conditions ?? [], {
    type: 'PodScheduled',
    status: 'True',
    lastTransitionTime: stamp,
  });
  return { ...pod, spec: { ...pod.spec, nodeName }, status: { ...pod.status, conditions } };
}

/** Scheduled, nothing runs yet. */
export function starting(world: World, pod: Pod, template: PodTemplate, now: string): Pod {
  const waiting = (kind: 'container' | 'sidecar'): ContainerStatus[] =>
    template.containers
      .filter((container) => container.kind === kind)
      .map(({ name }) => waitingStatus(name, 'ContainerCreating'));
  const sidecars = waiting('sidecar');
  const status = {
    ...pod.status,
    containerStatuses: waiting('container'),
    ...(sidecars.length === 0 ? {} : { initContainerStatuses: sidecars }),
  };
  const unready = {
    PodReadyToStartContainers: 'False',
    Initialized: 'True',
    Ready: 'False',
    ContainersReady: 'False',
  } as const;
  return reported(world, { ...pod, status }, unready, now);
}

function started(world: World, pod: Pod, ready: boolean, now: string): Pod {
  const run = (status: ContainerStatus): ContainerStatus => ({
    ...status,
    state: status.state.running === undefined ? { running: { startedAt: now } } : status.state,
    containerID: status.containerID ?? containerId(world),
    ready,
  });
  const podIP = pod.status.podIP ?? `10.244.0.${world.random.whole(2, 250)}`;
  const status = {
    ...pod.status,
    phase: 'Running',
    podIP,
    containerStatuses: (pod.status.containerStatuses ?? []).map(run),
    ...(pod.status.initContainerStatuses ? { initContainerStatuses: pod.status.initContainerStatuses.map(run) } : {}),
  };
  const is = ready ? 'True' : 'False';
  const parts = { PodReadyToStartContainers: 'True', Initialized: 'True', Ready: is, ContainersReady: is } as const;
  return reported(world, { ...pod, status }, parts, now);
}

/** A status patch of the kubelet. */
function reported(world: World, pod: Pod, conditions: Record<string, 'True' | 'False'>, now: string): Pod {
  const merged = Object.entries(conditions).reduce(
    (list, [type, status]) =>
      withCondition(list, {
        type,
        status,
        lastTransitionTime: now,
        ...(status === 'False' && type.endsWith('Ready') ? { reason: 'ContainersNotReady' } : {}),
      }),
    pod.status.conditions ?? [],
  );
  const status = { ...pod.status, observedGeneration: 1, conditions: merged };
  return managedBy({ ...pod, status }, 'kubelet', world.api.stamp(), 'status');
}

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
