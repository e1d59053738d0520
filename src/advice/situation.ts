/** All that is known about how the pods of a workload stop: of manifests, live objects or an exit's trace. No clock. */
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { asArray, asObject, asSeconds, asString, asText, metadataOf, type JsonObject } from '../model/observe/read.ts';
import paths from './data/pod-paths.json' with { type: 'json' };
import proxies from '../programs/data/mesh-proxies.json' with { type: 'json' };
import { capacityOf } from './capacity.ts';
import { containerSpecsOf, type ContainerSpec, type Path } from './container-spec.ts';
import { isWindows, limitsOf, defaultGraceSeconds } from './sizes.ts';
import { childOf, partsOf } from './fix/edit.ts';
import type { Manifest } from './manifests.ts';
import { mountedScripts } from './mounted-scripts.ts';
import { neighboursIn, neighboursOf, readyByService, type Neighbours, serviceOf } from './neighbours.ts';
import { narrowPod, type Pod } from '../model/kube.ts';
import { hasRunning, isFinished, isReady, isTerminating, statusOf } from '../model/pod.ts';
import { plural } from '../verdict/words.ts';

type ServiceSpec = Neighbours['services'][number];

export interface Situation extends ReturnType<typeof situationOf> {
  readonly isFinished?: boolean;
  readonly notRunningNow?: boolean;
  readonly measured?: {
    /** The fewest other endpoints that were ready while this pod went; absent if it was in no Service. */
    readonly otherReady?: number;
    /** Seconds of a preStop sleep that would have covered the requests that were lost. */
    readonly hookSeconds?: number;
  };
}

/** Kinds whose pod template can be patched, and its path: a Job's cannot, and a pod has none. */
export const templatePaths: Readonly<Record<string, Path>> = paths.patched;

const podPaths: Readonly<Record<string, Path>> = { ...templatePaths, ...paths.others };

const groupOf = ({ apiVersion = '' }: KubernetesObject): string => /^(.*)\//.exec(apiVersion)?.[1] ?? '';

/** A kind of Kubernetes itself, whose strategy is known: volcano's Job is another kind than that of batch. */
const isBuiltIn = (object: KubernetesObject): boolean =>
  Object.hasOwn(podPaths, object.kind ?? '') && ['', 'apps', 'batch', 'extensions'].includes(groupOf(object));

/** The paths of the pod templates; a custom resource such as an Argo Rollout or a volcano Job can have several. */
function templatesOf(object: KubernetesObject): readonly Path[] {
  if (isBuiltIn(object)) return [podPaths[object.kind ?? ''] ?? []];
  // A revision of Knative has other names for what stops it, and takes no hooks.
  if (groupOf(object) === 'serving.knative.dev') return [];
  return partsOf(object).flatMap(([path, value]) => {
    const containers = asArray(asObject(asObject(value)['spec'])['containers']);
    return containers.some((one) => asString(asObject(one)['image']) !== undefined) ? [path] : [];
  });
}

export const hasPods = (object: KubernetesObject): boolean => templatesOf(object).length > 0;

