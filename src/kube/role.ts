export interface Permission {
  verb: string;
  resource: string;
  group: string;
}

interface Rule {
  /** Empty for the core group. */
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Every permission that a trace can use in the pod's namespace; all but those on pods are optional. */
export const namespaceRules: readonly Rule[] = [
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
export const clusterRules: readonly Rule[] = [
  { group: '', resources: ['nodes', 'events'], verbs: ['get', 'list', 'watch'] },
  { group: '', resources: ['namespaces'], verbs: ['get'] },
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: ['get', 'list', 'watch'] },
];

/**
 * A Role, ready for `kubectl apply -f -`, with the permissions that a trace needs in this namespace, and also the
 * missing ones. The cluster's administrator decides in a RoleBinding who gets it.
 */
export function roleFor(namespace: string, ...missing: Permission[]): string {
  const others = missing.filter((permission) => !isGranted(permission));
  const rules = others.map(({ group, resource, verb }) => ({ group, resources: [resource], verbs: [verb] }));
  return manifest('Role', [...namespaceRules, ...rules], [`  namespace: ${quoted(namespace)}`]);
}

/** A ClusterRole with the optional permissions for the whole cluster. */
export const clusterRole = (): string => manifest('ClusterRole', clusterRules);

const manifest = (kind: string, rules: readonly Rule[], metadata: string[] = []): string =>
  [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${kind}`,
    'metadata:',
    '  name: podexit',
    ...metadata,
    'rules:',
    ...rules.flatMap((rule) => [
      `  - apiGroups: ${list([rule.group])}`,
      `    resources: ${list(rule.resources)}`,
      `    verbs: ${list(rule.verbs)}`,
    ]),
    '',
  ].join('\n');

function isGranted({ group, resource, verb }: Permission): boolean {
  return namespaceRules.some(
    (rule) => rule.group === group && rule.resources.includes(resource) && rule.verbs.includes(verb),
  );
}

function list(words: readonly string[]): string {
  return `[${words.map(quoted).join(', ')}]`;
}

/** JSON strings are YAML strings. Always quoted, since a namespace may look like a number. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
