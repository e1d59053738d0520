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
import type { ContainerSpec } from './container-spec.ts';
import { limitsIn } from './limits.ts';
import { configMapTextsOf } from './mounted-scripts.ts';

export interface Neighbours extends ReturnType<typeof neighboursIn> {
  /** Undefined for manifests, and if they may not be read. */
  slices?: readonly EndpointSlice[];
}

export interface ServiceSpec extends ReturnType<typeof serviceOf> {
  /** How long AWS' load balancer lets the requests of a removed target finish, where an annotation sets it. */
  deregistrationSeconds?: number;
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

/** A Service without a selector has endpoints that are managed elsewhere. */
export function serviceOf({ metadata, spec: raw }: V1Service) {
  const spec = asObject(raw);
  const matchLabels = stringMap(spec['selector'], () => true);
  return {
    name: asText(metadata?.name),
    namespace: asString(metadata?.namespace),
    selector: matchLabels && { matchLabels },
    /** `port`: the number or the name of a container's port. */
    targetPorts: asArray(spec['ports'])
      .map(asObject)
      .flatMap(({ port, targetPort, protocol }) => {
        const target = amountOf(targetPort) ?? asNumber(port);
        return target === undefined ? [] : [{ port: target, protocol: asString(protocol) ?? 'TCP' }];
      }),
    publishNotReadyAddresses: spec['publishNotReadyAddresses'] === true,
    clients: clientsOf(asText(metadata?.name), spec),
    isNodeLocal: spec['internalTrafficPolicy'] === 'Local' || spec['externalTrafficPolicy'] === 'Local',
  };
}

/** Who sends requests to a Service. `metrics-only`: a monitoring system, which tries again by itself. */
function clientsOf(name: string, spec: JsonObject): 'load-balancer' | 'headless' | 'metrics-only' {
  const ports = asArray(spec['ports']).map(asObject);
  const names = ports.map((port) => asString(port['name']) ?? asString(port['targetPort']) ?? '');
  const areMetrics = names.every((one) => isMetricsName.test(one) || (one === '' && isMetricsName.test(name)));
  if (ports.length > 0 && areMetrics) return 'metrics-only';
  return spec['clusterIP'] === 'None' ? 'headless' : 'load-balancer';
}

const isMetricsName =
  /(^|[-_.])(metrics|prometheus|prom|monitoring|telemetry|exporter|profiling|pprof)([-_.]|$)|-prom(-|$)/i;

/** A budget without a selector covers no pod, one with an empty selector covers all (policy/v1). */
function budgetOf(budget: V1PodDisruptionBudget) {
  const [spec, status] = [asObject(budget.spec), asObject(budget.status)];
  const count = (field: string): number => asNumber(status[field]) ?? 0;
  return {
    name: asText(budget.metadata?.name),
    namespace: asString(budget.metadata?.namespace),
    selector: maybe(selectorOf)(spec['selector']),
    minAvailable: amountOf(spec['minAvailable']),
    maxUnavailable: amountOf(spec['maxUnavailable']),
    /** Policy AlwaysAllow: pods that are not ready may always be evicted. */
    evictsUnready: spec['unhealthyPodEvictionPolicy'] === 'AlwaysAllow',
    /** Pods, according to its status; only in a cluster. `desired`: as many healthy ones must stay. */
    counts: {
      allowed: count('disruptionsAllowed'),
      healthy: count('currentHealthy'),
      desired: count('desiredHealthy'),
    },
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
  const services = ofKind('Service').map((service): ServiceSpec => {
    const fronts = ofKind('Ingress').filter((one) => backendsOf(one).includes(service.metadata?.name));
    const [deregistrationSeconds] = [service, ...fronts].flatMap((one) => deregistrationOf(one) ?? []);
    return { ...serviceOf(service), deregistrationSeconds };
  });
  const claims = ofKind('PersistentVolumeClaim').map(
    (claim) => [claim.metadata?.name, asStrings(asObject(asObject(claim)['spec'])['accessModes'])] as const,
  );
  return {
    services,
    budgets: ofKind('PodDisruptionBudget').map(budgetOf),
    autoscaled: [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')].map(autoscalerOf),
    claims: new Map(claims),
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

/** Names of the Services that an Ingress routes to (networking.k8s.io/v1). */
function backendsOf(ingress: KubernetesObject): (string | undefined)[] {
  const { rules, defaultBackend } = asObject(asObject(ingress)['spec']);
  const paths = asArray(rules).flatMap((rule) => asArray(asObject(asObject(rule)['http'])['paths']));
  const backends = [defaultBackend, ...paths.map((path) => asObject(path)['backend'])];
  return backends.map((backend) => asString(asObject(asObject(backend)['service'])['name']));
}

/** Of `target-group-attributes: deregistration_delay.timeout_seconds=30` (AWS Load Balancer Controller). */
function deregistrationOf({ metadata }: KubernetesObject): number | undefined {
  const set = Object.entries(metadata?.annotations ?? {}).find(([key]) => key.endsWith('target-group-attributes'));
  return maybe(Number)(/deregistration_delay\.timeout_seconds=(\d{1,4})\b/.exec(asText(set?.[1]))?.[1]);
}

/** The workload that it scales, such as `Deployment/web`. The minimum is 1 by default (autoscaling/v2), KEDA's is 0. */
function autoscalerOf(scaler: KubernetesObject) {
  const { scaleTargetRef, minReplicas, minReplicaCount, maxReplicas, maxReplicaCount } = asObject(
    asObject(scaler)['spec'],
  );
  const { kind = 'Deployment', name } = asObject(scaleTargetRef);
  return {
    target: `${asString(kind)}/${asString(name)}`,
    name: `${scaler.kind} ${scaler.metadata?.name ?? ''}`,
    maximum: asNumber(maxReplicas) ?? asNumber(maxReplicaCount) ?? Infinity,
    minimum: Math.max(1, asNumber(minReplicas) ?? asNumber(minReplicaCount) ?? 1),
  };
}
