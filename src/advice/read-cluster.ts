/** What `check` reads from a cluster, each once: whole pods and workloads, and the objects around them. */
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { PodexitError } from '../errors.ts';
import type { Cluster } from '../kube/cluster.ts';
import { getObject, listObjects } from '../kube/get.ts';
import { narrowSlice } from '../model/kube.ts';
import { asObject, metadataOf } from '../model/observe/read.ts';
import { readPod, refuseMirror, uidToDelete } from '../run/choosing/pod-checks.ts';
import { readWorkload } from '../run/choosing/read-group.ts';
import { workloadKinds, type WorkloadResource } from '../run/choosing/target.ts';
import kinds from './data/kinds.json' with { type: 'json' };
import { neighboursIn, type Neighbours } from './neighbours.ts';

/** The objects around the pods of the namespace; `unread` lists what was refused. */
export async function readNamespace(cluster: Cluster): Promise<Neighbours> {
  const { objects, unread: refused } = await listKinds(cluster, kinds.neighbours);
  const { status, body } = await getObject(cluster, `/api/v1/namespaces/${encodeURIComponent(cluster.namespace)}`);
  const neighbours = neighboursIn(status === 200 ? [...objects, { ...asObject(body), kind: 'Namespace' }] : objects);
  const hasServices = neighbours.services.length > 0;
  const slices = hasServices ? await listAll(cluster, '/apis/discovery.k8s.io/v1', 'endpointslices') : [];
  if (!Array.isArray(slices))
    refused.push({ resource: 'endpointslices', status: slices.status, what: 'who else serves' });
  const unread = refused.flatMap(({ resource, status, what }) =>
    what === undefined ? [] : { what, because: `${resource} could not be read (${status})` },
  );
  const read = Array.isArray(slices) ? slices.map(narrowSlice) : undefined;
  return { ...neighbours, slices: read, unread, mayHaveOtherServices: false };
}

export async function listAll(
  cluster: Cluster,
  root: string,
  resource: string,
  { namespace = cluster.namespace, fieldSelector }: { namespace?: string; fieldSelector?: string } = {},
): Promise<unknown[] | { status: number }> {
  const path = `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
  const target = { stream: 'owner', path, fieldSelector } as const;
  const result = await listObjects(cluster, target, { retry: true });
  return result.kind === 'listed' ? result.objects : { status: result.refusal.status };
}

/** Throws `check.terminating`, and the errors of a pod that cannot be read or must not be deleted. */
export async function readPodToDelete(cluster: Cluster, name: string): Promise<V1Pod> {
  const { namespace } = cluster;
  const pod = await readPod(cluster, name);
  uidToDelete(cluster, pod);
  if (metadataOf(pod)['deletionTimestamp'] === undefined) {
    refuseMirror(pod);
    return { ...pod, kind: 'Pod' };
  }
  throw new PodexitError(
    'check.terminating',
    `pod "${name}" in namespace "${namespace}" is being deleted already, so there is nothing to check`,
    `Trace it: kubectl podexit ${name} -n ${namespace} --attach${cluster.connectionFlags}`,
  );
}

/** With the kind and version that a list leaves out. Throws `target.not-found` and `target.unreadable`. */
export async function readWithKind(cluster: Cluster, resource: WorkloadResource, name: string) {
  const { kind, group } = workloadKinds[resource];
  const hint = `Grant get of ${resource}, or save its manifest and use -f FILE.`;
  const object: KubernetesObject = await readWorkload(cluster, { kind: 'workload', resource, name }, hint);
  return { apiVersion: group, ...object, kind };
}

export const readWorkloads = (cluster: Cluster) => listKinds(cluster, kinds.checked);

/** `what`: what cannot be told without them; without the others the answer is only less exact. */
async function listKinds(
  cluster: Cluster,
  all: readonly (Record<'root' | 'resource' | 'kind', string> & { what?: string })[],
) {
  const unread: { resource: string; status: number; what?: string }[] = [];
  const objects: KubernetesObject[] = [];
  for (const { root, resource, kind, what } of all) {
    const found = await listAll(cluster, root, resource);
    if (Array.isArray(found)) objects.push(...found.map((object) => ({ ...asObject(object), kind })));
    else unread.push({ resource, status: found.status, what });
  }
  return { objects, unread };
}

/** An object of a cluster as a manifest: without the fields that the cluster fills in. */
export function manifestOf(object: KubernetesObject): KubernetesObject {
  const { status: _status, ...kept } = object as KubernetesObject & { status?: unknown };
  const { name, namespace, labels, annotations: all } = kept.metadata ?? {};
  const generated = ['kubectl.kubernetes.io/last-applied-configuration', 'deployment.kubernetes.io/revision'];
  const annotations = Object.entries(asObject(all)).filter(([key]) => !generated.includes(key));
  const own = annotations.length > 0 ? Object.fromEntries(annotations) : undefined;
  return { ...kept, metadata: { name, namespace, labels, annotations: own } as object };
}
