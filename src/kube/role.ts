export interface Permission {
  verb: string;
  resource: string;
  group: string;
}

interface Rule {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const read = ['get', 'list', 'watch'] as const;

/** Every permission that a trace can use in the pod's namespace; all but those on pods are optional. */
export const namespaceRules: readonly Rule[] = [
  { group: '', resources: ['pods'], verbs: [...read, 'delete'] },
  { group: '', resources: ['pods/log'], verbs: ['get'] },
  { group: '', resources: ['pods/eviction'], verbs: ['create'] },
  { group: '', resources: ['services', 'events'], verbs: read },
  { group: 'discovery.k8s.io', resources: ['endpointslices'], verbs: read },
  { group: 'apps', resources: ['replicasets', 'deployments', 'statefulsets', 'daemonsets'], verbs: read },
  { group: 'batch', resources: ['jobs', 'cronjobs'], verbs: read },
  { group: 'policy', resources: ['poddisruptionbudgets'], verbs: ['get', 'list'] },
];

/** What only a ClusterRole can grant: the node, its Events and its Lease, and the namespace. All of it is optional. */
export const clusterRules: readonly Rule[] = [
  { group: '', resources: ['nodes', 'events'], verbs: read },
  { group: '', resources: ['namespaces'], verbs: ['get'] },
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: read },
];

/**
 * A Role, ready for `kubectl apply -f -`, with the permissions that a trace needs in this namespace, and also the
 * missing ones. The cluster's administrator decides in a RoleBinding who gets it.
 */
export function roleFor(namespace: string, ...missing: Permission[]): string {
  const isGranted = ({ group, resource, verb }: Permission): boolean =>
    namespaceRules.some(
      (rule) => rule.group === group && rule.resources.includes(resource) && rule.verbs.includes(verb),
    );
  const others = missing.filter((permission) => !isGranted(permission));
  const rules = others.map(({ group, resource, verb }) => ({ group, resources: [resource], verbs: [verb] }));
  return manifest([...namespaceRules, ...rules], namespace);
}

/** The same for a run that deletes nothing. */
export function readerRole(namespace: string): string {
  const rules = namespaceRules
    .map((rule) => ({ ...rule, verbs: read.filter((verb) => rule.verbs.includes(verb)) }))
    .filter(({ group, verbs }) => group !== 'policy' && verbs.length > 0);
  return manifest(rules, namespace);
}

/** A ClusterRole with the optional permissions for the whole cluster. */
export const clusterRole = (): string => manifest(clusterRules, '');

const manifest = (rules: readonly Rule[], namespace: string): string =>
  [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${namespace === '' ? 'ClusterRole' : 'Role'}`,
    'metadata:',
    '  name: podexit',
    ...(namespace === '' ? [] : [`  namespace: ${quoted(namespace)}`]),
    'rules:',
    ...rules.flatMap((rule) => [
      `  - apiGroups: ${list([rule.group])}`,
      `    resources: ${list(rule.resources)}`,
      `    verbs: ${list(rule.verbs)}`,
    ]),
    '',
  ].join('\n');

const list = (words: readonly string[]): string => `[${words.map(quoted).join(', ')}]`;

/** JSON strings are YAML strings. Always quoted, since a namespace may look like a number. */
const quoted = (text: string): string => JSON.stringify(text);
