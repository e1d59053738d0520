import type { Answer, Cluster } from './cluster.ts';
import { TransportFailure } from './http/failure.ts';
import { notReached, unauthorized } from './trouble.ts';

/**
 * One GET, whatever its status is (a 404 is an answer too). Throws PodexitError `server.unreachable`,
 * `server.untrusted` or `auth.unauthorized`, and the signal's reason on abort.
 */
export async function getObject(
  cluster: Cluster,
  path: string,
  options: { signal?: AbortSignal; query?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  try {
    const answer = await cluster.request({ method: 'GET', path, ...options });
    if (answer.status === 401) throw unauthorized(cluster);
    return answer;
  } catch (error) {
    if (error instanceof TransportFailure && !options.signal?.aborted) throw notReached(cluster, error);
    throw error;
  }
}
