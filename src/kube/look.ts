/** One GET of a pod, by somebody who can go on without an answer. */
import { PodexitError } from '../errors.ts';
import type { Answer, Cluster } from './cluster.ts';
import { askPatiently } from './get.ts';
import { TransportFailure } from './http/failure.ts';
import { podPath } from './resource-path.ts';

/** Whatever its status is, asked again while the server is busy; undefined where no answer came, or nobody waits for it any more, or the server or the credentials stand in the way. */
export async function look(
  cluster: Cluster,
  { namespace, name }: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<Answer | undefined> {
  try {
    return await askPatiently(cluster, { method: 'GET', path: podPath(namespace, name), signal });
  } catch (error) {
    if (error instanceof TransportFailure || error instanceof PodexitError || signal.aborted) return undefined;
    throw error;
  }
}