/** `graceSeconds`: of the deletion to predict; by default the spec's. */
export function situationOf(
  object: KubernetesObject,
  neighbours: Neighbours,
  graceSeconds?: number,
  templatePath = templatesOf(object)[0] ?? [],
) {
  const { kind = '', metadata } = object;
  const template = asObject(templatePath.reduce(childOf, object));
  const podPath: Path = [...templatePath, 'spec'];
  const pod = asObject(template['spec']);
  const namespace = asString(metadata?.namespace);
  const specGraceSeconds = asSeconds(pod['terminationGracePeriodSeconds']);
  const isFromFiles = neighbours.mayHaveOtherServices;
  const sharesProcesses = pod['shareProcessNamespace'] === true || pod['hostPID'] === true;
  const specs = containerSpecsOf(pod, podPath, (container) => ({
    scripts: mountedScripts(pod, container, { configMaps: neighbours.configMaps, namespace }),
    sharesProcesses,
  }));
  const proxy = proxyOf(metadataOf(template), neighbours.namespaces.get(namespace) ?? {});
  const containers = specs.map((one): ContainerSpec =>
    // The API shows only a stop signal that the cluster supports.
    isFromFiles ? { ...one, stopSignal: undefined, declaredStopSignal: one.stopSignal } : one,
  );
  // Istio merges such a container into the one that it adds.
  const isMerged = ({ name, image }: ContainerSpec): boolean =>
    image === 'auto' || (kind !== 'Pod' && name === 'istio-proxy' && name === proxy?.name);
  const around = neighboursOf(neighbours, namespace, metadataOf(template)['labels']);
  const capacity = capacityOf(object, pod, containers, around);
  return {
    object,
    /** The kind of a custom resource has its group, as in kubectl's TYPE.GROUP. A name may be left to the cluster. */
    subject: {
      kind: isBuiltIn(object) ? kind : `${kind}.${groupOf(object)}`,
      name: asText(metadata?.name) || asText(metadata?.generateName),
      namespace,
    },
    isCustom: !isBuiltIn(object),
    /** What a container lacks, such as its image, comes from a base of this manifest, or from Istio. Nothing is judged. */
    isPatch: containers.some((one) => (isFromFiles && one.image === '') || isMerged(one)),
    /** Its version was removed before Kubernetes 1.26, and another took its place. */
    isOfOldVersion: /(alpha|beta)\d$/.test(object.apiVersion ?? ''),
    podPath,
    graceSeconds: graceSeconds ?? specGraceSeconds ?? defaultGraceSeconds,
    specGraceSeconds,
    containers,
    /** With each other or with the node: no container has PID 1, so a signal without a handler ends it. */
    sharesProcesses,
    hostNetwork: pod['hostNetwork'] === true,
    isWindows: isWindows(pod),
    capacity,
    services: around.services.map((one) => withSharing(one, capacity.replicas, neighbours)) as readonly ServiceSpec[],
    budgets: around.budgets,
    /** The proxy that will be among its containers. */
    injected: containers.some(({ name }) => name === proxy?.name) ? undefined : proxy,
    readinessGates: asArray(pod['readinessGates'], 64).map((gate) => asText(asObject(gate)['conditionType'])),
    limits: limitsOf(pod, neighbours.limits),
    finalizers: kind === 'Pod' ? asArray(metadata?.finalizers).flatMap((one) => asString(one) ?? []) : [],
    isUnmanaged: kind === 'Pod' && asArray(metadata?.ownerReferences).length === 0,
    unread: neighbours.unread,
    /** It is from files: the cluster may have more, and may drop fields that it does not know. */
    isFromFiles,
  };
}

/** The mesh's proxy that will be injected, by labels and annotations, of which those of the pod outrank. `stops`: a clause. */
function proxyOf(pod: JsonObject, namespace: JsonObject) {
  const all = [namespace, pod].flatMap(({ labels, annotations }) => [asObject(labels), asObject(annotations)]);
  const asked = Object.assign({}, ...all) as JsonObject;
  // It stops after the application.
  if (Object.entries(asked).some(([key, value]) => /native-?sidecar$/i.test(key) && value === 'true')) return undefined;
  return proxies.find(({ asks }) => {
    const answer = asks.map((key) => asText(asked[key])).find((it) => it && it !== 'none') ?? '';
    return !/^(false|no|off|disabled|ambient|)$/i.test(answer);
  });
}

/** More ready endpoints than replicas: pods of another workload are behind the Service too. */
function withSharing(service: ServiceSpec, replicas: number | undefined, { slices }: Neighbours): ServiceSpec {
  if (!slices || replicas === undefined) return service;
  return { ...service, isShared: (readyByService(slices).get(service.name)?.size ?? 0) > replicas };
}

