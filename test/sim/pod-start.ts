/** How a new pod becomes Ready: created, bound, sandbox, containers, probe. */
import type { EventRecorder } from './event-recorder.ts';
import type { ContainerStatus, Pod } from './objects.ts';
import { managedBy, withCondition } from './objects.ts';
import type { PodTemplate } from './pod-object.ts';
import { containerId, containerStatus, createdPod, nodeName } from './pod-object.ts';
import type { Process } from './virtual-time.ts';
import { sleep } from './virtual-time.ts';
import type { World } from './world.ts';

/** With a readiness probe, the pod becomes ready `readyAfterMs` after its containers have started. */
export function startPod(world: World, template: PodTemplate, readyAfterMs: number, recorders: StartRecorders): void {
  const pod = world.api.put('pods', createdPod(world, template));
  world.cluster.spawn(bindPod(world, pod, template, readyAfterMs, recorders));
}

/** The recorders of Events about new pods. */
interface StartRecorders {
  scheduler: EventRecorder;
  kubelet: EventRecorder;
}

function* bindPod(
  world: World,
  pod: Pod,
  template: PodTemplate,
  readyAfterMs: number,
  recorders: StartRecorders,
): Process {
  const { change, emit } = writerOf(world, pod);
  yield sleep(world.random.between(2, 5));
  change((current) => bound(current, world.api.stamp()));
  const { namespace, name } = pod.metadata;
  emit(recorders.scheduler, 'Scheduled', `Successfully assigned ${namespace}/${name} to ${nodeName}`);
  world.starter.spawn(startContainers(world, pod, template, readyAfterMs, recorders.kubelet));
}

/** The kubelet's part of the start. */
function* startContainers(
  world: World,
  pod: Pod,
  template: PodTemplate,
  readyAfterMs: number,
  recorder: EventRecorder,
): Process {
  const { change, emit } = writerOf(world, pod);
  yield sleep(world.random.between(6, 15));
  const node = (): string => world.clocks.node.seconds(world.time.now);
  change((current) => starting(world, current, template, node()));
  yield sleep(world.random.between(350, 450));
  emit(recorder, 'Pulled', 'Container image "docker.io/local/busybox:1" already present on machine');
  change((current) => reported(world, current, { PodReadyToStartContainers: 'True' }, node()));
  yield sleep(world.random.between(8, 15));
  emit(recorder, 'Created', 'Container created');
  yield sleep(world.random.between(35, 60));
  emit(recorder, 'Started', 'Container started');
  yield sleep(world.random.between(3, 8));
  const probed = template.containers.some((container) => container.readiness);
  change((current) => started(world, current, !probed, node()));
  if (!probed) return;
  yield sleep(readyAfterMs);
  change((current) => started(world, current, true, node()));
}

/** Writes statuses and Events of one pod, as long as it exists. */
function writerOf(world: World, pod: Pod) {
  const change = (next: (pod: Pod) => Pod): void => {
    const current = world.api.pod(pod.metadata.name, pod.metadata.uid);
    if (current) world.api.put('pods', next(current));
  };
  const emit = (recorder: EventRecorder, reason: string, message: string): void =>
    recorder.emit({ about: { kind: 'Pod', apiVersion: 'v1', object: pod }, reason, message });
  return { change, emit };
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
    observedGeneration: 1,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: stamp,
  });
  return { ...pod, spec: { ...pod.spec, nodeName }, status: { ...pod.status, conditions } };
}

/** Scheduled, nothing runs yet. */
export function starting(world: World, pod: Pod, template: PodTemplate, now: string): Pod {
  const waiting = (kind: 'container' | 'sidecar'): ContainerStatus[] =>
    template.containers
      .filter((container) => container.kind === kind)
      .map(({ name }) => containerStatus(world, name, { state: { waiting: { reason: 'ContainerCreating' } } }));
  const sidecars = waiting('sidecar');
  const status = {
    ...pod.status,
    hostIP: '10.244.255.1',
    startTime: now,
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
    started: true,
  });
  const podIP = pod.status.podIP ?? `10.244.0.${world.random.whole(2, 250)}`;
  const status = {
    ...pod.status,
    phase: 'Running',
    podIP,
    podIPs: [{ ip: podIP }],
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
        observedGeneration: 1,
        status,
        lastProbeTime: null,
        lastTransitionTime: now,
        ...(status === 'False' && type.endsWith('Ready') ? { reason: 'ContainersNotReady' } : {}),
      }),
    pod.status.conditions ?? [],
  );
  const status = { ...pod.status, observedGeneration: 1, conditions: merged };
  return managedBy({ ...pod, status }, 'kubelet', world.api.stamp(), 'status');
}
