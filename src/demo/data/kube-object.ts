/** Any Kubernetes object; only fields that this server uses are typed. */
export interface KubeObject {
  kind?: string;
  apiVersion?: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  [field: string]: unknown;
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The value at a path such as `status.phase`; undefined if any part of the path is missing. */
export const valueAt = (object: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), object);

/** The objects in the list at a path; empty without a list. */
export function recordsAt(object: unknown, path: string): Record<string, unknown>[] {
  const list = valueAt(object, path);
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

export function textAt(object: unknown, path: string): string {
  const value = valueAt(object, path);
  return typeof value === 'string' ? value : '';
}

export function numberAt(object: unknown, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One kind of object that this server knows: its path in the API and its selectable fields. */
export interface Kind {
  /** Empty for the core group. The version is v1 in all of them. */
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  /** Field selectors a real server supports for this kind, beside metadata.name and metadata.namespace. */
  readonly fields: readonly string[];
}

const podFields = [
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'spec.hostNetwork',
  'status.phase',
  'status.podIP',
  'status.podIPs',
  'status.nominatedNodeName',
];
const eventFields = [
  'involvedObject.kind',
  'involvedObject.namespace',
  'involvedObject.name',
  'involvedObject.uid',
  'involvedObject.apiVersion',
  'involvedObject.resourceVersion',
  'involvedObject.fieldPath',
  'reason',
  'reportingComponent',
  'source',
  'type',
];

export const servedKinds: readonly Kind[] = [
  kindIn('', 'pods', 'Pod', { shortNames: ['po'], fields: podFields }),
  kindIn('', 'services', 'Service', { shortNames: ['svc'], fields: ['spec.clusterIP', 'spec.type'] }),
  kindIn('', 'events', 'Event', { shortNames: ['ev'], fields: eventFields }),
  kindIn('', 'nodes', 'Node', { shortNames: ['no'], fields: ['spec.unschedulable'], namespaced: false }),
  kindIn('', 'configmaps', 'ConfigMap', { shortNames: ['cm'] }),
  kindIn('', 'resourcequotas', 'ResourceQuota', { shortNames: ['quota'] }),
  kindIn('', 'namespaces', 'Namespace', { shortNames: ['ns'], fields: ['status.phase'], namespaced: false }),
  kindIn('apps', 'deployments', 'Deployment', { shortNames: ['deploy'] }),
  kindIn('apps', 'replicasets', 'ReplicaSet', { shortNames: ['rs'] }),
  kindIn('apps', 'statefulsets', 'StatefulSet', { shortNames: ['sts'] }),
  kindIn('apps', 'daemonsets', 'DaemonSet', { shortNames: ['ds'] }),
  kindIn('apps', 'controllerrevisions', 'ControllerRevision'),
  kindIn('batch', 'jobs', 'Job', { fields: ['status.successful'] }),
  kindIn('coordination.k8s.io', 'leases', 'Lease'),
  kindIn('discovery.k8s.io', 'endpointslices', 'EndpointSlice'),
  kindIn('policy', 'poddisruptionbudgets', 'PodDisruptionBudget', { shortNames: ['pdb'] }),
];

/** The kind with this plural; `group` only if the path names one. */
export const kindOf = (plural: string, group?: string): Kind | undefined =>
  servedKinds.find((kind) => kind.plural === plural && (group === undefined || kind.group === group));

/** `v1`, `apps/v1`. */
export const groupVersion = (group: string): string => (group === '' ? 'v1' : `${group}/v1`);

function kindIn(group: string, plural: string, kind: string, more: Partial<Kind> = {}): Kind {
  return { group, plural, kind, namespaced: true, shortNames: [], fields: [], ...more };
}
