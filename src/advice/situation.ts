/**
 * What a spec says about a pod's shutdown. Live pods, workloads and manifests are all read into this model, so that
 * the rules of `check` and `fix` see the same data. Plain data, no clock.
 */
import type { KubernetesObject } from '@kubernetes/client-node';
import {
  asArray,
  asNumber,
  asObject,
  asSeconds,
  asString,
  asStrings,
  asText,
  metadataOf,
  stringMap,
} from '../model/observe/read.ts';
import { matches } from '../run/streams/selectors.ts';
import { templatePaths } from '../verdict/fix.ts';
import { containersOf, type Path } from './container-spec.ts';
import type { Manifest } from './manifests.ts';
import {
  amountOf,
  neighboursIn,
  readyIn,
  serviceNameOf,
  type BudgetSpec,
  type Neighbours,
  type ServiceSpec,
} from './neighbours.ts';

export interface Situation extends ReturnType<typeof specOfWorkload> {
  /** Of a manifest: a container has no image, so its base has the rest, such as the grace period. Nothing is judged. */
  isPatch?: boolean;
  /** The pod has finished: deleting it stops nothing. */
  isFinished?: boolean;
  /** No container of the live pod runs at this moment. */
  notRunningNow?: boolean;
  /** The node's Ready condition if it is not True; only for a live pod. */
  nodeNotReady?: { node: string; status: string };
}

/** Kinds with pods, and the path of the pod or its template in each. */
const podPaths: Readonly<Record<string, Path>> = {
  ...templatePaths,
  Pod: [],
  ReplicationController: ['spec', 'template'],
  Job: ['spec', 'template'],
};

/** The groups of these kinds: volcano's Job is another kind than that of batch. */
const builtInGroups = ['', 'apps', 'batch', 'extensions'];

const groupOf = ({ apiVersion = '' }: KubernetesObject): string => /^(.*)\//.exec(apiVersion)?.[1] ?? '';

/** A kind of Kubernetes itself, whose strategy is known. */
export const isBuiltIn = (object: KubernetesObject): boolean =>
  Object.hasOwn(podPaths, object.kind ?? '') && builtInGroups.includes(groupOf(object));

/** The paths of the pod templates; a custom resource such as an Argo Rollout or a volcano Job can have several. */
const templatesOf = (object: KubernetesObject): readonly Path[] =>
  isBuiltIn(object) ? [podPaths[object.kind ?? ''] ?? []] : templatesIn(object, []);

function templatesIn(value: unknown, path: Path): Path[] {
  if (path.length > 8 || typeof value !== 'object' || value === null) return [];
  const containers = asArray(asObject(asObject(value)['spec'])['containers']);
  if (containers.some((one) => asString(asObject(one)['image']) !== undefined)) return [path];
  const steps = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return steps.flatMap((step) => templatesIn((value as Record<string | number, unknown>)[step], [...path, step]));
}

export const hasPods = (object: KubernetesObject): boolean => templatesOf(object).length > 0;

/** `graceSeconds`: of the deletion to predict; by default the spec's. */
export function specOfWorkload(
  object: KubernetesObject,
  neighbours: Neighbours,
  graceSeconds?: number,
  templatePath = templatesOf(object)[0] ?? [],
) {
  const { kind = '', metadata } = object;
  const template = asObject(
    templatePath.reduce<unknown>(
      (value, key) => (value as Record<string | number, unknown> | undefined)?.[key],
      object,
    ),
  );
  const podPath = [...templatePath, 'spec'];
  const pod = asObject(template['spec']);
  const namespace = asString(metadata?.namespace);
  const labels = stringMap(metadataOf(template)['labels'], () => true) ?? {};
  // A manifest without a namespace may be applied to any.
  const selectsPod = ({ namespace: other, selector }: ServiceSpec | BudgetSpec): boolean =>
    (namespace === undefined || other === undefined || namespace === other) &&
    selector !== undefined &&
    matches(selector, labels);
  const replicas = replicasOf(object, neighbours);
  const specGraceSeconds = asSeconds(pod['terminationGracePeriodSeconds']);
  return {
    /** The kind of a custom resource has its group, as in kubectl's TYPE.GROUP. A name may be left to the cluster. */
    subject: {
      kind: isBuiltIn(object) ? kind : `${kind}.${groupOf(object)}`,
      name: asText(metadata?.name) || asText(metadata?.generateName),
      namespace,
    },
    /** How its controller replaces pods is not known. */
    isCustom: !isBuiltIn(object),
    /** The path of the pod's spec in the object. */
    podPath,
    /** The requested grace period, else the spec's, else 30. */
    graceSeconds: graceSeconds ?? specGraceSeconds ?? 30,
    /** terminationGracePeriodSeconds as written in the spec. */
    specGraceSeconds,
    containers: containersOf(pod, podPath),
    /** No container has PID 1, so a signal without a handler ends it. */
    sharesProcesses: pod['shareProcessNamespace'] === true,
    hostNetwork: pod['hostNetwork'] === true,
    replicas,
    rollout: rolloutOf(object),
    services: neighbours.services.filter(selectsPod).map((service) => withSharing(service, replicas, neighbours)),
    budgets: neighbours.budgets.filter(selectsPod),
    finalizers: kind === 'Pod' ? asStrings(metadata?.finalizers) : [],
    /** A pod that no controller owns. */
    isUnmanaged: kind === 'Pod' && asArray(metadata?.ownerReferences).length === 0,
    unread: neighbours.unread,
    mayHaveOtherServices: neighbours.mayHaveOtherServices,
  };
}

