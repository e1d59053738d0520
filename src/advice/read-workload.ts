/** A Kubernetes object that has pods → its ShutdownSpec, whether it comes from a manifest or from a cluster. */
import type {
  KubernetesObject,
  V1Deployment,
  V1PodDisruptionBudget,
  V1PodTemplateSpec,
  V1Service,
} from '@kubernetes/client-node';
import { asArray, asNumber, asObject, asSeconds, asString, asStrings, isPresent } from '../model/observe/read.ts';
import { matches, type LabelSelector } from '../run/selectors.ts';
import { templatePaths } from '../verdict/fix.ts';
import type { Manifest } from './manifests.ts';
import type { NamespaceState } from './read-cluster.ts';
import { containersOf } from './read-pod-spec.ts';
import type { BudgetSpec, Path, ServiceSpec, ShutdownSpec, Subject, UpdateSpec } from './shutdown-spec.ts';

/** Kinds with pods, and the path of the pod or its template in each. */
const podPaths: Readonly<Record<string, Path>> = {
  ...templatePaths,
  Pod: [],
  ReplicationController: ['spec', 'template'],
  Job: ['spec', 'template'],
};

/** The objects around the workloads of a namespace or of a set of manifests. */
export interface Neighbours extends Pick<ShutdownSpec, 'unread' | 'mayHaveOtherServices'> {
  servicesOf: FindSelecting<V1Service>;
  budgetsOf: FindSelecting<V1PodDisruptionBudget>;
  /** Workloads, such as `Deployment/web`, whose replicas an autoscaler sets. */
  autoscaled: ReadonlySet<string>;
}

/** For a namespace of a cluster. `autoscaled` stays empty: a live workload's replicas are its real number. */
export const neighboursOf = ({ services, budgets, unread }: NamespaceState): Neighbours => ({
  servicesOf: findSelecting(services, serviceSelector),
  budgetsOf: findSelecting(budgets, budgetSelector),
  autoscaled: new Set(),
  unread,
  mayHaveOtherServices: false,
});

/** Finds the objects that select a pod with these labels, in their original order. */
type FindSelecting<T> = (labels: Record<string, string>, namespace: string | undefined) => T[];

/** Looks selectors up by one of their labels: there may be thousands of workloads and of Services. */
function findSelecting<T extends KubernetesObject>(
  objects: readonly T[],
  selectorOf: (object: T) => LabelSelector | undefined,
): FindSelecting<T> {
  const byLabel = new Map<string, { object: T; order: number; selector: LabelSelector }[]>();
  for (const [order, object] of objects.entries()) {
    const selector = selectorOf(object);
    if (!selector) continue;
    const [label = ''] = Object.entries(selector.matchLabels ?? {}).map(labelKey);
    const same = byLabel.get(label) ?? [];
    same.push({ object, order, selector });
    byLabel.set(label, same);
  }
  return (labels, namespace) =>
    ['', ...Object.entries(labels).map(labelKey)]
      .flatMap((label) => byLabel.get(label) ?? [])
      .filter(
        ({ object, selector }) => isSameNamespace(object.metadata?.namespace, namespace) && matches(selector, labels),
      )
      .sort((a, b) => a.order - b.order)
      .map(({ object }) => object);
}

const labelKey = ([key, value]: [string, string]): string => `${key}=${value}`;

export const hasPods = (object: KubernetesObject): boolean => Object.hasOwn(podPaths, object.kind ?? '');

