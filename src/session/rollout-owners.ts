/** The owners behind a rollout: which they are, and whether they have rolled out. */
import type { Cluster } from '../cluster/cluster.ts';
import { watchObjects } from '../cluster/watch.ts';
import type { PodSelector } from './candidates.ts';
import { listCandidatePods } from './candidates.ts';
import { isRolledOut } from './rollout-state.ts';
import type { Target } from './target.ts';
import { workloadKinds, workloadPath } from './target.ts';
import type { WorkloadResource } from './target.ts';
import type { Raw } from './watched.ts';
import { asRaw, metadataOf, ownerOf } from './watched.ts';

export type Several = Exclude<Target, { kind: 'pod' }>;

/** Keeps `done` for the owner at `path` until the signal aborts; `look` is called after each change. */
export async function watchOwner(
  cluster: Cluster,
  path: string,
  done: Map<string, boolean>,
  signal: AbortSignal,
  look: () => void,
): Promise<void> {
  const cut = path.lastIndexOf('/');
  const target = { stream: 'owner' as const, path: path.slice(0, cut), name: decodeURIComponent(path.slice(cut + 1)) };
  done.set(path, false);
  try {
    for await (const sighting of watchObjects(cluster, target, { signal })) {
      if (sighting.kind === 'listed') done.set(path, sighting.objects.map(asRaw).every(isRolledOut));
      // An owner that is gone, or that may not be read, keeps nobody waiting.
      if (sighting.kind === 'changed')
        done.set(path, sighting.change === 'DELETED' || isRolledOut(asRaw(sighting.object)));
      if (sighting.kind === 'refused') done.set(path, true);
      look();
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

/** A ReplicaSet's Deployment is named in the ReplicaSet's own name (`checkout-754699c75f`). */
function ownerPath(namespace: string, pod: Raw): string[] {
  const owner = ownerOf(pod);
  const hash = asRaw(metadataOf(pod)['labels'])['pod-template-hash'];
  if (owner?.kind === 'ReplicaSet' && typeof hash === 'string' && owner.name.endsWith(`-${hash}`))
    return [workloadPath(namespace, 'deployments', owner.name.slice(0, -hash.length - 1))];
  const resources = Object.keys(workloadKinds) as WorkloadResource[];
  const resource = resources.find((one) => workloadKinds[one].kind === owner?.kind);
  return owner && resource ? [workloadPath(namespace, resource, owner.name)] : [];
}
