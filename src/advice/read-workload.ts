/** A Kubernetes object that has pods → its ShutdownSpec, whether it comes from a manifest or from a cluster. */
import type {
  KubernetesObject,
  V1Deployment,
  V1PodDisruptionBudget,
  V1PodTemplateSpec,
  V1Service,
} from '@kubernetes/client-node';
import type { EndpointSlice } from '../model/kube.ts';
import {
  asArray,
  asNumber,
  asObject,
  asSeconds,
  asString,
  asStrings,
  asText,
  listOf,
  maybe,
  shape,
  stringMap,
  type Reader,
} from '../model/observe/read.ts';
import { matches, type LabelSelector } from '../run/selectors.ts';
import { templatePaths } from '../verdict/fix.ts';
import type { Manifest } from './manifests.ts';
import { containersOf } from './read-pod-spec.ts';
import type { BudgetSpec, Path, Selecting, ServiceSpec, ShutdownSpec, UpdateSpec } from './shutdown-spec.ts';

/** Kinds with pods, and the path of the pod or its template in each. */
const podPaths: Readonly<Record<string, Path>> = {
  ...templatePaths,
  Pod: [],
  ReplicationController: ['spec', 'template'],
  Job: ['spec', 'template'],
};

/** The objects around the workloads of a namespace or of a set of manifests. */
export interface Neighbours extends Pick<ShutdownSpec, 'unread' | 'mayHaveOtherServices'> {
  services: readonly ServiceSpec[];
  budgets: readonly BudgetSpec[];
  /** Undefined for manifests, and if they may not be read. */
  slices?: readonly EndpointSlice[];
  /**
   * Workloads, such as `Deployment/web`, whose replicas an autoscaler sets. Empty for a cluster: the replicas of a live
   * workload are their real number.
   */
  autoscaled: ReadonlySet<string>;
}

export const hasPods = (object: KubernetesObject): boolean => Object.hasOwn(podPaths, object.kind ?? '');

/** `graceSeconds`: of the deletion to predict; by default the spec's. */
export function specOfWorkload(object: KubernetesObject, neighbours: Neighbours, graceSeconds?: number): ShutdownSpec {
  const { kind = '', metadata } = object;
  const template = templateOf(object);
  const podPath = [...(podPaths[kind] ?? []), 'spec'];
  const pod = asObject(template.spec);
  const labels = stringMap(template.metadata?.labels, () => true) ?? {};
  const namespace = asString(metadata?.namespace);
  // A manifest without a namespace may be applied to any.
  const selectsPod = ({ namespace: other, selector }: Selecting): boolean =>
    (namespace === undefined || other === undefined || namespace === other) &&
    selector !== undefined &&
    matches(selector, labels);
  const replicas = replicasOf(object, neighbours.autoscaled);
  const specGraceSeconds = asSeconds(pod['terminationGracePeriodSeconds']);
  return {
    subject: { kind, name: asText(metadata?.name), namespace },
    podPath,
    graceSeconds: graceSeconds ?? specGraceSeconds ?? 30,
    specGraceSeconds,
    containers: containersOf(template.spec, podPath),
    sharesProcesses: pod['shareProcessNamespace'] === true,
    hostNetwork: pod['hostNetwork'] === true,
    replicas,
    update: updateOf(object),
    services: neighbours.services.filter(selectsPod).map((service) => withSharing(service, replicas, neighbours)),
    budgets: neighbours.budgets.filter(selectsPod),
    finalizers: kind === 'Pod' ? asStrings(metadata?.finalizers) : [],
    isUnmanaged: kind === 'Pod' && asArray(metadata?.ownerReferences).length === 0,
    isFinished: false,
    unread: neighbours.unread,
    mayHaveOtherServices: neighbours.mayHaveOtherServices,
  };
}

/** The endpoints that are ready; an absent condition means ready (discovery/v1). */
export const readyIn = ({ endpoints }: EndpointSlice) =>
  endpoints.filter(({ conditions }) => conditions?.ready !== false);

export const serviceNameOf = ({ metadata }: EndpointSlice): string =>
  metadata.labels?.['kubernetes.io/service-name'] ?? metadata.name;

/** More ready endpoints than replicas: pods of another workload are behind the Service too. */
function withSharing(service: ServiceSpec, replicas: number | undefined, { slices }: Neighbours): ServiceSpec {
  if (!slices || replicas === undefined) return service;
  const endpoints = slices.filter((slice) => serviceNameOf(slice) === service.name).flatMap(readyIn);
  const pods = new Set(endpoints.map((endpoint) => endpoint.targetRef?.uid ?? endpoint));
  return { ...service, isShared: pods.size > replicas };
}

/** The pod itself, or the workload's pod template. */
function templateOf(object: KubernetesObject): V1PodTemplateSpec {
  const path = podPaths[object.kind ?? ''] ?? [];
  return path.reduce<unknown>((value, key) => asObject(value)[key], object) as V1PodTemplateSpec;
}