/** `graceSeconds`: of the deletion to predict; by default the spec's. `place`: where the object is in a manifest. */
export function specOfWorkload(
  object: KubernetesObject,
  neighbours: Neighbours,
  graceSeconds?: number,
  place: Pick<Subject, 'file' | 'line'> = {},
): ShutdownSpec {
  const { kind = '', metadata } = object;
  const template = templateOf(object);
  const podPath = [...(podPaths[kind] ?? []), 'spec'];
  const pod = asObject(template.spec);
  const labels = labelsOf(template.metadata?.labels);
  const namespace = asString(metadata?.namespace);
  const specGraceSeconds = asSeconds(pod['terminationGracePeriodSeconds']);
  return {
    subject: { kind, name: asString(metadata?.name) ?? '', namespace, ...place },
    podPath,
    graceSeconds: graceSeconds ?? specGraceSeconds ?? 30,
    specGraceSeconds,
    containers: containersOf(template.spec, podPath),
    sharesProcesses: pod['shareProcessNamespace'] === true,
    hostNetwork: pod['hostNetwork'] === true,
    replicas: replicasOf(object, neighbours.autoscaled),
    update: updateOf(object),
    services: neighbours.servicesOf(labels, namespace).map(serviceOf),
    budgets: neighbours.budgetsOf(labels, namespace).map(budgetOf),
    finalizers: kind === 'Pod' ? asStrings(metadata?.finalizers) : [],
    isUnmanaged: kind === 'Pod' && asArray(metadata?.ownerReferences).length === 0,
    isFinished: false,
    unread: neighbours.unread,
    mayHaveOtherServices: neighbours.mayHaveOtherServices,
  };
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

const labelsOf = (raw: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(asObject(raw)).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  );

/** A manifest without a namespace may be applied to any. */
const isSameNamespace = (one: string | undefined, other: string | undefined): boolean =>
  one === undefined || other === undefined || one === other;

/** Undefined for a Service without a selector: its endpoints are managed elsewhere. */
function serviceSelector(service: V1Service): LabelSelector | undefined {
  const matchLabels = labelsOf(asObject(service.spec)['selector']);
  return Object.keys(matchLabels).length > 0 ? { matchLabels } : undefined;
}

/** A budget without a selector covers no pod, one with an empty selector covers all (policy/v1). */
function budgetSelector(budget: V1PodDisruptionBudget): LabelSelector | undefined {
  const selector = asObject(budget.spec)['selector'];
  if (!isPresent(selector)) return undefined;
  const { matchLabels, matchExpressions } = asObject(selector);
  return {
    matchLabels: labelsOf(matchLabels),
    matchExpressions: asArray(matchExpressions)
      .map(asObject)
      .map(({ key, operator, values }) => ({
        key: asString(key) ?? '',
        operator: asString(operator) ?? '',
        values: asStrings(values),
      })),
  };
}

export function serviceOf(service: V1Service): ServiceSpec {
  const spec = asObject(service.spec);
  return {
    name: asString(service.metadata?.name) ?? '',
    targetPorts: asArray(spec['ports'])
      .map(asObject)
      .flatMap(({ port, targetPort }) => amountOf(targetPort) ?? asNumber(port) ?? []),
    publishNotReadyAddresses: spec['publishNotReadyAddresses'] === true,
  };
}

function budgetOf(budget: V1PodDisruptionBudget): BudgetSpec {
  const spec = asObject(budget.spec);
  return {
    name: asString(budget.metadata?.name) ?? '',
    minAvailable: amountOf(spec['minAvailable']),
    maxUnavailable: amountOf(spec['maxUnavailable']),
  };
}

/** The workloads of a set of manifests, judged with the Services, budgets and autoscalers in the same set. */
export function specsOf(
  manifests: readonly Manifest[],
  graceSeconds?: number,
): { manifest: Manifest; spec: ShutdownSpec }[] {
  const neighbours = neighboursIn(manifests);
  return manifests
    .filter(({ object }) => hasPods(object))
    .map((manifest) => {
      const { object, file, line } = manifest;
      return { manifest, spec: specOfWorkload(object, neighbours, graceSeconds, { file, line }) };
    });
}

function neighboursIn(manifests: readonly Manifest[]): Neighbours {
  const ofKind = (kind: string) => manifests.map(({ object }) => object).filter((object) => object.kind === kind);
  const scalers = [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')];
  const autoscaled = scalers.map((scaler) => {
    const { kind = 'Deployment', name } = asObject(asObject(asObject(scaler)['spec'])['scaleTargetRef']);
    return `${asString(kind)}/${asString(name)}`;
  });
  return {
    servicesOf: findSelecting(ofKind('Service'), serviceSelector),
    budgetsOf: findSelecting(ofKind('PodDisruptionBudget'), budgetSelector),
    autoscaled: new Set(autoscaled),
    unread: [],
    mayHaveOtherServices: true,
  };
}
