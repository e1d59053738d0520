/** The EndpointSlice controller (SIGNALS.md §3): one slice per Service and IP family, written when it changes. */
import { isReady, isTerminal, type KubeObject, type Pod } from './objects.ts';
import type { Json } from './rows.ts';
import type { ServiceStory } from './story.ts';
import { sleep, type Process } from './virtual-time.ts';
import type { World } from './world.ts';

type Family = ServiceStory['families'][number];

interface Slice {
  service: ServiceStory;
  family: Family;
  name: string;
}

/** Creates the Services with their slices, and keeps the slices up to date. */
export function runEndpoints(world: World, selector: Record<string, string>): void {
  const slices = world.story.services.flatMap((service) => createService(world, service, selector));
  world.api.on('pods', (_change, object) => {
    const matches = Object.entries(selector).every(([key, value]) => object.metadata.labels?.[key] === value);
    if (matches) for (const slice of slices) world.controllers.spawn(sync(world, slice));
  });
}

function createService(world: World, service: ServiceStory, selector: Record<string, string>): Slice[] {
  world.api.put('services', serviceObject(world, service, selector));
  return service.families.map((family) => {
    const slice = { service, family, name: `${service.name}-${world.random.suffix()}` };
    world.api.put('endpointslices', emptySlice(world, slice));
    write(world, slice);
    return slice;
  });
}

function* sync(world: World, slice: Slice): Process {
  yield sleep(world.random.between(1.5, 9));
  write(world, slice);
}

function write(world: World, { service, name }: Slice): void {
  const old = world.api.get(`endpointslices`, name);
  if (!old) return;
  const pods = world.api.all('pods') as unknown as Pod[];
  const members = pods.filter((pod) => pod.metadata.labels?.app === world.story.pod.name.split('-')[0] && inSlice(pod));
  const endpoints = [...otherEndpoints(service), ...members.map((pod) => endpointOf(pod, service))];
  const next = endpoints.length === 0 ? null : endpoints;
  if (JSON.stringify(next) === JSON.stringify(old.endpoints)) return;
  const { annotations: _old, ...metadata } = old.metadata;
  const moved = members.length < ((old.endpoints as Json[] | null) ?? []).length - service.others;
  const trigger = moved ? world.clocks.node.seconds(world.time.now) : undefined;
  world.api.put('endpointslices', {
    ...old,
    metadata: {
      ...metadata,
      generation: (metadata.generation ?? 0) + 1,
      ...(trigger === undefined
        ? {}
        : { annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': trigger } }),
    },
    endpoints: next,
  });
}

/** Whether the pod is in the slice: finished pods and pods without an IP are not, deleted pods still are. */
const inSlice = (pod: Pod): boolean => !isTerminal(pod) && pod.status.podIP !== undefined;

function endpointOf(pod: Pod, service: ServiceStory): Json {
  const [serving, terminating] = [isReady(pod), pod.metadata.deletionTimestamp !== undefined];
  const ready = service.publishNotReadyAddresses || (serving && !terminating);
  const { name, namespace, uid } = pod.metadata;
  return {
    conditions: { ready, serving, terminating },
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}

/** Ready pods of other owners behind the same Service. */
const otherEndpoints = (service: ServiceStory): Json[] =>
  Array.from({ length: service.others }, (_, index) => ({
    conditions: { ready: true, serving: true, terminating: false },
    targetRef: { kind: 'Pod', name: `other-${index}`, uid: `00000000-0000-4000-8000-00000000000${index}` },
  }));

function serviceObject(world: World, service: ServiceStory, selector: Record<string, string>): KubeObject {
  return {
    metadata: {
      name: service.name,
      namespace: world.story.name,
      uid: world.random.uuid(),
      creationTimestamp: world.api.stamp(),
    },
    spec: {
      ports: [{ protocol: 'TCP', port: 80, targetPort: 8080 }],
      selector,
      clusterIP: service.headless ? 'None' : '10.96.0.10',
      type: 'ClusterIP',
      ...(service.publishNotReadyAddresses ? { publishNotReadyAddresses: true } : {}),
    },
  };
}

const emptySlice = (world: World, slice: Slice): KubeObject => ({
  metadata: {
    name: slice.name,
    namespace: world.story.name,
    uid: world.random.uuid(),
    generation: 1,
    creationTimestamp: world.api.stamp(),
    labels: {
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'kubernetes.io/service-name': slice.service.name,
    },
  },
  addressType: slice.family,
  endpoints: null,
});
