/** One kind of object that this server knows: its path in the API and its selectable fields. */
export interface Kind {
  readonly group: string;
  readonly version: string;
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

export const kinds: readonly Kind[] = [
  core('pods', 'Pod', { shortNames: ['po'], fields: podFields }),
  core('services', 'Service', { shortNames: ['svc'], fields: ['spec.clusterIP', 'spec.type'] }),
  core('events', 'Event', { shortNames: ['ev'], fields: eventFields }),
  core('nodes', 'Node', { shortNames: ['no'], fields: ['spec.unschedulable'], namespaced: false }),
  core('namespaces', 'Namespace', { shortNames: ['ns'], fields: ['status.phase'], namespaced: false }),
  grouped('apps', 'deployments', 'Deployment', ['deploy']),
  grouped('apps', 'replicasets', 'ReplicaSet', ['rs']),
  grouped('apps', 'statefulsets', 'StatefulSet', ['sts']),
  grouped('apps', 'daemonsets', 'DaemonSet', ['ds']),
  grouped('apps', 'controllerrevisions', 'ControllerRevision', []),
  { ...grouped('batch', 'jobs', 'Job', []), fields: ['status.successful'] },
  grouped('coordination.k8s.io', 'leases', 'Lease', []),
  grouped('discovery.k8s.io', 'endpointslices', 'EndpointSlice', []),
  grouped('policy', 'poddisruptionbudgets', 'PodDisruptionBudget', ['pdb']),
];

/** The kind with this plural; `group` only if the path names one. */
export const kindOf = (plural: string, group?: string): Kind | undefined =>
  kinds.find((kind) => kind.plural === plural && (group === undefined || kind.group === group));

/** `v1`, `apps/v1`. */
export const groupVersion = (kind: Pick<Kind, 'group' | 'version'>): string =>
  kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;

function core(plural: string, kind: string, more: Partial<Kind>): Kind {
  return { group: '', version: 'v1', plural, kind, namespaced: true, shortNames: [], fields: [], ...more };
}

function grouped(group: string, plural: string, kind: string, shortNames: string[]): Kind {
  return { group, version: 'v1', plural, kind, namespaced: true, shortNames, fields: [] };
}
