/** Pod objects as the API shows them before anything happens. */
import type { ContainerStatus, Metadata, Pod } from './objects.ts';
import type { Json } from './rows.ts';
import type { ContainerStory, HookStory, Story } from './story.ts';
import type { World } from './world.ts';

export const nodeName = 'node1';
const image = 'docker.io/local/busybox:1';

export interface PodTemplate {
  name: string;
  labels: Record<string, string>;
  ownerReferences?: Json[];
  graceSeconds: number;
  containers: readonly ContainerStory[];
}

/** A pod just created: Pending, without a node. */
export function createdPod(world: World, template: PodTemplate): Pod {
  const { story, random, api } = world;
  const metadata: Metadata = {
    name: template.name,
    namespace: story.name,
    uid: random.uuid(),
    generation: 1,
    creationTimestamp: api.stamp(),
    labels: template.labels,
    ...(template.ownerReferences ? { ownerReferences: template.ownerReferences } : {}),
  };
  return { metadata, spec: podSpec(template, story), status: { phase: 'Pending' } };
}

function podSpec(template: PodTemplate, story: Story): Pod['spec'] {
  const sidecars = template.containers.filter((container) => container.kind === 'sidecar');
  return {
    ...(sidecars.length === 0
      ? {}
      : { initContainers: sidecars.map((one) => ({ ...containerSpec(one), restartPolicy: 'Always' })) }),
    containers: template.containers.filter((container) => container.kind === 'container').map(containerSpec),
    restartPolicy: story.owner.kind === 'job' ? 'Never' : 'Always',
    terminationGracePeriodSeconds: template.graceSeconds,
  };
}

/** A container's spec. Its command means nothing: the story says what the container does. */
function containerSpec(container: ContainerStory): Json {
  const { readiness, preStop } = container;
  return {
    name: container.name,
    image,
    command: ['/app'],
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    ...(preStop ? { lifecycle: { preStop: handlers[preStop.kind](preStop) } } : {}),
    ...(readiness ? { readinessProbe: { tcpSocket: { port: 8080 } } } : {}),
  };
}

const handlers: Record<HookStory['kind'], (hook: HookStory) => Json> = {
  exec: () => ({ exec: { command: ['/bin/drain'] } }),
  httpGet: () => ({ httpGet: { path: '/drain', port: 8080, scheme: 'HTTP' } }),
  sleep: (hook) => ({ sleep: { seconds: hook.kind === 'sleep' ? hook.seconds : 0 } }),
  tcpSocket: () => ({ tcpSocket: { port: 8080 } }),
};

/** A container that waits. */
export const waitingStatus = (name: string, reason: string): ContainerStatus => ({
  name,
  state: { waiting: { reason } },
  lastState: {},
  ready: false,
  restartCount: 0,
});

export const containerId = (world: World): string => `containerd://${world.random.hex(64)}`;