/** More ready endpoints than replicas: pods of another workload are behind the Service too. */
function withSharing(service: ServiceSpec, replicas: number | undefined, { slices }: Neighbours): ServiceSpec {
  if (!slices || replicas === undefined) return service;
  const endpoints = slices.filter((slice) => serviceNameOf(slice) === service.name).flatMap(readyIn);
  const pods = new Set(endpoints.map((endpoint) => endpoint.targetRef?.uid ?? endpoint));
  return { ...service, isShared: pods.size > replicas };
}

/** The default is 1. Undefined for kinds without replicas, and if an autoscaler sets them. */
function replicasOf(object: KubernetesObject, { autoscaled }: Neighbours): number | undefined {
  const scalable = ['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController'];
  if (!scalable.includes(object.kind ?? '')) return undefined;
  if (autoscaled?.has(`${object.kind}/${object.metadata?.name}`)) return undefined;
  return asNumber(asObject(asObject(object)['spec'])['replicas']) ?? 1;
}

/** How a rollout replaces the pods of a Deployment: only there, it may start new pods before it stops old ones. */
function rolloutOf(object: KubernetesObject) {
  if (object.kind !== 'Deployment') return undefined;
  const { type, rollingUpdate } = asObject(asObject(asObject(object)['spec'])['strategy']);
  const { maxUnavailable, maxSurge } = type === 'Recreate' ? {} : asObject(rollingUpdate);
  return {
    isRecreate: type === 'Recreate',
    maxUnavailable: amountOf(maxUnavailable) ?? '25%',
    maxSurge: amountOf(maxSurge) ?? '25%',
  };
}

/** The workloads of a set of manifests, judged with the Services, budgets and autoscalers in the same set. */
export function specsOf(
  manifests: readonly Manifest[],
  graceSeconds?: number,
): { manifest: Manifest; spec: Situation }[] {
  const neighbours = neighboursIn(manifests.map(({ object }) => object));
  const found = manifests
    .flatMap((manifest) => templatesOf(manifest.object).map((path) => ({ manifest, path })))
    .map(({ manifest, path }) => {
      const spec = specOfWorkload(manifest.object, neighbours, graceSeconds, path);
      return { manifest, spec: { ...spec, isPatch: spec.containers.some(({ image }) => image === '') } };
    });
  const lasting = found.map(({ spec }) => spec).filter(isLasting);
  /** Marks a Service or a budget with lasting pods of several workloads. */
  const marked = <S extends ServiceSpec | BudgetSpec>(one: S): S => {
    const selected = lasting.filter(({ services, budgets }) => [...services, ...budgets].includes(one));
    // Folders often hold a copy of a workload for each environment.
    const names = new Set(selected.map(({ subject: { kind, name } }) => kind + name));
    return { ...one, isShared: names.size > 1 };
  };
  return found.map(({ manifest, spec }) => ({
    manifest,
    spec: { ...spec, services: spec.services.map(marked), budgets: spec.budgets.map(marked) },
  }));
}

const isLasting = ({ subject: { kind }, replicas }: Situation): boolean => replicas !== 0 && !/Job$|^Pod$/.test(kind);
