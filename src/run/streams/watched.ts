/** What is watched, by which selectors (docs/architecture.md "What is watched"). Pure, over raw objects. */
import { collectionPath, type WatchTarget } from '../../kube/resource-path.ts';
import type { RawObservation, StreamName } from '../../model/observation.ts';
import {
  asArray,
  asObject,
  asString,
  asStrings,
  asText,
  metadataOf,
  stringMap,
  type JsonObject,
} from '../../model/observe/read.ts';
import { deploymentNamed } from '../../model/pod.ts';
import { workloadKinds } from '../choosing/target.ts';
import { matches, printFields, printLabels } from './selectors.ts';

export interface Watched extends WatchTarget {
  /** Plural name of the resource; `node-events` for the Events about nodes. */
  resource: string;
}

/** A whole collection; an empty `namespace` means all namespaces. */
const collection = (stream: StreamName, namespace: string, resource: string, group?: string): Watched => ({
  stream,
  path: collectionPath(namespace, resource, group),
  resource,
});

const aboutObject = (kind: string, name: string): Pick<Watched, 'fieldSelector'> => ({
  fieldSelector: printFields({ 'involvedObject.kind': kind, 'involvedObject.name': name }),
});

export const podsTarget = (namespace: string, selector: Pick<Watched, 'labelSelector' | 'fieldSelector'>): Watched => ({
  ...collection('pods', namespace, 'pods'),
  ...selector,
});

/** The Events about all pods, and those about everything else, for example owners and autoscalers. */
export const eventTargets = (namespace: string): Watched[] => [
  { ...collection('events', namespace, 'events'), fieldSelector: 'involvedObject.kind=Pod' },
  { ...collection('owner-events', namespace, 'events'), fieldSelector: 'involvedObject.kind!=Pod' },
];

export const servicesTarget = (namespace: string): Watched => collection('services', namespace, 'services');

export const podTarget = (namespace: string, name: string): Watched => ({
  ...collection('pod', namespace, 'pods'),
  name,
});

export const podEventsTarget = (namespace: string, name: string): Watched => ({
  ...collection('events', namespace, 'events'),
  ...aboutObject('Pod', name),
});

/** The slices of these Services (servers and proxies reject a URL with more names); undefined if there are none. */
export function sliceTarget(namespace: string, services: readonly string[]): Watched | undefined {
  if (services.length === 0) return undefined;
  return {
    ...slicesTarget(namespace),
    labelSelector: `kubernetes.io/service-name in (${services.slice(0, 200).join(',')})`,
  };
}

export const slicesTarget = (namespace: string): Watched =>
  collection('endpointslices', namespace, 'endpointslices', 'discovery.k8s.io/v1');

/** First Services whose selector matches the pod, then those without a selector, whose slices may hold any pod. */
export function candidateServices(services: readonly JsonObject[], pod: JsonObject): JsonObject[] {
  const labels = labelsOf(pod);
  const { namespace } = metadataOf(pod);
  const beside = services.filter((service) => (metadataOf(service)['namespace'] ?? namespace) === namespace);
  const selecting = beside.filter((service) => {
    const matchLabels = serviceSelectorOf(service);
    return matchLabels !== undefined && matches({ matchLabels }, labels);
  });
  const selectorless = beside.filter(
    (service) => serviceSelectorOf(service) === undefined && asObject(service['spec'])['type'] !== 'ExternalName',
  );
  return [...selecting, ...selectorless];
}

/** The objects that an observation lists or changes. */
export function objectsIn(rawObservation: RawObservation): JsonObject[] {
  if (rawObservation.kind === 'listed') return rawObservation.objects.map(asObject);
  return rawObservation.kind === 'changed' ? [asObject(rawObservation.object)] : [];
}

export const uidOf = (object: JsonObject): string => String(metadataOf(object)['uid']);

export const namespaceOf = (object: JsonObject): string | undefined => asString(metadataOf(object)['namespace']);

export const nameOf = (object: JsonObject): string => String(metadataOf(object)['name']);

export const isTerminatingPod = (pod: JsonObject): boolean => metadataOf(pod)['deletionTimestamp'] !== undefined;

/** Its containers have ended for good, without a deletion. */
export const isFinishedPod = (pod: JsonObject): boolean =>
  ['Succeeded', 'Failed'].includes(String(asObject(pod['status'])['phase']));

