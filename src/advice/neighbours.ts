/** The objects around the workloads of a namespace or of a set of manifests: Services, budgets, endpoints, autoscalers. */
import type { KubernetesObject, V1PodDisruptionBudget, V1Service } from '@kubernetes/client-node';
import type { EndpointSlice } from '../model/kube.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  asStrings,
  asText,
  listOf,
  maybe,
  metadataOf,
  shape,
  stringMap,
  type JsonObject,
} from '../model/observe/read.ts';
import { matches } from '../run/streams/selectors.ts';
import type { ContainerSpec } from './container-spec.ts';
import names from './data/names.json' with { type: 'json' };
import { limitsIn } from './sizes.ts';
import { configMapTextsOf } from './mounted-scripts.ts';

/** What an autoscaler sets: the fewest replicas and the most. */
export type AutoscalerBounds = ReturnType<typeof autoscalerOf>['sets'];

export interface Neighbours extends ReturnType<typeof neighboursIn> {
  /** Undefined for manifests, and if they may not be read. */
  slices?: readonly EndpointSlice[];
}

export interface ServiceSpec extends ReturnType<typeof serviceOf> {
  /** An annotation, of an Ingress too, says how long AWS' load balancer goes on sending requests. That is not read. */
  setsDeregistration?: boolean;
  /** Containers of all the workloads in the input that it selects, which may be one for each environment. */
  selected?: readonly ContainerSpec[];
  isShared?: boolean;
  /** Other endpoints that are ready now; only for a live pod. */
  otherReady?: number;
}

export interface BudgetSpec extends ReturnType<typeof budgetOf> {
  isShared?: boolean;
  /** What the API server would answer to an eviction of the live pod. */
  ruling?: { refused: boolean; text: string };
}

/** Those that an object of this namespace may refer to. A manifest without a namespace may be applied to any. */
const inNamespace = <T extends { namespace?: string }>(all: readonly T[], namespace: string | undefined): T[] =>
  all.filter(({ namespace: own }) => !own || !namespace || own === namespace);

/** What all say; undefined if they differ: folders often hold a copy for each environment. */
export const commonValue = <T>([first, ...others]: readonly T[]): T | undefined =>
  others.every((one) => JSON.stringify(one) === JSON.stringify(first)) ? first : undefined;

/** A Service without a selector has endpoints that are managed elsewhere. */
export function serviceOf({ metadata, spec: raw }: V1Service) {
  const [spec, name] = [asObject(raw), asText(metadata?.name)];
  const matchLabels = stringMap(spec['selector'], () => true);
  const targetPorts = portsOf(asArray(spec['ports']).map(asObject), name);
  const clients = spec['clusterIP'] === 'None' ? ('headless' as const) : ('load-balancer' as const);
  return {
    name,
    namespace: asString(metadata?.namespace),
    selector: matchLabels && { matchLabels },
    targetPorts,
    publishNotReadyAddresses: spec['publishNotReadyAddresses'] === true,
    /** Who sends requests. `metrics-only`: a monitoring system, which tries again by itself. */
    clients: targetPorts[0] && targetPorts.every((one) => one.isForMetrics) ? ('metrics-only' as const) : clients,
    isNodeLocal: spec['internalTrafficPolicy'] === 'Local',
  };
}

/** `port`: the number or the name of a container's port. Those of a Service of metrics may be named https. */
const portsOf = (ports: readonly JsonObject[], service: string) =>
  ports.flatMap(({ name, port, targetPort, protocol }) => {
    const target = amountOf(targetPort) ?? asNumber(port);
    const own = asString(name) ?? asString(targetPort) ?? service;
    const meant = new RegExp(names.metricsServices).test(service) ? service : own;
    const isForMetrics = new RegExp(names.metricsPorts, 'i').test(meant);
    return target === undefined ? [] : [{ port: target, protocol: asString(protocol) ?? 'TCP', isForMetrics }];
  });

/** A budget without a selector covers no pod, one with an empty selector covers all (policy/v1). */
function budgetOf(budget: V1PodDisruptionBudget) {
  const [spec, status] = [asObject(budget.spec), asObject(budget.status)];
  return {
    name: asText(budget.metadata?.name),
    namespace: asString(budget.metadata?.namespace),
    selector: maybe(selectorOf)(spec['selector']),
    minAvailable: amountOf(spec['minAvailable']),
    maxUnavailable: amountOf(spec['maxUnavailable']),
    /** Pods that may be evicted now, according to its status; only in a cluster. */
    allowed: asNumber(status['disruptionsAllowed']) ?? 0,
  };
}

