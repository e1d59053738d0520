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
  shape,
  stringMap,
} from '../model/observe/read.ts';
import { configMapTextsOf, type ConfigMapTexts } from './mounted-scripts.ts';

export interface Neighbours {
  services: readonly ServiceSpec[];
  budgets: readonly BudgetSpec[];
  /** Undefined for manifests, and if they may not be read. */
  slices?: readonly EndpointSlice[];
  /** Only for manifests, workloads such as `Deployment/web` that an autoscaler scales: a live one has real replicas. */
  autoscaled?: ReadonlySet<string>;
  /** Only of manifests: they may hold a container's script. */
  configMaps?: readonly ConfigMapTexts[];
  /** What could not be read, so it is not judged. */
  unread: readonly { what: string; because: string }[];
  /** These are from files; the cluster may have Services that are not in them. */
  mayHaveOtherServices: boolean;
}

export interface ServiceSpec extends ReturnType<typeof serviceOf> {
  /** It also selects pods of other workloads. */
  isShared?: boolean;
  /** Other endpoints that are ready now; only for a live pod. */
  otherReady?: number;
}

export interface BudgetSpec extends ReturnType<typeof budgetOf> {
  /** It also selects pods of other workloads. */
  isShared?: boolean;
  /** What the API server would answer to an eviction of the live pod. */
  ruling?: { refused: boolean; because?: string; text: string };
}

/** A Service without a selector has endpoints that are managed elsewhere. */
export function serviceOf({ metadata, spec: raw }: V1Service) {
  const spec = asObject(raw);
  const matchLabels = stringMap(spec['selector'], () => true);
  return {
    name: asText(metadata?.name),
    namespace: asString(metadata?.namespace),
    /** Undefined: it selects no pod. */
    selector: matchLabels && { matchLabels },
    /** `port`: the number or the name of a container's port. */
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
export function budgetOf(budget: V1PodDisruptionBudget) {
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

/** A number, a percentage or a name. */
export const amountOf = (raw: unknown): number | string | undefined => asNumber(raw) ?? asString(raw);

const selectorOf = shape({
  matchLabels: (raw) => stringMap(raw, () => true),
  matchExpressions: listOf(shape({ key: asText, operator: asText, values: asStrings }), 10_000),
});

/** The endpoints that are ready; an absent condition means ready (discovery/v1). */
export const readyIn = ({ endpoints }: EndpointSlice) =>
  endpoints.filter(({ conditions }) => conditions?.ready !== false);

export const serviceNameOf = ({ metadata }: EndpointSlice): string =>
  metadata.labels?.['kubernetes.io/service-name'] ?? metadata.name;

export function neighboursIn(objects: readonly KubernetesObject[]): Neighbours {
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  const scalers = [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')];
  const autoscaled = scalers.map((scaler) => {
    const { kind = 'Deployment', name } = asObject(asObject(asObject(scaler)['spec'])['scaleTargetRef']);
    return `${asString(kind)}/${asString(name)}`;
  });
  return {
    services: ofKind('Service').map(serviceOf),
    budgets: ofKind('PodDisruptionBudget').map(budgetOf),
    autoscaled: new Set(autoscaled),
    configMaps: ofKind('ConfigMap').map(configMapTextsOf),
    unread: [],
    mayHaveOtherServices: true,
  };
}