/** The condition of this type, if it has this status. */
export const rawConditionOf = (object: JsonObject, type: string, status: string): JsonObject | undefined =>
  asArray(asObject(object['status'])['conditions'])
    .map(asObject)
    .find((one) => one['type'] === type && one['status'] === status);

export const isReadyPod = (pod: JsonObject): boolean => rawConditionOf(pod, 'Ready', 'True') !== undefined;

/** Undefined if the Service selects no pods. */
export const serviceSelectorOf = (service: JsonObject): Record<string, string> | undefined =>
  stringMap(asObject(service['spec'])['selector'], () => true);

const nodes = collection('node', '', 'nodes');
const nodeEvents: Watched = { ...collection('node-events', 'default', 'events'), resource: 'node-events' };
const leases = collection('lease', 'kube-node-lease', 'leases', 'coordination.k8s.io/v1');

/** The node, its Events and its Lease. The kubelet's Events about Nodes have no uid, so the name selects (trap 21). */
export const nodeTargets = (node: string): Watched[] => [
  { ...nodes, name: node },
  { ...nodeEvents, ...aboutObject('Node', node) },
  { ...leases, name: node },
];

/** All nodes, and the Events about them. */
export const nodesTargets = (): Watched[] => [nodes, { ...nodeEvents, fieldSelector: 'involvedObject.kind=Node' }];

const { services: _services, ...workloads } = workloadKinds;

/** Kinds of owners that are built into Kubernetes, by resource. */
export const ownerKinds: Partial<Record<string, { kind: string; group: string }>> = {
  ...workloads,
  cronjobs: { kind: 'CronJob', group: 'batch/v1' },
};

/** The owner and the Events about it; empty for kinds that are not built into Kubernetes. */
export function ownerTargets(namespace: string, { kind, name }: { kind: string; name: string }): Watched[] {
  const all = ownersTarget(namespace, kind);
  return all
    ? [
        { ...all, name },
        { ...collection('owner-events', namespace, 'events'), ...aboutObject(kind, name) },
      ]
    : [];
}

/** All objects of an owner's kind, for a run that would have to watch many by name. */
export function ownersTarget(namespace: string, kind: string): Watched | undefined {
  const [resource = '', known] = Object.entries(ownerKinds).find(([, one]) => one?.kind === kind) ?? [];
  return known && collection('owner', namespace, resource, known.group);
}

/** The controller that owns an object, or its first owner. */
export function ownerOf(object: JsonObject): { kind: string; name: string } | undefined {
  const { kind, name } = ownerReferenceOf(object);
  return typeof kind === 'string' && typeof name === 'string' ? { kind, name } : undefined;
}

/** The pod's Deployment, without a request: its ReplicaSet is named after it and the pod-template-hash. */
export const deploymentOf = (pod: JsonObject): string | undefined =>
  deploymentNamed(ownerOf(pod), asObject(metadataOf(pod)['labels'])['pod-template-hash']);

export const controllerUid = (object: JsonObject): string | undefined => asString(ownerReferenceOf(object)['uid']);

function ownerReferenceOf(object: JsonObject): JsonObject {
  const owners = asArray(metadataOf(object)['ownerReferences']).map(asObject);
  return owners.find((one) => one['controller'] === true) ?? owners[0] ?? {};
}

/** Pods of the same workload, by the topmost owner's selector (a Deployment's also covers its next ReplicaSet). */
export function siblingTarget(namespace: string, owner: JsonObject): Watched | undefined {
  const selector = asObject(asObject(owner['spec'])['selector']);
  const matchExpressions = asArray(selector['matchExpressions'])
    .map(asObject)
    .map(({ key, operator, values }) => ({ key: asText(key), operator: asText(operator), values: asStrings(values) }));
  const labelSelector = printLabels({ matchLabels: stringsOf(selector['matchLabels']), matchExpressions });
  return labelSelector === '' ? undefined : podsTarget(namespace, { labelSelector });
}

export const labelsOf = (object: JsonObject): Record<string, string> => stringsOf(metadataOf(object)['labels']);

const stringsOf = (value: unknown): Record<string, string> => stringMap(value, () => true) ?? {};

/** Containers whose log can be followed: all running ones, including sidecars. */
export function runningContainers(pod: JsonObject): string[] {
  const status = asObject(pod['status']);
  const lists = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];
  return lists
    .flatMap((list) => asArray(status[list]).map(asObject))
    .filter((one) => asObject(one['state'])['running'] !== undefined)
    .flatMap((one) => asString(one['name']) ?? []);
}