export const amountOf = (raw: unknown): number | string | undefined => asNumber(raw) ?? asString(raw);

const selectorOf = shape({
  matchLabels: (raw) => stringMap(raw, () => true),
  matchExpressions: listOf(shape({ key: asText, operator: asText, values: asStrings }), 10_000),
});

/** The ready endpoints of each Service (also without a condition; discovery/v1), by the uid of their pod if they have one. */
export function readyByService(slices: readonly EndpointSlice[]): ReadonlyMap<string, ReadonlySet<unknown>> {
  const found = new Map<string, ReadonlySet<unknown>>();
  for (const { metadata, endpoints } of slices) {
    const service = metadata.labels?.['kubernetes.io/service-name'] ?? metadata.name;
    const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false);
    found.set(service, new Set([...(found.get(service) ?? []), ...ready.map((one) => one.targetRef?.uid ?? one)]));
  }
  return found;
}

export function neighboursIn(objects: readonly KubernetesObject[]) {
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  return {
    services: ofKind('Service').map((service): ServiceSpec => {
      const { name, namespace } = service.metadata ?? {};
      const fronts = ofKind('Ingress')
        .filter(({ metadata }) => !namespace || (metadata?.namespace ?? namespace) === namespace)
        .filter((one) => JSON.stringify(one).includes(`"${name}"`));
      const setsDeregistration = [service, ...fronts].some(({ metadata }) =>
        Object.values(metadata?.annotations ?? {}).some((text) => asText(text).includes('deregistration_delay')),
      );
      return { ...serviceOf(service), setsDeregistration };
    }),
    budgets: ofKind('PodDisruptionBudget').map((one): BudgetSpec => budgetOf(one)),
    autoscaled: [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')].map(autoscalerOf),
    claims: ofKind('PersistentVolumeClaim').map((claim) => ({
      name: claim.metadata?.name,
      namespace: claim.metadata?.namespace,
      modes: asStrings(asObject(asObject(claim)['spec'])['accessModes']),
    })),
    limits: limitsIn(objects),
    /** Metadata of namespaces, by name, as far as they may be read: they may ask for a mesh's proxy. */
    namespaces: new Map(ofKind('Namespace').map((one) => [one.metadata?.name, metadataOf(one)])),
    /** Only of manifests: they may hold a container's script. */
    configMaps: ofKind('ConfigMap').map(configMapTextsOf),
    /** What could not be read, so it is not judged. */
    unread: [] as { what: string; because: string }[],
    /** These are from files; the cluster may have Services that are not in them. */
    mayHaveOtherServices: true,
  };
}

/** Around a pod with these labels: Services and budgets that select it, and what its workload may refer to. */
export function neighboursOf(all: Neighbours, namespace: string | undefined, labels: unknown): Neighbours {
  const own = stringMap(labels, () => true) ?? {};
  const selecting = <S extends ServiceSpec | BudgetSpec>(some: readonly S[]): S[] =>
    inNamespace(some, namespace).filter(({ selector }) => selector && matches(selector, own));
  return {
    ...all,
    services: selecting(all.services),
    budgets: selecting(all.budgets),
    autoscaled: inNamespace(all.autoscaled, namespace),
    claims: inNamespace(all.claims, namespace),
  };
}

/** `target`: the workload that it scales, such as `Deployment/web`. The minimum is 1 by default (autoscaling/v2), KEDA's is 0. */
function autoscalerOf(scaler: KubernetesObject) {
  const spec = asObject(asObject(scaler)['spec']);
  const { kind = 'Deployment', name } = asObject(spec['scaleTargetRef']);
  return {
    target: `${asString(kind)}/${asString(name)}`,
    namespace: scaler.metadata?.namespace,
    sets: {
      replicas: Math.max(1, asNumber(spec['minReplicas'] ?? spec['minReplicaCount']) ?? 1),
      most: asNumber(spec['maxReplicas'] ?? spec['maxReplicaCount']) ?? Infinity,
      autoscaler: `${scaler.kind} ${scaler.metadata?.name ?? ''}`,
    },
  };
}
