/** ReplicaSets, Deployments, StatefulSets and Jobs as the API shows them. */
import { isReady, isTerminal, type KubeObject, type Pod } from './objects.ts';
import type { Json } from './rows.ts';
import type { World } from './world.ts';

export interface Counts {
  replicas: number;
  ready: number;
  terminating: number;
}

/** Counts pods that are neither deleted nor finished, the ready ones of them, and terminating pods. */
export function count(pods: readonly Pod[]): Counts {
  const active = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && !isTerminal(pod));
  const terminating = pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined && !isTerminal(pod));
  return { replicas: active.length, ready: active.filter(isReady).length, terminating: terminating.length };
}

export function workload(
  world: World,
  name: string,
  spec: Json,
  labels: Record<string, string>,
  owner?: Json,
): KubeObject {
  return {
    metadata: {
      name,
      namespace: world.story.name,
      uid: world.random.uuid(),
      generation: 1,
      creationTimestamp: world.api.stamp(),
      labels,
      ...(owner ? { ownerReferences: [owner] } : {}),
    },
    spec: { ...spec, selector: { matchLabels: labels } },
    status: {},
  };
}

export const reference = (kind: string, object: KubeObject): Json => ({
  kind,
  name: object.metadata.name,
  uid: object.metadata.uid,
  controller: true,
});

export const statefulSetStatus = (pods: readonly Pod[], revision: string, generation: number | undefined): Json => ({
  observedGeneration: generation,
  replicas: pods.length,
  readyReplicas: pods.filter(isReady).length,
  currentRevision: revision,
  updateRevision: revision,
  availableReplicas: pods.filter((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined).length,
});

/** Writes the status if it has changed. */
export function report(
  world: World,
  resource: 'replicasets' | 'deployments' | 'statefulsets',
  name: string,
  status: Json,
): void {
  const object = world.api.get(resource, name);
  if (object && JSON.stringify(object.status) !== JSON.stringify(status))
    world.api.put(resource, { ...object, status });
}
