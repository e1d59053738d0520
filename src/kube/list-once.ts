import type { Cluster } from './cluster.ts';
import { askPatiently } from './get.ts';
import { TransportFailure } from './http/failure.ts';
import type { ListResult } from './list.ts';
import { listObjects } from './list.ts';
import { notReached } from './trouble.ts';
import type { WatchTarget } from './watch-target.ts';

/**
 * One list, for a question that somebody waits for: asked again while the server is busy. Throws PodexitError `server.unreachable` or `server.untrusted`, and
 * the signal's reason on abort.
 */
export async function listOnce(
  cluster: Cluster,
  target: WatchTarget,
  options: { signal: AbortSignal },
): Promise<ListResult> {
  try {
    return await listObjects(cluster, target, { ...options, ask: askPatiently });
  } catch (error) {
    if (error instanceof TransportFailure && !options.signal.aborted) throw notReached(cluster, error);
    throw error;
  }
}
