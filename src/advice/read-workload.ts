/** A Kubernetes object that has pods → its ShutdownSpec. The same for a manifest and for what a cluster answers. */
import type {
  KubernetesObject,
  V1Deployment,
  V1PodDisruptionBudget,
  V1PodTemplateSpec,
  V1Service,
} from '@kubernetes/client-node';
import { asArray, asNumber, asObject, asSeconds, asString, asStrings } from '../model/observe/read.ts';
import { matches } from '../run/selectors.ts';
import type { Manifest } from './manifest/parse.ts';
import { containersOf } from './read-pod-spec.ts';
import type { BudgetSpec, Path, ServiceSpec, ShutdownSpec, Subject, UpdateSpec } from './shutdown-spec.ts';

/** Kinds with pods, and where their pod lies. */
const podPaths: Readonly<Record<string, Path>> = {
  Pod: [],
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  ReplicationController: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
};

/** What stands around the workloads of one namespace or of one stream of manifests. */
export interface Neighbours {
  services: readonly V1Service[];
  budgets: readonly V1PodDisruptionBudget[];
  /** Names of workloads, as `Deployment/web`, whose replicas an autoscaler decides. */
  autoscaled: ReadonlySet<string>;
}

export interface Reading {
  neighbours: Neighbours;
  file?: string;
  line?: number;
  /** The grace period of the deletion that is asked about; undefined: the spec's own. */
  graceSeconds?: number;
  /** Only these files were read: other Services may select it. */
  mayHaveOtherServices?: boolean;
  unread?: ShutdownSpec['unread'];
}

export const hasPods = (object: KubernetesObject): boolean => Object.hasOwn(podPaths, object.kind ?? '');

export function specOfWorkload(object: KubernetesObject, reading: Reading): ShutdownSpec {
  const kind = object.kind ?? '';
  const { metadata } = object;
  const template = templateOf(object);
  const podPath = [...(podPaths[kind] ?? []), 'spec'];
  const pod = asObject(template.spec);
  const labels = labelsOf(template.metadata?.labels);
  const namespace = asString(metadata?.namespace);
  const subject: Subject = {
    kind,
    name: asString(metadata?.name) ?? '',
    namespace,
    file: reading.file,
    line: reading.line,
  };
  const specGrace = asSeconds(pod['terminationGracePeriodSeconds']);
  return {
    subject,
    podPath,
    graceSeconds: reading.graceSeconds ?? specGrace ?? 30,
    specGraceSeconds: specGrace,
    containers: containersOf(template.spec, podPath),
    sharesProcesses: pod['shareProcessNamespace'] === true,
    hostNetwork: pod['hostNetwork'] === true,
    replicas: replicasOf(object, reading.neighbours.autoscaled),
    update: updateOf(object),
    services: reading.neighbours.services.filter((one) => selectsPod(one, labels, namespace)).map(serviceOf),
    budgets: reading.neighbours.budgets.filter((one) => covers(one, labels, namespace)).map(budgetOf),
    finalizers: kind === 'Pod' ? asStrings(metadata?.finalizers) : [],
    isUnmanaged: kind === 'Pod' && asArray(metadata?.ownerReferences).length === 0,
    isIdle: false,
    unread: reading.unread ?? [],
    mayHaveOtherServices: reading.mayHaveOtherServices ?? false,
  };
}

/** The pod itself, or the template that its pods are made of. */
function templateOf(object: KubernetesObject): V1PodTemplateSpec {
  const path = podPaths[object.kind ?? ''] ?? [];
  return path.reduce<unknown>((value, key) => asObject(value)[key], object) as V1PodTemplateSpec;
}

/** Absent means 1; a DaemonSet's and a Job's pods are counted elsewhere, and so are an autoscaler's. */
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

/** A manifest may leave the namespace to the command that applies it. */
const isSameNamespace = (one: string | undefined, other: string | undefined): boolean =>
  one === undefined || other === undefined || one === other;

function selectsPod(service: V1Service, labels: Record<string, string>, namespace: string | undefined): boolean {
  const selector = labelsOf(asObject(service.spec)['selector']);
  if (Object.keys(selector).length === 0 || !isSameNamespace(service.metadata?.namespace, namespace)) return false;
  return matches({ matchLabels: selector }, labels);
}

/** A budget without a selector covers nothing, one with an empty selector everything (policy/v1). */
function covers(budget: V1PodDisruptionBudget, labels: Record<string, string>, namespace: string | undefined): boolean {
  const selector = asObject(budget.spec)['selector'];
  if (typeof selector !== 'object' || selector === null) return false;
  if (!isSameNamespace(budget.metadata?.namespace, namespace)) return false;
  const raw = asObject(selector);
  const matchExpressions = asArray(raw['matchExpressions'])
    .map(asObject)
    .map((one) => ({
      key: asString(one['key']) ?? '',
      operator: asString(one['operator']) ?? '',
      values: asStrings(one['values']),
    }));
  return matches({ matchLabels: labelsOf(raw['matchLabels']), matchExpressions }, labels);
}

function serviceOf(service: V1Service): ServiceSpec {
  const spec = asObject(service.spec);
  const ports = asArray(spec['ports'])
    .map(asObject)
    .flatMap((one) => {
      const targetPort = amountOf(one['targetPort']) ?? asNumber(one['port']);
      return targetPort === undefined ? [] : [{ name: asString(one['name']), targetPort }];
    });
  return {
    name: asString(service.metadata?.name) ?? '',
    ports,
    publishNotReadyAddresses: spec['publishNotReadyAddresses'] === true,
    isHeadless: spec['clusterIP'] === 'None',
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

/** Workloads of a stream of manifests, with the Services, budgets and autoscalers beside them. */
export interface ManifestSpec {
  manifest: Manifest;
  spec: ShutdownSpec;
}

export function specsOf(manifests: readonly Manifest[], graceSeconds?: number): ManifestSpec[] {
  const neighbours = neighboursOf(manifests);
  return manifests
    .filter(({ object }) => hasPods(object))
    .map((manifest) => {
      const { object, file, line } = manifest;
      return {
        manifest,
        spec: specOfWorkload(object, { neighbours, file, line, graceSeconds, mayHaveOtherServices: true }),
      };
    });
}

function neighboursOf(manifests: readonly Manifest[]): Neighbours {
  const ofKind = (kind: string) => manifests.map(({ object }) => object).filter((one) => one.kind === kind);
  return {
    services: ofKind('Service'),
    budgets: ofKind('PodDisruptionBudget'),
    autoscaled: new Set(
      [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')].map((one) => {
        const { kind = 'Deployment', name } = asObject(asObject(asObject(one)['spec'])['scaleTargetRef']);
        return `${asString(kind)}/${asString(name)}`;
      }),
    ),
  };
}
