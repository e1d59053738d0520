/** Reasons not to delete or trace a pod, checked before any DELETE is sent. */
import { asArray, asObject, asText, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { getObject } from '../../kube/get.ts';
import { refusalOf, refusedPods, replacedPod } from '../../kube/refused.ts';
import { acceptMetadata, collectionPath, podPath } from '../../kube/resource-path.ts';
import { notKubernetes } from '../../kube/server-errors.ts';
import { PodexitError } from '../../errors.ts';
import type { FoundPod } from '../group/group.ts';

/** A mirror pod's DELETE stops nothing (SIGNALS.md trap 30). Throws `pod.mirror`. */
export function refuseMirror(pod: JsonObject): void {
  const { name, namespace, annotations } = metadataOf(pod);
  if (!('kubernetes.io/config.mirror' in asObject(annotations))) return;
  const node = asObject(pod['spec'])['nodeName'];
  throw new PodexitError(
    'pod.mirror',
    `pod "${String(name)}" in namespace "${String(namespace)}" is the mirror of a static pod: deleting it stops nothing`,
    `Remove its manifest on node ${String(node)} instead, and trace that with --attach.`,
  );
}

/** The uid precondition protects the pod's successor from the DELETE. Throws `server.not-kubernetes`. */
export function uidToDelete(cluster: Cluster, pod: JsonObject): string {
  const { uid } = metadataOf(pod);
  if (typeof uid !== 'string' || uid === '') throw notKubernetes(cluster);
  return uid;
}

/** Reads the pod to delete, as it is now. Throws if it must not be deleted, for example `pod.replaced`. */
export async function readToDelete(cluster: Cluster, found: FoundPod): Promise<{ pod: JsonObject; uid: string }> {
  const pod = await readPod(cluster, found.name);
  const uid = uidToDelete(cluster, pod);
  assertSame(cluster, found, uid);
  refuseMirror(pod);
  return { pod, uid };
}

/** Throws `pod.not-found`, `namespace.not-found`, and what refusedPods returns. */
export async function readPod(cluster: Cluster, name: string): Promise<JsonObject> {
  const { namespace } = cluster;
  const answer = await getObject(cluster, podPath(namespace, name));
  if (answer.status === 404) throw await noSuchPod(cluster, name);
  if (answer.status !== 200) throw refusedPods(cluster, { namespace, name }, refusalOf(cluster, answer));
  return asObject(answer.body);
}

/** A 404 means that the pod or the namespace does not exist; the server's answer is the same for both. */
export async function noSuchPod(cluster: Cluster, name: string): Promise<PodexitError> {
  const { namespace } = cluster;
  const answer = await getObject(cluster, `/api/v1/namespaces/${encodeURIComponent(namespace)}`).catch(() => undefined);
  if (answer?.status === 404)
    return new PodexitError(
      'namespace.not-found',
      `namespace "${namespace}" does not exist`,
      `List them with: kubectl get namespaces${cluster.connectionFlags}`,
    );
  return new PodexitError(
    'pod.not-found',
    `there is no pod "${name}" in namespace "${namespace}"`,
    `${await podsNamedLike(cluster, name)}List them with: kubectl get pods -n ${namespace}${cluster.connectionFlags}`,
  );
}

/** A name is often typed without its hash. No pod is deleted by a part of its name: it could be another one tomorrow. */
async function podsNamedLike(cluster: Cluster, start: string): Promise<string> {
  const asked = { query: { limit: '500' }, accept: acceptMetadata('PartialObjectMetadataList') };
  const answer = await getObject(cluster, collectionPath(cluster.namespace, 'pods'), asked).catch(() => undefined);
  const names = asArray(asObject(answer?.body)['items']).map((pod) => asText(metadataOf(pod)['name']));
  const found = names.filter((name) => name.startsWith(start));
  if (found.length === 0) return '';
  const more = found.length > 2 ? ` and ${found.length - 2} more` : '';
  return `Its beginning fits ${found.slice(0, 2).join(', ')}${more}: name one of them, or their workload as TYPE/NAME. `;
}

/** Throws PodexitError `pod.replaced` if the name now belongs to another pod than the one found. */
export function assertSame({ namespace }: Cluster, { uid, name }: FoundPod, seen: unknown): void {
  if (uid !== undefined && seen !== uid) throw replacedPod(namespace, name);
}
