/** Names for shell completion, from the cluster or the kubeconfig. Failures give an empty list, not an error. */
import { asArray, asObject } from '../../model/observe/read.ts';
import { acceptMetadata, collectionPath } from '../../kube/resource-path.ts';
import type { ConnectOptions } from '../../kube/connect-options.ts';
import type { Ports } from '../ports.ts';
import { withCluster } from '../session.ts';
import { workloadKinds, workloadPath, type WorkloadResource } from './target.ts';
import { nameOf, ownerOf } from '../streams/watched.ts';

export type NamedResource = WorkloadResource | 'pods' | 'nodes' | 'namespaces';

type KnownName = Readonly<{ name: string; about?: string }>;

/** Reads one page only: nobody needs more than 500 completions. */
export async function namesInCluster(
  resource: NamedResource,
  connection: ConnectOptions,
  ports: Ports,
  signal: AbortSignal,
): Promise<KnownName[]> {
  return withCluster(connection, ports, -1, async (cluster) => {
    const answer = await cluster.request({
      method: 'GET',
      path: Object.hasOwn(workloadKinds, resource)
        ? workloadPath(cluster.namespace, resource as WorkloadResource)
        : collectionPath(resource === 'pods' ? cluster.namespace : '', resource),
      query: { limit: '500' },
      // Full pods would make the answer fifty times as long.
      accept: acceptMetadata('PartialObjectMetadataList'),
      signal,
    });
    return asArray(asObject(answer.body)['items'])
      .map(asObject)
      .map((object) => {
        const owner = ownerOf(object);
        const about = resource === 'pods' && owner ? `of ${owner.kind} ${owner.name}` : undefined;
        return { name: nameOf(object), about };
      });
  });
}

export async function namesInKubeconfig(
  what: 'contexts' | 'clusters' | 'users',
  { kubeconfig: file }: ConnectOptions,
  { env }: Ports,
): Promise<KnownName[]> {
  const { loadKubeconfig } = await import('../../kube/kubeconfig/load.ts');
  const { kubeconfig } = await loadKubeconfig({ variables: env, kubeconfig: file });
  return [...kubeconfig[what].keys()].map((name) => ({ name }));
}
