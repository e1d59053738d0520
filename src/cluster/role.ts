import type { Wanted } from './refused.ts';

/** Everything that a trace can use in the pod's namespace; `pods/log` and all but pods are optional lanes. */
export const needed: readonly { group: string; resources: readonly string[]; verbs: readonly string[] }[] = [
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
];

/**
 * A Role, ready for `kubectl apply -f -`, that grants what a trace needs in this namespace and also what was missing.
 * Who gets it is for the cluster's administrator to say, in a RoleBinding.
 */
export function roleFor(namespace: string, missing?: Wanted): string {
  const rules = missing === undefined || isGranted(missing) ? needed : [...needed, asRule(missing)];
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    'kind: Role',
    'metadata:',
    '  name: podexit',
    `  namespace: ${quoted(namespace)}`,
    'rules:',
    ...rules.flatMap((rule) => [
      `  - apiGroups: ${list([rule.group])}`,
      `    resources: ${list(rule.resources)}`,
      `    verbs: ${list(rule.verbs)}`,
    ]),
    '',
  ].join('\n');
}

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
