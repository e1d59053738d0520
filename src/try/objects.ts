/** The objects of tries in a cluster: permissions, creation, and removal, which goes on until nothing is left. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { PodexitError } from '../errors.ts';
import type { Cluster } from '../kube/cluster.ts';
import { delay } from '../kube/env.ts';
import { getObject, requestWithRetries, listObjects } from '../kube/get.ts';
import { TransportFailure } from '../kube/http/failure.ts';
import { refusalOf, roleFor, type Permission } from '../kube/refused.ts';
import { asObject, asString, metadataOf, type JsonObject } from '../model/observe/read.ts';
import { few } from '../verdict/words.ts';
import { tryIdOf, tryLabel } from './copies.ts';

/** What a try makes, and what the Deployments make of it. */
const kinds = [
  { kind: 'Deployment', group: 'apps', root: '/apis/apps/v1', resource: 'deployments', verb: 'create' },
  { kind: 'Service', group: '', root: '/api/v1', resource: 'services', verb: 'create' },
  { kind: 'ConfigMap', group: '', root: '/api/v1', resource: 'configmaps', verb: 'create' },
  { kind: 'Pod', group: '', root: '/api/v1', resource: 'pods', verb: 'watch' },
] as const;

const permissions: readonly Permission[] = [
  ...kinds.flatMap(({ group, resource, verb: own }) =>
    ['get', 'list', 'delete', own].map((verb) => ({ verb, resource, group })),
  ),
  { verb: 'get', resource: 'services/proxy', group: '' },
];

/** Throws `try.forbidden` with a Role that grants what is missing. Creates nothing that lasts. */
export async function assertPermitted(cluster: Cluster): Promise<void> {
  const answers = await Promise.all(permissions.map((one) => mayBePermitted(cluster, one)));
  const missing = permissions.filter((_, at) => !answers[at]);
  if (missing.length === 0) return;
  const names = missing.map(({ verb, resource }) => `${verb} ${resource}`);
  throw new PodexitError(
    'try.forbidden',
    `you may not ${few(names, 6).join(', ')} in namespace "${cluster.namespace}", which a try needs`,
    `Nothing was created. Ask for a RoleBinding to this Role:\n${roleFor(cluster.namespace, ...missing)}`,
  );
}

/** Also true if the server does not answer the question: then the request itself shows it. */
async function mayBePermitted(cluster: Cluster, { verb, group, resource: whole }: Permission): Promise<boolean> {
  const [resource, subresource] = whole.split('/');
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { namespace: cluster.namespace, verb, group, resource, subresource } },
  };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const answer = await requestWithRetries(cluster, { method: 'POST', path, body });
  return asObject(asObject(answer.body)['status'])['allowed'] !== false;
}

/** Its name is new: if it is taken, an earlier answer was lost, and it is read. Throws `try.not-created`. */
export async function create(cluster: Cluster, object: KubernetesObject): Promise<KubernetesObject> {
  const path = pathOf(cluster, object.kind);
  const name = object.metadata?.name ?? '';
  const posted = await requestWithRetries(cluster, { method: 'POST', path, body: object });
  const made = posted.status === 409 ? await getObject(cluster, `${path}/${encodeURIComponent(name)}`) : posted;
  if (made.status < 300) return asObject(made.body);
  throw new PodexitError(
    'try.not-created',
    `${object.kind} ${name} could not be created (${made.status}: ${refusalOf(cluster, made).message})`,
    'What was created until then is removed again.',
  );
}

function pathOf({ namespace }: Cluster, kind: unknown): string {
  const { root = '', resource = '' } = kinds.find((one) => one.kind === kind) ?? {};
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
}

/** The ConfigMaps of tries that were not removed: they were killed, or still run elsewhere. */
export const ownersLeft = (cluster: Cluster): Promise<JsonObject[]> => labelled(cluster, 'ConfigMap', tryLabel);

/** Throws what listObjects throws, and `try.unread` if the server refuses. */
export async function labelled(cluster: Cluster, kind: string, labelSelector: string): Promise<JsonObject[]> {
  const target = { stream: 'owner', path: pathOf(cluster, kind), labelSelector } as const;
  const result = await listObjects(cluster, target, { signal: cluster.closed, retry: true });
  if (result.kind === 'listed') return result.objects.map((one) => ({ ...asObject(one), kind }));
  throw new PodexitError(
    'try.unread',
    `${kind}s in namespace "${cluster.namespace}" cannot be listed (${result.refusal.status}): ${cluster.clean(result.refusal.message)}`,
    'See what is left with: kubectl get deployments,services,configmaps,pods -l podexit/try',
  );
}

/** Also waits until the pods are gone, for `patienceMs` at most. A lost connection is retried. Throws `try.left`. */
export async function remove(cluster: Cluster, ids: readonly string[], patienceMs = 180_000): Promise<void> {
  const { env } = cluster;
  const until = env.now() + patienceMs;
  for (let left: string[] | undefined; ;) {
    left = await removeOnce(cluster, `${tryLabel} in (${ids.join(',')})`).catch((error: unknown) => {
      if (error instanceof PodexitError || error instanceof TransportFailure) return left;
      throw error;
    });
    if (left?.length === 0) return;
    if (env.now() < until && (await delay(env, 500, cluster.closed))) continue;
    throw new PodexitError(
      'try.left',
      left === undefined
        ? 'the API server could not be reached, so the copies were not removed'
        : `not everything could be removed in time: ${few(left, 8).join(', ')}`,
      `Remove it with: ${cleanupCommand(cluster)}`,
    );
  }
}

/** Deletes what is still there, and names it. The owner is last: by it a later start finds what is left. */
async function removeOnce(cluster: Cluster, selector: string): Promise<string[]> {
  const left: JsonObject[] = [];
  // The garbage collector deletes the pods of a Deployment that is gone.
  for (const kind of ['Deployment', 'Service', 'Pod']) left.push(...(await labelled(cluster, kind, selector)));
  if (left.length === 0) left.push(...(await labelled(cluster, 'ConfigMap', selector)));
  for (const object of left) if (object['kind'] !== 'Pod') await deleteObject(cluster, object);
  return left.map((one) => `${asString(one['kind'])?.toLowerCase()}/${asString(metadataOf(one)['name'])}`);
}

/** Only this very object: a later one of the same name has another uid. */
async function deleteObject(cluster: Cluster, object: JsonObject): Promise<void> {
  const { name, uid, deletionTimestamp } = metadataOf(object);
  if (deletionTimestamp !== undefined) return;
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
  const path = `${pathOf(cluster, object['kind'])}/${encodeURIComponent(asString(name) ?? '')}`;
  await cluster.request({ method: 'DELETE', path, body: { ...options, propagationPolicy: 'Background' } });
}

export const cleanupCommand = ({ namespace, connectionFlags }: Cluster): string =>
  `kubectl podexit try --cleanup -n ${namespace}${connectionFlags}`;

/** One sentence about each try that is left: whose copies they are, and since when. */
export const leftText = (owner: JsonObject): string => {
  const { startedAt } = asObject(owner['data']);
  return `${workloadOf(owner) ?? 'an unknown workload'} (id ${tryIdOf(owner)}, started ${asString(startedAt) ?? 'at an unknown time'})`;
};

export const workloadOf = (owner: JsonObject): string | undefined => asString(asObject(owner['data'])['workload']);
