/** The objects of tries in a cluster: permissions, creation, and removal, which goes on until nothing is left. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { PodexitError } from '../errors.ts';
import type { Cluster } from '../kube/cluster.ts';
import { delay } from '../kube/env.ts';
import { getObject, requestWithRetries } from '../kube/get.ts';
import { TransportFailure } from '../kube/http/failure.ts';
import { listOnce } from '../kube/list.ts';
import { refusalOf } from '../kube/refused.ts';
import { roleFor, type Permission } from '../kube/role.ts';
import { asObject, asString, metadataOf, type JsonObject } from '../model/observe/read.ts';
import { printLabels } from '../run/streams/selectors.ts';
import { few } from '../verdict/words.ts';
import { tryIdOf, tryLabel } from './copies.ts';

/** What a try makes, and what the Deployments make of it. */
const kinds = [
  { kind: 'Deployment', root: '/apis/apps/v1', resource: 'deployments' },
  { kind: 'Service', root: '/api/v1', resource: 'services' },
  { kind: 'ConfigMap', root: '/api/v1', resource: 'configmaps' },
  { kind: 'Pod', root: '/api/v1', resource: 'pods' },
] as const;

const permissions: readonly Permission[] = [
  ...kinds.flatMap(({ kind, root, resource }) =>
    ['get', 'list', 'delete', kind === 'Pod' ? 'watch' : 'create'].map((verb) => ({
      verb,
      resource,
      group: root === '/api/v1' ? '' : 'apps',
    })),
  ),
  { verb: 'get', resource: 'services/proxy', group: '' },
];

/** Throws `try.forbidden` with a Role that grants what is missing. Creates nothing that lasts. */
export async function assertPermitted(cluster: Cluster): Promise<void> {
  const answers = await Promise.all(permissions.map((one) => isPermitted(cluster, one)));
  const missing = permissions.filter((_, at) => answers[at] === false);
  if (missing.length === 0) return;
  const names = missing.map(({ verb, resource }) => `${verb} ${resource}`);
  throw new PodexitError(
    'try.forbidden',
    `you may not ${few(names, 6).join(', ')} in namespace "${cluster.namespace}", which a try needs`,
    `Nothing was created. Ask for a RoleBinding to this Role:\n${roleFor(cluster.namespace, ...missing)}`,
  );
}

/** Undefined if the server does not answer the question: then the request itself shows it. */
async function isPermitted({ request, namespace }: Cluster, permission: Permission): Promise<boolean | undefined> {
  const [resource, subresource] = permission.resource.split('/');
  const { verb, group } = permission;
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { namespace, verb, group, resource, subresource } },
  };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const answer = await request({ method: 'POST', path, body }).catch(unlessFailed);
  const { allowed } = asObject(asObject(answer?.body)['status']);
  return typeof allowed === 'boolean' ? allowed : undefined;
}

/** A failed connection counts as no answer; throws every other error. */
function unlessFailed(error: unknown): undefined {
  if (error instanceof TransportFailure) return undefined;
  throw error;
}

/**
 * Creates an object, and returns it as the server has it. Its name is new: if it is taken, the answer to an earlier
 * request was lost, and the object is read. Throws `try.not-created` if the server refuses.
 */
export async function create(cluster: Cluster, object: KubernetesObject): Promise<KubernetesObject> {
  const path = pathOf(cluster, object.kind);
  const name = object.metadata?.name ?? '';
  const posted = await requestWithRetries(cluster, { method: 'POST', path, body: object });
  if (posted.status < 300) return asObject(posted.body);
  const found = posted.status === 409 ? await getObject(cluster, `${path}/${encodeURIComponent(name)}`) : posted;
  if (found.status < 300) return asObject(found.body);
  throw new PodexitError(
    'try.not-created',
    `${object.kind} ${name} could not be created (${posted.status}: ${refusalOf(cluster, posted).message})`,
    'What was created until then is removed again.',
  );
}