/** The default is 1. Undefined for kinds without replicas, and if an autoscaler sets them. */
function replicasOf(object: KubernetesObject, autoscaled: Neighbours['autoscaled']): number | undefined {
  const scalable = ['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController'];
  if (!scalable.includes(object.kind ?? '')) return undefined;
  if (autoscaled.has(`${object.kind}/${object.metadata?.name}`)) return undefined;
  return asNumber(asObject(asObject(object)['spec'])['replicas']) ?? 1;
}

function updateOf(object: V1Deployment): UpdateSpec | undefined {
  const spec = asObject(object.spec);
  const strategy = asObject(spec['strategy'] ?? spec['updateStrategy']);
  if (!['Deployment', 'StatefulSet', 'DaemonSet'].includes(object.kind ?? '')) return undefined;
  const kind = asString(strategy['type']) ?? 'RollingUpdate';
  if (kind === 'Recreate' || kind === 'OnDelete') return { kind };
  const { maxUnavailable, maxSurge } = asObject(strategy['rollingUpdate']);
  return { kind: 'RollingUpdate', maxUnavailable: amountOf(maxUnavailable), maxSurge: amountOf(maxSurge) };
}

const amountOf = (raw: unknown): number | string | undefined => asNumber(raw) ?? asString(raw);

/** A Service without a selector has endpoints that are managed elsewhere. */
export function serviceOf({ metadata, spec: raw }: V1Service): ServiceSpec {
  const spec = asObject(raw);
  const matchLabels = stringMap(spec['selector'], () => true);
  return {
    name: asText(metadata?.name),
    namespace: asString(metadata?.namespace),
    selector: matchLabels && { matchLabels },
    targetPorts: asArray(spec['ports'])
      .map(asObject)
      .flatMap(({ port, targetPort, protocol }) => {
        const target = amountOf(targetPort) ?? asNumber(port);
        return target === undefined ? [] : [{ port: target, protocol: asString(protocol) ?? 'TCP' }];
      }),
    publishNotReadyAddresses: spec['publishNotReadyAddresses'] === true,
  };
}

/** A budget without a selector covers no pod, one with an empty selector covers all (policy/v1). */
export function budgetOf(budget: V1PodDisruptionBudget): BudgetSpec {
  const [spec, status] = [asObject(budget.spec), asObject(budget.status)];
  const count = (field: string): number => asNumber(status[field]) ?? 0;
  return {
    name: asText(budget.metadata?.name),
    namespace: asString(budget.metadata?.namespace),
    selector: maybe(selectorOf)(spec['selector']),
    minAvailable: amountOf(spec['minAvailable']),
    maxUnavailable: amountOf(spec['maxUnavailable']),
    evictsUnready: spec['unhealthyPodEvictionPolicy'] === 'AlwaysAllow',
    counts: {
      allowed: count('disruptionsAllowed'),
      healthy: count('currentHealthy'),
      desired: count('desiredHealthy'),
    },
  };
}

const selectorOf: Reader<LabelSelector> = shape({
  matchLabels: (raw) => stringMap(raw, () => true),
  matchExpressions: listOf(shape({ key: asText, operator: asText, values: asStrings }), 10_000),
});

/** The workloads of a set of manifests, judged with the Services, budgets and autoscalers in the same set. */
export function specsOf(
  manifests: readonly Manifest[],
  graceSeconds?: number,
): { manifest: Manifest; spec: ShutdownSpec }[] {
  const neighbours = neighboursIn(manifests);
  const withPods = manifests.filter(({ object }) => hasPods(object));
  const specs = sharing(withPods.map(({ object }) => specOfWorkload(object, neighbours, graceSeconds)));
  return withPods.flatMap((manifest, index) => {
    const spec = specs[index];
    return spec ? [{ manifest, spec }] : [];
  });
}

/** The specs, in which Services and budgets with lasting pods of several workloads are marked. */
function sharing(specs: readonly ShutdownSpec[]): ShutdownSpec[] {
  const lasting = specs.filter(({ subject: { kind }, replicas }) => replicas !== 0 && !/Job$|^Pod$/.test(kind));
  const marked = <S extends Selecting>(one: S, all: (spec: ShutdownSpec) => readonly Selecting[]): S => {
    // Folders often hold a copy of a workload for each environment.
    const names = lasting.filter((spec) => all(spec).includes(one)).map(({ subject: { kind, name } }) => kind + name);
    return { ...one, isShared: new Set(names).size > 1 };
  };
  return specs.map((spec) => ({
    ...spec,
    services: spec.services.map((service) => marked(service, ({ services }) => services)),
    budgets: spec.budgets.map((budget) => marked(budget, ({ budgets }) => budgets)),
  }));
}

function neighboursIn(manifests: readonly Manifest[]): Neighbours {
  const ofKind = (kind: string) => manifests.map(({ object }) => object).filter((object) => object.kind === kind);
  const scalers = [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')];
  const autoscaled = scalers.map((scaler) => {
    const { kind = 'Deployment', name } = asObject(asObject(asObject(scaler)['spec'])['scaleTargetRef']);
    return `${asString(kind)}/${asString(name)}`;
  });
  return {
    services: ofKind('Service').map(serviceOf),
    budgets: ofKind('PodDisruptionBudget').map(budgetOf),
    autoscaled: new Set(autoscaled),
    unread: [],
    mayHaveOtherServices: true,
  };
}
