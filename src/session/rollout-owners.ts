/** The owners behind a rollout: which they are, and whether they have rolled out. */
import type { Cluster } from '../cluster/cluster.ts';
import { watchObjects } from '../cluster/watch.ts';
import type { PodSelector } from './candidates.ts';
import { deploymentOf, listCandidatePods } from './candidates.ts';
import type { Progress } from './rollout-progress.ts';
import { isRolledOut } from './rollout-state.ts';
import type { Target } from './target.ts';
import { workloadKinds, workloadPath } from './target.ts';
import type { WorkloadResource } from './target.ts';
import type { Raw } from './watched.ts';
import { asRaw, ownerOf } from './watched.ts';

export type Several = Exclude<Target, { kind: 'pod' }>;

/** Tells `progress` of the owner at `path` until the signal aborts. */
export async function watchOwner(
  cluster: Cluster,
  path: string,
  progress: Pick<Progress, 'ownerSeen'>,
  signal: AbortSignal,
): Promise<void> {
  const cut = path.lastIndexOf('/');
  const target = { stream: 'owner' as const, path: path.slice(0, cut), name: decodeURIComponent(path.slice(cut + 1)) };
  const seen = (isDone: boolean): void => progress.ownerSeen(path, isDone);
  seen(false);
  try {
    for await (const sighting of watchObjects(cluster, target, { signal })) {
      if (sighting.kind === 'listed') seen(sighting.objects.map(asRaw).every(isRolledOut));
      // An owner that is gone, or that may not be read, keeps nobody waiting.
      if (sighting.kind === 'changed') seen(sighting.change === 'DELETED' || isRolledOut(asRaw(sighting.object)));
      if (sighting.kind === 'refused') seen(true);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** What rolls out: the workload itself, or the topmost owners of the pods that match. */
export async function ownersOf(cluster: Cluster, target: Several, selector: PodSelector): Promise<string[]> {
  if (target.kind === 'workload' && target.resource !== 'services')
    return [workloadPath(cluster.namespace, target.resource, target.name)];
  const pods = await listCandidatePods(cluster, selector);
  return [...new Set(pods.flatMap((pod) => ownerPath(cluster.namespace, pod)))];
}

function ownerPath(namespace: string, pod: Raw): string[] {
  const deployment = deploymentOf(pod);
  if (deployment !== undefined) return [workloadPath(namespace, 'deployments', deployment)];
  const owner = ownerOf(pod);
  const resources = Object.keys(workloadKinds) as WorkloadResource[];
  const resource = resources.find((one) => workloadKinds[one].kind === owner?.kind);
  return owner && resource ? [workloadPath(namespace, resource, owner.name)] : [];
}
