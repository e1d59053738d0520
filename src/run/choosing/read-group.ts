/** Reads what a target means: how the pods of its group are watched, and which of the watched pods belong to it. */
import { asObject, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { getObject } from '../../kube/get.ts';
import { PodexitError } from '../../errors.ts';
import { refusalOf } from '../../kube/refused.ts';
import { notKubernetes } from '../../kube/server-errors.ts';
import { unlessAborted, unlessInterrupted } from '../ending/leaving.ts';
import { readPod, uidToDelete } from './pod-checks.ts';
import type { Group } from '../group/group.ts';
import { printFields } from '../streams/selectors.ts';
import type { Session } from '../session.ts';
import {
  targetText,
  targetUnread,
  workloadKinds,
  workloadPath,
  type NodeTarget,
  type SeveralTarget,
} from './target.ts';
import {
  controllerUid,
  deploymentOf,
  nameOf,
  podsTarget,
  serviceSelectorOf,
  siblingTarget,
  uidOf,
  type Watched,
} from '../streams/watched.ts';

interface ReadOptions {
  /** Skip named pods that do not exist. */
  readonly ignoreNotFound: boolean;
  /** One sentence for stderr. */
  warn(message: string): void;
}

/**
 * Throws `target.not-found`, `target.unreadable`, `target.no-selector`, and what readPod throws; `target.unread` at
 * --timeout, and `run.left` on a signal.
 */
export async function readGroup(
  { cluster, deadline, ports }: Session,
  target: SeveralTarget,
  reading: ReadOptions,
): Promise<Group> {
  const late = (): PodexitError => targetUnread(cluster, targetText(target));
  const read = () => groupOf(cluster, target, reading);
  return unlessInterrupted(ports, () => unlessAborted(deadline.signal, read, late));
}

async function groupOf(cluster: Cluster, target: SeveralTarget, reading: ReadOptions): Promise<Group> {
  if (target.kind === 'pods') return groupOfPods(cluster, target, reading);
  if (target.kind === 'node') return groupOfNode(cluster, target, reading);
  const { namespace } = cluster;
  const group = { isOne: false, target: targetText(target), namespace, owns: () => true };
  if (target.kind === 'selector') return { ...group, pods: podsTarget(namespace, target) };
  const object = await readWorkload(cluster, target, 'Name the pod itself, which needs no more rights than on pods.');
  const pods = podsOfWorkload(namespace, target, object);
  if (!pods)
    throw new PodexitError(
      'target.no-selector',
      `${group.target} in namespace "${namespace}" selects no pods`,
      'Name the pod itself.',
    );
  if (target.resource === 'services') return { ...group, pods };
  const uid = uidOf(object);
  const owns = (pod: JsonObject): boolean =>
    target.resource === 'deployments' ? deploymentOf(pod) === target.name : controllerUid(pod) === uid;
  return { ...group, pods, owns, owner: { kind: workloadKinds[target.resource].kind, name: target.name } };
}

type Named = Extract<SeveralTarget, { kind: 'workload' }>;

export async function readWorkload(cluster: Cluster, target: Named, hint: string): Promise<JsonObject> {
  const { namespace } = cluster;
  const answer = await getObject(cluster, workloadPath(namespace, target.resource, target.name));
  if (answer.status === 200 && answer.body === undefined) throw notKubernetes(cluster);
  if (answer.status === 200) return asObject(answer.body);
  const kind = workloadKinds[target.resource].kind.toLowerCase();
  if (answer.status === 404)
    throw new PodexitError(
      'target.not-found',
      `there is no ${kind} "${target.name}" in namespace "${namespace}"`,
      `List them with: kubectl get ${target.resource} -n ${namespace}${cluster.connectionFlags}`,
    );
  const why = cluster.clean(refusalOf(cluster, answer).message);
  throw new PodexitError(
    'target.unreadable',
    `${kind} "${target.name}" in namespace "${namespace}" cannot be read: ${why}`,
    hint,
  );
}

function podsOfWorkload(namespace: string, { resource }: Named, object: JsonObject): Watched | undefined {
  if (resource !== 'services') return siblingTarget(namespace, object);
  const matchLabels = serviceSelectorOf(object);
  return matchLabels && podsTarget(namespace, { labelSelector: { matchLabels } });
}

/** Reads each pod first: an unknown name ends the run before anything is deleted. */
async function groupOfPods(
  cluster: Cluster,
  target: Extract<SeveralTarget, { kind: 'pods' }>,
  { ignoreNotFound }: ReadOptions,
): Promise<Group> {
  const found = await Promise.all(
    target.names.map((name) =>
      readPod(cluster, name).catch((error: unknown) => {
        if (ignoreNotFound && error instanceof PodexitError && error.code === 'pod.not-found') return undefined;
        throw error;
      }),
    ),
  );
  const pods = found.filter((pod) => pod !== undefined);
  const named = pods.map((pod) => ({ name: nameOf(pod), uid: uidToDelete(cluster, pod) }));
  const uids = new Set(named.map(({ uid }) => uid));
  const controllers = new Set(pods.map(controllerUid));
  const { namespace } = cluster;
  return {
    isOne: false,
    target: targetText(target),
    namespace,
    pods: podsTarget(namespace, { labels: sharedLabels(pods) }),
    // Includes pods of the same controllers: they may be replacements.
    owns: (pod) => uids.has(uidOf(pod)) || controllers.has(controllerUid(pod) ?? ''),
    named,
  };
}

/** Labels that differ between a pod and its replacement. */
const ownLabels = /pod-template-hash|controller-revision-hash|pod-index|pod-name|controller-uid|batch\.kubernetes\.io/;

/** A selector of the labels that all the pods share: it limits the watch to them and their replacements. */
function sharedLabels([first, ...others]: readonly JsonObject[]): string {
  const labelsOf = (pod: JsonObject): JsonObject => asObject(metadataOf(pod)['labels']);
  return Object.entries(first ? labelsOf(first) : {})
    .filter(([key, value]) => !ownLabels.test(key) && others.every((pod) => labelsOf(pod)[key] === value))
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');
}

/** The pods of a node in all namespaces; only in the connection's namespace if others may not be listed. */
async function groupOfNode(cluster: Cluster, target: NodeTarget, { warn }: ReadOptions): Promise<Group> {
  const { name, labels, fields } = target;
  const node = await getObject(cluster, `/api/v1/nodes/${encodeURIComponent(name)}`);
  if (node.status === 404)
    throw new PodexitError(
      'target.not-found',
      `there is no node "${name}"`,
      `List them with: kubectl get nodes${cluster.connectionFlags}`,
    );
  const fieldSelector = { 'spec.nodeName': name };
  const query = { limit: '1', fieldSelector: printFields(fieldSelector) };
  const all = await getObject(cluster, '/api/v1/pods', { query });
  const namespace = all.status === 403 ? cluster.namespace : '';
  if (namespace !== '') warn(`pods of other namespaces may not be listed: only those in "${namespace}" are followed`);
  const pods = podsTarget(namespace, { fieldSelector, labels, fields });
  return { isOne: false, target: targetText(target), namespace, pods, owns: () => true };
}