function pathOf({ namespace }: Cluster, kind = '', name?: string): string {
  const { root = '', resource = '' } = kinds.find((one) => one.kind === kind) ?? {};
  const path = `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
  return name === undefined ? path : `${path}/${encodeURIComponent(name)}`;
}

/** The ConfigMaps of tries that were not removed: they were killed, or still run elsewhere. */
export const ownersLeft = (cluster: Cluster): Promise<JsonObject[]> => labelled(cluster, 'ConfigMap', tryLabel);

/** The pods of one copy. */
export const podsOf = (cluster: Cluster, labels: Readonly<Record<string, string>>): Promise<JsonObject[]> =>
  labelled(cluster, 'Pod', printLabels({ matchLabels: { ...labels } }));

/** Throws what listOnce throws, and `try.unread` if the server refuses. */
async function labelled(cluster: Cluster, kind: string, labelSelector: string): Promise<JsonObject[]> {
  const target = { stream: 'owner', path: pathOf(cluster, kind), labelSelector } as const;
  const result = await listOnce(cluster, target, { signal: cluster.closed });
  if (result.kind === 'listed') return result.objects.map((one) => ({ ...asObject(one), kind }));
  throw new PodexitError(
    'try.unread',
    `${kind}s in namespace "${cluster.namespace}" cannot be listed (${result.refusal.status}): ${cluster.clean(result.refusal.message)}`,
    'See what is left with: kubectl get deployments,services,configmaps,pods -l podexit/try',
  );
}

/** ms between two looks at what is left. */
const lookMs = 500;

/**
 * Deletes everything of these tries, and waits until their pods are gone too, for at most `patienceMs`. A lost
 * connection is retried. Throws `try.left` with what is left.
 */
export async function remove(cluster: Cluster, ids: readonly string[], patienceMs: number): Promise<void> {
  const { env } = cluster;
  const until = env.now() + patienceMs;
  const selector = `${tryLabel} in (${ids.join(',')})`;
  for (let left: string[] | undefined; ;) {
    left = await removeOnce(cluster, selector).catch((error: unknown) => {
      if (error instanceof PodexitError || error instanceof TransportFailure) return left;
      throw error;
    });
    if (left?.length === 0) return;
    if (env.now() >= until || !(await delay(env, lookMs, cluster.closed))) throw notRemoved(cluster, left);
  }
}

/**
 * Asks for the deletion of what is still there, and returns its names. The owner is last: as long as it exists, a later
 * start finds what is left.
 */
async function removeOnce(cluster: Cluster, selector: string): Promise<string[]> {
  const left: JsonObject[] = [];
  for (const kind of ['Deployment', 'Service']) left.push(...(await labelled(cluster, kind, selector)));
  // The garbage collector deletes the pods of a Deployment that is gone.
  left.push(...(await labelled(cluster, 'Pod', selector)));
  if (left.length === 0) left.push(...(await labelled(cluster, 'ConfigMap', selector)));
  for (const object of left) if (object['kind'] !== 'Pod') await deleteObject(cluster, object);
  return left.map(nameOf);
}

const nameOf = (object: JsonObject): string =>
  `${(asString(object['kind']) ?? '').toLowerCase()}/${asString(metadataOf(object)['name'])}`;

/** Only this very object: a later one of the same name has another uid. A refusal is seen at the next look. */
async function deleteObject(cluster: Cluster, object: JsonObject): Promise<void> {
  const { name, uid, deletionTimestamp } = metadataOf(object);
  if (deletionTimestamp !== undefined) return;
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
  const body = { ...options, propagationPolicy: 'Background' };
  const path = pathOf(cluster, asString(object['kind']), asString(name));
  await cluster.request({ method: 'DELETE', path, body }).catch(unlessFailed);
}

/** Removes what a try left. */
export const cleanupCommand = ({ namespace, connectionFlags }: Cluster): string =>
  `kubectl podexit try --cleanup -n ${namespace}${connectionFlags}`;

const notRemoved = (cluster: Cluster, left: readonly string[] | undefined): PodexitError =>
  new PodexitError(
    'try.left',
    left === undefined
      ? 'the API server could not be reached, so the copies were not removed'
      : `not everything could be removed in time: ${few(left, 8).join(', ')}`,
    `Remove it with: ${cleanupCommand(cluster)}`,
  );

/** One sentence about each try that is left: whose copies they are, and since when. */
export const leftText = (owner: JsonObject): string => {
  const { workload, startedAt } = asObject(owner['data']);
  return `${asString(workload) ?? 'an unknown workload'} (id ${tryIdOf(owner)}, started ${asString(startedAt) ?? 'at an unknown time'})`;
};

/** The workload whose copies an owner has. */
export const workloadOf = (owner: JsonObject): string => asString(asObject(owner['data'])['workload']) ?? '';