/** The workloads of a set of manifests, judged with the Services, budgets and autoscalers in the same set. */
export function situationsOf(manifests: readonly Manifest[], graceSeconds?: number) {
  const neighbours = neighboursIn(manifests.map(({ object }) => object));
  const found = manifests.flatMap((manifest) =>
    templatesOf(manifest.object).map((path) => {
      return { manifest, situation: situationOf(manifest.object, neighbours, graceSeconds, path) };
    }),
  );
  const isLasting = ({ subject: { kind }, capacity: { replicas } }: Situation): boolean =>
    replicas !== 0 && !/Job$|^Pod$/.test(kind);
  // Folders often hold a copy of a workload for each environment.
  const lasting = found.map(({ situation }) => situation).filter(isLasting);
  const containersOf = (one: ServiceSpec): readonly ContainerSpec[] =>
    found.flatMap(({ situation: { services, containers } }) => (services.includes(one) ? containers : []));
  const marked = <S extends ServiceSpec | Neighbours['budgets'][number]>(one: S): S => {
    const owners = lasting.filter(({ services, budgets }) => [...services, ...budgets].some((other) => other === one));
    return { ...one, isShared: new Set(owners.map(({ subject }) => subject.kind + subject.name)).size > 1 };
  };
  return found.map(({ manifest, situation }) => ({
    manifest,
    situation: {
      ...situation,
      services: situation.services.map((one) => ({ ...marked(one), selected: containersOf(one) })),
      budgets: situation.budgets.map(marked),
    },
  }));
}

/** Its spec, and what its status, endpoints and budgets show. */
export function situationOfLivePod(pod: V1Pod, neighbours: Neighbours, graceSeconds?: number): Situation {
  const narrowed = narrowPod(pod);
  const mayRestart = (asString(pod.spec?.restartPolicy) ?? 'Always') === 'Always';
  // A waiting container may still start, and so may one that has no status yet, or a policy of its own.
  const isOver = ({ name, restartPolicy }: ContainerSpec): boolean =>
    !mayRestart && restartPolicy === undefined && statusOf(narrowed, name)?.state.terminated !== undefined;
  const spec = situationOf(pod, neighbours, graceSeconds);
  return {
    ...spec,
    containers: spec.containers.map((one) => ({ ...one, isOver: isOver(one) })),
    services: servicesBehind(spec.services, neighbours, narrowed.metadata.uid),
    budgets: spec.budgets.map((budget) => ({ ...budget, ruling: rulingOf(budget, narrowed, spec.budgets.length > 1) })),
    isFinished: isFinished(narrowed),
    notRunningNow: !isFinished(narrowed) && !hasRunning(narrowed),
  };
}

export const situationIn = (object: KubernetesObject, neighbours: Neighbours, graceSeconds?: number): Situation =>
  object.kind === 'Pod'
    ? situationOfLivePod(object, neighbours, graceSeconds)
    : situationOf(object, neighbours, graceSeconds);

/** Services with the pod among their ready endpoints, also without a selector; those that select it if slices may not be read. */
function servicesBehind(selecting: readonly ServiceSpec[], { services, slices }: Neighbours, uid: string) {
  if (!slices) return selecting;
  const own = [...readyByService(slices)].filter(([, ready]) => ready.has(uid));
  return own.map(([name, ready]) => {
    const known = services.find((one) => one.name === name) ?? serviceOf({ metadata: { name } });
    // If the Service does not select the pod, its slices are managed elsewhere and its ports say nothing about the pod.
    const service = selecting.find((one) => one.name === name) ?? { ...known, targetPorts: [] };
    return { ...service, otherReady: ready.size - 1 };
  });
}

/** As the eviction API answers for a pod that is ready (SIGNALS.md §1 "Eviction"); of others it may take no account. */
function rulingOf({ name, allowed }: Neighbours['budgets'][number], pod: Pod, isSeveral: boolean) {
  const text = `PodDisruptionBudget ${name} allows ${plural(allowed, 'disruption')} now`;
  return isReady(pod) && !isTerminating(pod) ? { refused: isSeveral || allowed < 1, text } : undefined;
}
