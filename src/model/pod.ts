/** Selectors for a Pod: its containers, their states, its owner. Pure. */
import type { ContainerKind, ContainerStatus, ObservedObject, Pod } from './kube.ts';
import type { Container, ContainerState, Handler, HookKind } from './observe/container.ts';

export interface PodContainer {
  name: string;
  kind: ContainerKind;
  container: Container;
}

/** Every container of the spec: init containers and sidecars in order, then main, then ephemeral ones. */
export const containersOf = readOnce((pod): readonly PodContainer[] => {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  const as = (kind: ContainerKind) => (container: Container) => ({ name: container.name, kind, container });
  return [
    ...initContainers.map((one) => as(one.restartPolicy === 'Always' ? 'sidecar' : 'init')(one)),
    ...containers.map(as('container')),
    ...ephemeralContainers.map(as('ephemeral')),
  ];
});

export const statusesOf = readOnce((pod): readonly ContainerStatus[] => {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = pod.status;
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
});

export const statusOf = (pod: Pod | undefined, name: string): ContainerStatus | undefined =>
  pod && statusesOf(pod).find((status) => status.name === name);

/** Caches by object: Pod objects are immutable, and rules read them for each of up to sixty containers. */
function readOnce<T>(read: (pod: Pod) => T): (pod: Pod) => T {
  const known = new WeakMap<Pod, T>();
  return (pod) => {
    const value = known.get(pod) ?? read(pod);
    known.set(pod, value);
    return value;
  };
}

export const hasRunning = (pod: Pod): boolean => statusesOf(pod).some(({ state }) => isRunning(state));

export const isRunning = (state: ContainerState | undefined): boolean => state?.running !== undefined;

/** The kubelet makes up 137 ContainerStatusUnknown (SIGNALS.md trap 24), and 255 Unknown for a lost exit code (§5). */
export const isMadeUp = (reason: string | undefined, code: number): boolean =>
  reason === 'ContainerStatusUnknown' || (reason === 'Unknown' && code === 255);

/** Succeeded or Failed: none of its containers can run any more. */
export const isFinished = (pod: Pod): boolean => pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';

export const isTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined;

/** The Job controller sets it, and removes it when it has counted the pod (job_controller.go). */
export const jobTracking = 'batch.kubernetes.io/job-tracking';

/** Whether a Job still has to count the pod. */
export const isTracked = ({ metadata: { finalizers = [] } }: Pod): boolean => finalizers.includes(jobTracking);

/** The grace period of the pod's deletion or, before it, of its spec; seconds. */
export const graceOf = ({ metadata, spec }: Pod): number =>
  metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 0;

/** Whether it is the API copy of a static pod: deleting it stops nothing (SIGNALS.md trap 30). */
export const isMirror = (pod: Pod): boolean => 'kubernetes.io/config.mirror' in (pod.metadata.annotations ?? {});

export const conditionOf = (pod: Pod, type: string) => pod.status.conditions?.find((one) => one.type === type);

export const isReady = (pod: Pod): boolean => conditionOf(pod, 'Ready')?.status === 'True';

export const controllerOf = ({ metadata: { ownerReferences: owners = [] } }: Pick<ObservedObject, 'metadata'>) =>
  owners.find((owner) => owner.controller === true) ?? owners[0];

/** The Deployment that owns the owner: it names its ReplicaSets NAME-HASH, and labels their pods with the hash. */
export function deploymentNamed(owner: { kind: string; name: string } | undefined, hash: unknown): string | undefined {
  const isItsOwn = owner?.kind === 'ReplicaSet' && typeof hash === 'string' && owner.name.endsWith(`-${hash}`);
  return isItsOwn ? owner.name.slice(0, -hash.length - 1) : undefined;
}

export function hookOf(container: Container): { kind: HookKind; handler: Handler } | undefined {
  const handler = container.lifecycle?.preStop;
  const kind = (['exec', 'httpGet', 'sleep', 'tcpSocket'] as const).find((one) => handler?.[one] !== undefined);
  return handler && kind ? { kind, handler } : undefined;
}

/** Name and image of the containers that the report covers: main containers and sidecars. */
export const imagesOf = (pod: Pod): [string, string][] =>
  containersOf(pod).flatMap(({ name, kind, container: { image } }) =>
    image !== undefined && (kind === 'container' || kind === 'sidecar') ? [[name, image]] : [],
  );

/** containerd, cri-o, docker: the scheme of the first container id that has one. */
export const runtimeOf = readOnce(
  (pod): string | undefined => statusesOf(pod).flatMap((status) => status.containerID?.split('://')[0] ?? [])[0],
);

/** Compares resourceVersions of one resource (SIGNALS.md §1 "Watch facts"); what is not a number counts as newer. */
export function isOlder(rv: string | undefined, than: string | undefined): boolean {
  if (!isNumber(rv) || !isNumber(than)) return false;
  return rv.length === than.length ? rv < than : rv.length < than.length;
}

const isNumber = (rv: string | undefined): rv is string => rv !== undefined && /^(?:0|[1-9]\d*)$/.test(rv);
