import { PodexitError } from '../errors.ts';
import type { RawObservation, StreamName } from '../model/observation.ts';
import type { ApiResponse, Cluster } from './cluster.ts';
import { readPath } from './resource-path.ts';
import { readRefusal, type Refusal } from './status.ts';
import { unauthorized } from './server-errors.ts';

/** The raw observation for a stream that the server refuses. */
export function refusedBy(
  cluster: Cluster,
  { stream, path, container }: { stream: StreamName; path: string; container?: string },
  { refusal, verb }: { refusal?: Refusal; verb: string },
): RawObservation {
  const message = cluster.clean(refusal?.message ?? '');
  return {
    kind: 'refused',
    at: cluster.env.now(),
    stream,
    container,
    status: refusal?.status ?? 0,
    ...(readDenial(message) ?? { verb, ...readPath(path) }),
    message,
  };
}

/** The permission that RBAC denies; undefined if a webhook or a policy refused, since these name none. */
function readDenial(message: string): Permission | undefined {
  const [, verb, resource, group] = /cannot (\w+) resource "([^"]*)" in API group "([^"]*)"/.exec(message) ?? [];
  return verb === undefined || resource === undefined ? undefined : { verb, resource, group: group ?? '' };
}

/** The refusal in an unsuccessful answer, without the secrets of this connection. */
export function refusalOf(
  cluster: Pick<Cluster, 'clean'>,
  answer: Pick<ApiResponse, 'status' | 'body' | 'headers'>,
): Refusal {
  const refusal = readRefusal(answer.status, answer.body, answer.headers);
  return { ...refusal, message: cluster.clean(refusal.message) };
}

/** The error for pods that cannot be read, listed or watched. `name`: for one pod; an empty namespace: all of them. */
export function refusedPods(
  cluster: Pick<Cluster, 'server' | 'contextName' | 'clean'>,
  { namespace, name, onlyReads }: { namespace: string; name?: string; onlyReads?: boolean | undefined },
  refusal: Pick<Refusal, 'status' | 'message'>,
): PodexitError {
  const { status } = refusal;
  if (status === 401) return unauthorized(cluster);
  const message = cluster.clean(refusal.message);
  const denied = denialOf(refusal);
  if (denied) return forbidden('pod.forbidden', namespace, message, denied, onlyReads);
  const [code, what] = name === undefined ? ['pods.unreadable', 'the pods'] : ['pod.unreadable', `pod "${name}"`];
  const hints: Partial<Record<number, string>> = {
    400: 'Check the selector: -l and --field-selector take what they take in `kubectl get pods`.',
    404: "This is not a Kubernetes API server: check the cluster's address in the kubeconfig and any proxy in front of it.",
  };
  return new PodexitError(
    code,
    `${what} in namespace "${namespace}" cannot be read (${status}): ${message}`,
    (name === undefined && hints[status]) || persistsHint,
  );
}

const persistsHint = 'Try again; if the error persists, check the API server or the proxy in front of it.';

/** The permission that a 403 says is missing; undefined for a 403 of a proxy, which names none. */
const denialOf = ({ status, message }: Pick<Refusal, 'status' | 'message'>): Permission | undefined =>
  status === 403 ? readDenial(message) : undefined;

function forbidden(code: string, namespace: string, message: string, denied: Permission, onlyReads = false) {
  const [where, kind] = namespace === '' ? ['all namespaces', 'ClusterRole'] : [`namespace "${namespace}"`, 'Role'];
  return new PodexitError(
    code,
    `you may not ${denied.verb} ${denied.resource} in ${where}: ${message}`,
    `Ask for a ${kind}Binding to this ${kind}:\n${onlyReads ? readerRole(namespace) : roleFor(namespace, denied)}`,
  );
}

export const replacedPod = (namespace: string, name: string): PodexitError =>
  new PodexitError(
    'pod.replaced',
    `pod "${name}" in namespace "${namespace}" was replaced by another one of the same name; podexit did not delete the new pod`,
    'Run the command again to trace the new pod.',
  );

/** The error for a DELETE or an eviction that the server refuses. test/errors.ndjson has real refusals. */
export function refusedDelete(
  cluster: Pick<Cluster, 'server' | 'contextName' | 'clean'>,
  { namespace, name, evict }: { namespace: string; name: string; evict?: boolean },
  refusal: Refusal,
): PodexitError {
  const { status, isPage } = refusal;
  const message = cluster.clean(refusal.message);
  const pod = `pod "${name}" in namespace "${namespace}"`;
  const asked = evict ? 'eviction' : 'deletion';
  if (status === 401) return unauthorized(cluster);
  // A proxy's 404, or that of a server without the Eviction API, says nothing about the pod.
  if (status === 404 && !isPage && !/the requested resource/.test(message))
    return new PodexitError(
      'pod.gone',
      `${pod} was gone before its ${asked} was requested`,
      'Nothing is left to delete.',
    );
  if (isUidConflict(refusal)) return replacedPod(namespace, name);
  if (isRefusedByBudget(refusal) || isBudgetBehind(refusal)) return heldByBudget(cluster, pod, refusal);
  const denied = denialOf(refusal);
  if (denied !== undefined)
    return forbidden(evict ? 'evict.forbidden' : 'delete.forbidden', namespace, message, denied);
  if ((status === 403 && !isPage) || /denied the request|admission webhook|ValidatingAdmissionPolicy/.test(message)) {
    return new PodexitError(
      evict ? 'evict.denied' : 'delete.denied',
      `the ${asked} of ${pod} was denied by the cluster's admission: ${message}`,
      'Ask the owner of that policy. The pod is unchanged.',
    );
  }
  const isForTwo = message.includes('more than one PodDisruptionBudget');
  return new PodexitError(
    evict ? 'evict.failed' : 'delete.failed',
    `the ${asked} of ${pod} failed (${status}): ${message}`,
    `According to the server the pod is unchanged. ${isForTwo ? 'Let only one budget select it.' : persistsHint}`,
  );
}

/** A PodDisruptionBudget refused the eviction. Flow control answers 429 too, without this cause. */
export function isRefusedByBudget({ status, causes }: Refusal): boolean {
  return status === 429 && causes.some(({ reason }) => reason === 'DisruptionBudget');
}

/**
 * The uid precondition failed: another pod has this name now. The server finds this when it reads the pod (apiserver
 * registry/rest/delete.go `BeforeDelete`) or, if the pod was replaced after that, in the store (storage/interfaces.go
 * `Preconditions.Check`).
 */
export function isUidConflict({ status, message }: Refusal): boolean {
  return status === 409 && /UID in the precondition|Precondition failed: UID in precondition/.test(message);
}

/** A budget whose status is invalid: a 403 with one of these causes since 1.37 (kubernetes#138003), with this text before. */
const isBudgetBehind = ({ causes, message }: Refusal): boolean =>
  causes.some(({ reason }) => /^DisruptionBudget(NegativeAllowed|TooManyDisrupted)/.test(reason)) ||
  /pdb disruptions allowed is negative|DisruptedPods map too big/.test(message);

function heldByBudget({ clean }: Pick<Cluster, 'clean'>, pod: string, refusal: Refusal): PodexitError {
  const cause = refusal.causes.find(({ reason }) => reason === 'DisruptionBudget')?.message ?? refusal.message;
  return new PodexitError(
    'evict.disruption-budget',
    `${pod} may not be evicted now: ${clean(cause)}`,
    isBudgetBehind(refusal)
      ? 'Its PodDisruptionBudget is out of date: look at kube-controller-manager, then try again.'
      : 'Wait until more of its siblings are healthy, or delete it without --evict, which respects no budget.',
  );
}

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
function readerRole(namespace: string): string {
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
