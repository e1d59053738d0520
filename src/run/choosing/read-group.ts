/** Reads what a target means: how the pods of its group are watched, and which of the watched pods belong to it. */
import { asObject, type JsonObject } from '../../model/observe/read.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { getObject } from '../../kube/get.ts';
import { PodexitError } from '../../errors.ts';
import { refusalOf } from '../../kube/refused.ts';
import { notKubernetes } from '../../kube/server-errors.ts';
import { readPod, uidToDelete } from './pod-checks.ts';
import type { Group } from '../group/group.ts';
import { printFields, printLabels } from '../streams/selectors.ts';
import { warnOn } from '../ports.ts';
import { readInTime, type Session } from '../session.ts';
import { targetText, workloadKinds, workloadPath, type NodeTarget, type SeveralTarget } from './target.ts';
import {
  controllerUid,
  deploymentOf,
  labelsOf,
  nameOf,
  podsTarget,
  serviceSelectorOf,
  siblingTarget,
  uidOf,
  type Watched,
} from '../streams/watched.ts';

/**
 * `ignoreNotFound`: skips named pods that do not exist. Throws `target.not-found`, `target.unreadable`,
 * `target.no-selector`, and what readPod throws; `target.unread` at --timeout, and `run.left` on a signal.
 */
export const readGroup = (session: Session, target: SeveralTarget, ignoreNotFound = false): Promise<Group> =>
  readInTime(session, targetText(target), () => groupOf(session, target, ignoreNotFound));

async function groupOf({ cluster, ports }: Session, target: SeveralTarget, ignoreNotFound: boolean): Promise<Group> {
  if (target.kind === 'pods') return groupOfPods(cluster, target, ignoreNotFound);
  if (target.kind === 'node') return groupOfNode(cluster, target, warnOn(ports));
  const { namespace } = cluster;
  const group = { isOne: false, target: targetText(target), namespace, owns: () => true };
  if (target.kind === 'selector')
    return { ...group, pods: podsTarget(namespace, { labelSelector: target.labels, fieldSelector: target.fields }) };
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
  return matchLabels && podsTarget(namespace, { labelSelector: printLabels({ matchLabels }) });
}

/** Reads each pod first: an unknown name ends the run before anything is deleted. */
async function groupOfPods(
  cluster: Cluster,
  target: Extract<SeveralTarget, { kind: 'pods' }>,
  ignoreNotFound: boolean,
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
    pods: podsTarget(namespace, { labelSelector: sharedLabels(pods) }),
    // Includes pods of the same controllers: they may be replacements.
    owns: (pod) => uids.has(uidOf(pod)) || controllers.has(controllerUid(pod) ?? ''),
    named,
  };
}

/** Labels that differ between a pod and its replacement. */
const ownLabels = /pod-template-hash|controller-revision-hash|pod-index|pod-name|controller-uid|batch\.kubernetes\.io/;

/** A selector of the labels that all the pods share: it limits the watch to them and their replacements. */
function sharedLabels([first, ...others]: readonly JsonObject[]): string {
  return Object.entries(labelsOf(first ?? {}))
    .filter(([key, value]) => !ownLabels.test(key) && others.every((pod) => labelsOf(pod)[key] === value))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/** The pods of a node in all namespaces; only in the connection's namespace if others may not be listed. */
async function groupOfNode(cluster: Cluster, target: NodeTarget, warn: (text: string) => void): Promise<Group> {
  const { name, labels, fields } = target;
  const ofNode = printFields({ 'spec.nodeName': name });
  const node = await getObject(cluster, `/api/v1/nodes/${encodeURIComponent(name)}`);
  if (node.status === 404)
    throw new PodexitError(
      'target.not-found',
      `there is no node "${name}"`,
      `List them with: kubectl get nodes${cluster.connectionFlags}`,
    );
  const all = await getObject(cluster, '/api/v1/pods', { query: { limit: '1', fieldSelector: ofNode } });
  const namespace = all.status === 403 ? cluster.namespace : '';
  if (namespace !== '') warn(`pods of other namespaces may not be listed: only those in "${namespace}" are followed`);
  const pods = podsTarget(namespace, { labelSelector: labels, fieldSelector: fields ? `${ofNode},${fields}` : ofNode });
  return { isOne: false, target: targetText(target), namespace, pods, owns: () => true };
}
