/** The pods behind a target: read from the cluster, and what is needed to choose one of them. */
import type { Cluster } from '../kube/cluster.ts';
import { getObject } from '../kube/get.ts';
import { listOnce } from '../kube/list.ts';
import { refusalOf, refusedPods } from '../kube/refused.ts';
import { notKubernetes } from '../kube/trouble.ts';
import { PodexitError } from '../errors.ts';
import type { Target } from './target.ts';
import { targetText, workloadKinds, workloadPath } from './target.ts';
import type { LabelSelector } from './selectors.ts';
import type { Raw } from './watched.ts';
import { printLabels } from './selectors.ts';
import { asRaw, controllerUid, metadataOf, ownerOf, siblingTarget, uidOf } from './watched.ts';

export interface Candidate {
  name: string;
  uid: string;
  node: string;
  ready: boolean;
  /** Already deleted by somebody. */
  terminating: boolean;
  /** Succeeded or Failed: nothing of it runs. */
  finished: boolean;
  /** ms since the epoch; NaN where the server did not say. */
  created: number;
}

/** How the pods of a target are selected, so that they can be listed and watched. */
export interface PodSelector {
  labels: string;
  fields: string;
  /** Whether a pod that matches really belongs to the target: labels may overlap, owners do not. */
  owns(pod: Raw): boolean;
}

/** Throws PodexitError `target.not-found`, `target.unreadable`, `target.no-selector`. */
export async function podSelector(cluster: Cluster, target: Exclude<Target, { kind: 'pod' }>): Promise<PodSelector> {
  if (target.kind === 'selector') return { labels: target.labels, fields: target.fields, owns: () => true };
  const object = await readWorkload(cluster, target);
  const labels = labelsOf(target, object);
  if (labels === undefined)
    throw new PodexitError(
      'target.no-selector',
      `${targetText(target)} in namespace "${cluster.namespace}" selects no pods`,
      'Name the pod itself.',
    );
  if (target.resource === 'services') return { labels, fields: '', owns: () => true };
  const uid = uidOf(object);
  const owns = (pod: Raw): boolean =>
    target.resource === 'deployments' ? deploymentOf(pod) === target.name : controllerUid(pod) === uid;
  return { labels, fields: '', owns };
}

/** Throws as refusedPods says, `server.not-kubernetes` and `server.unreachable`. */
export async function listCandidates(cluster: Cluster, selector: PodSelector): Promise<Candidate[]> {
  return (await listCandidatePods(cluster, selector)).map(candidateOf);
}

/** The same pods, whole. */
async function listCandidatePods(cluster: Cluster, { labels, fields, owns }: PodSelector): Promise<Raw[]> {
  const result = await listOnce(
    cluster,
    {
      stream: 'siblings',
      path: `/api/v1/namespaces/${encodeURIComponent(cluster.namespace)}/pods`,
      ...(labels === '' ? {} : { labelSelector: labels }),
      ...(fields === '' ? {} : { fieldSelector: fields }),
    },
    { signal: new AbortController().signal },
  );
  if (result.kind === 'listed') return result.objects.map(asRaw).filter(owns);
  if (result.outcome.kind === 'foreign') throw notKubernetes(cluster);
  throw refusedPods(cluster, cluster.namespace, result.refusal);
}

function candidateOf(pod: Raw): Candidate {
  const { name, uid, creationTimestamp, deletionTimestamp } = metadataOf(pod);
  const { phase, conditions } = asRaw(pod['status']);
  const node = asRaw(pod['spec'])['nodeName'];
  const ready = Array.isArray(conditions) ? conditions.map(asRaw).find((one) => one['type'] === 'Ready') : undefined;
  return {
    name: String(name),
    node: typeof node === 'string' ? node : '',
    ready: ready?.['status'] === 'True',
    terminating: deletionTimestamp !== undefined,
    finished: phase === 'Succeeded' || phase === 'Failed',
    uid: String(uid),
    created: Date.parse(String(creationTimestamp)),
  };
}

/** Throws as podSelector does. */
async function readWorkload(cluster: Cluster, target: Extract<Target, { kind: 'workload' }>): Promise<Raw> {
  const { namespace } = cluster;
  const answer = await getObject(cluster, workloadPath(namespace, target.resource, target.name));
  if (answer.status === 200 && answer.body === undefined) throw notKubernetes(cluster);
  if (answer.status === 200) return asRaw(answer.body);
  const kind = workloadKinds[target.resource].kind.toLowerCase();
  if (answer.status === 404)
    throw new PodexitError(
      'target.not-found',
      `there is no ${kind} "${target.name}" in namespace "${namespace}"`,
      `List them with: kubectl get ${target.resource} -n ${namespace}${cluster.reach}`,
    );
  throw unreadable(`${kind} "${target.name}"`, cluster, refusalOf(cluster, answer).message);
}

const unreadable = (what: string, cluster: Cluster, message: string): PodexitError =>
  new PodexitError(
    'target.unreadable',
    `${what} in namespace "${cluster.namespace}" cannot be read: ${cluster.clean(message)}`,
    'Name the pod itself, which needs no more rights than on pods.',
  );

function labelsOf(target: Extract<Target, { kind: 'workload' }>, object: Raw): string | undefined {
  if (target.resource !== 'services') {
    const selector = siblingTarget('', object)?.labelSelector;
    return selector && printLabels(selector);
  }
  const selector = asRaw(asRaw(object['spec'])['selector']) as NonNullable<LabelSelector['matchLabels']>;
  return Object.keys(selector).length === 0 ? undefined : printLabels({ matchLabels: selector });
}

/** A Deployment names its ReplicaSets after itself and the hash that it puts on their pods: no need to read them. */
export function deploymentOf(pod: Raw): string | undefined {
  const owner = ownerOf(pod);
  const hash = asRaw(metadataOf(pod)['labels'])['pod-template-hash'];
  const isItsOwn = owner?.kind === 'ReplicaSet' && typeof hash === 'string' && owner.name.endsWith(`-${hash}`);
  return isItsOwn ? owner.name.slice(0, -hash.length - 1) : undefined;
}
