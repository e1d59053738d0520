/** One right, in the words of a Role. */
export interface Wanted {
  verb: string;
  resource: string;
  group: string;
}

export interface Rule {
  /** Empty for the core group. */
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Everything that a trace can use in the pod's namespace; all but the pods themselves is optional. */
export const needed: readonly Rule[] = [
  { group: '', resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
  { group: '', resources: ['pods/log'], verbs: ['get'] },
  { group: '', resources: ['pods/eviction'], verbs: ['create'] },
  { group: '', resources: ['services', 'events'], verbs: ['get', 'list', 'watch'] },
  { group: 'discovery.k8s.io', resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
  {
    group: 'apps',
    resources: ['replicasets', 'deployments', 'statefulsets', 'daemonsets'],
    verbs: ['get', 'list', 'watch'],
  },
  { group: 'batch', resources: ['jobs', 'cronjobs'], verbs: ['get', 'list', 'watch'] },
  { group: 'policy', resources: ['poddisruptionbudgets'], verbs: ['get', 'list'] },
];

/** What only a ClusterRole can grant: the node, its Events and its Lease, and the namespace. All of it is optional. */
export const neededInCluster: readonly Rule[] = [
  { group: '', resources: ['nodes', 'events'], verbs: ['get', 'list', 'watch'] },
  { group: '', resources: ['namespaces'], verbs: ['get'] },
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: ['get', 'list', 'watch'] },
];

/**
 * A Role, ready for `kubectl apply -f -`, that grants what a trace needs in this namespace and also what was missing.
 * Who gets it is for the cluster's administrator to say, in a RoleBinding.
 */
export function roleFor(namespace: string, ...missing: Wanted[]): string {
  const rules = [...needed, ...missing.filter((one) => !isGranted(one)).map(asRule)];
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    'kind: Role',
    'metadata:',
    '  name: podexit',
    `  namespace: ${quoted(namespace)}`,
    ...printed(rules),
    '',
  ].join('\n');
}

/** The optional rest, for the whole cluster. */
export const clusterRole = (): string =>
  [
    'apiVersion: rbac.authorization.k8s.io/v1',
    'kind: ClusterRole',
    'metadata:',
    '  name: podexit',
    ...printed(neededInCluster),
    '',
  ].join('\n');

const printed = (rules: readonly Rule[]): string[] => [
  'rules:',
  ...rules.flatMap((rule) => [
    `  - apiGroups: ${list([rule.group])}`,
    `    resources: ${list(rule.resources)}`,
    `    verbs: ${list(rule.verbs)}`,
  ]),
];

function isGranted({ group, resource, verb }: Wanted): boolean {
  return needed.some((rule) => rule.group === group && rule.resources.includes(resource) && rule.verbs.includes(verb));
}

function asRule({ group, resource, verb }: Wanted) {
  return { group, resources: [resource], verbs: [verb] };
}

function list(words: readonly string[]): string {
  return `[${words.map(quoted).join(', ')}]`;
}

/** JSON strings are YAML strings, and a namespace may look like a number. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
