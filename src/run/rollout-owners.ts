/** The owners behind a rollout: which they are, and whether they have rolled out. */
import type { Cluster } from '../kube/cluster.ts';
import { untold } from '../kube/health.ts';
import { watchObjects } from '../kube/watch.ts';
import type { Sighting } from '../model/observation.ts';
import type { PodSelector } from './candidates.ts';
import { deploymentOf, listCandidatePods } from './candidates.ts';
import type { Progress } from './rollout-progress.ts';
import { isRolledOut } from './rollout-state.ts';
import type { Target } from './target.ts';
import { pathText, workloadKinds, workloadPath } from './target.ts';
import type { WorkloadResource } from './target.ts';
import type { Raw } from './watched.ts';
import { asRaw, isFinishedPod, ownerOf } from './watched.ts';

export type Several = Exclude<Target, { kind: 'pod' }>;

/** Tells `progress` of the owner at `path` until the signal aborts. */
export async function watchOwner(
  cluster: Cluster,
  path: string,
  progress: Pick<Progress, 'ownerSeen' | 'ownerUntold' | 'ownerHears'>,
  signal: AbortSignal,
): Promise<void> {
  const cut = path.lastIndexOf('/');
  const target = { stream: 'owner' as const, path: path.slice(0, cut), name: decodeURIComponent(path.slice(cut + 1)) };
  const seen = (isDone: boolean): void => progress.ownerSeen(path, isDone);
  const hears = (isSo: boolean): void => progress.ownerHears(path, isSo);
  const health = { ...untold(), lost: () => hears(false), flows: () => hears(true) };
  seen(false);
  try {
    for await (const sighting of watchObjects(cluster, target, { signal, health })) {
      if (sighting.kind === 'refused') progress.ownerUntold(`${pathText(path)} may not be watched`);
      if (sighting.kind === 'refused') return (hears(true), seen(true));
      for (const object of objectsOf(sighting)) {
        const above = foreignOwnerOf(object);
        if (above !== undefined) progress.ownerUntold(above);
        seen(isRolledOut(object));
      }
      if (isGone(sighting)) {
        progress.ownerUntold(`${pathText(path)} is gone`);
        seen(true);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Of the owner that there is. */
function objectsOf(sighting: Sighting): Raw[] {
  if (sighting.kind === 'listed') return sighting.objects.map(asRaw);
  return sighting.kind === 'changed' && sighting.change !== 'DELETED' ? [asRaw(sighting.object)] : [];
}

const isGone = (sighting: Sighting): boolean =>
  (sighting.kind === 'changed' && sighting.change === 'DELETED') ||
  (sighting.kind === 'listed' && sighting.objects.length === 0);

/** A ReplicaSet of its own rolls nothing out; one that belongs to something else than a Deployment does what that says. */
function foreignOwnerOf(object: Raw): string | undefined {
  const owner = object['kind'] === 'ReplicaSet' ? ownerOf(object) : undefined;
  return owner && unfollowed(owner);
}

const unfollowed = ({ kind, name }: { kind: string; name: string }): string => `${kind} ${name} is not followed`;

/** What rolls out: the workload itself, or the topmost owners of the pods that match. */
export interface Owners {
  readonly paths: readonly string[];
  /** Those that cannot be followed, in words. */
  readonly untold: readonly string[];
}

/** Throws as listCandidatePods does. */
export async function ownersOf(cluster: Cluster, target: Several, selector: PodSelector): Promise<Owners> {
  if (target.kind === 'workload' && target.resource !== 'services')
    return { paths: [workloadPath(cluster.namespace, target.resource, target.name)], untold: [] };
  const pods = (await listCandidatePods(cluster, selector)).filter((pod) => !isFinishedPod(pod));
  const owners = pods.map((pod) => ownerPath(cluster.namespace, pod));
  return {
    paths: [...new Set(owners.flatMap(({ path }) => path ?? []))],
    untold: [...new Set(owners.flatMap(({ untold }) => untold ?? []))],
  };
}

function ownerPath(namespace: string, pod: Raw): { path?: string; untold?: string } {
  const deployment = deploymentOf(pod);
  if (deployment !== undefined) return { path: workloadPath(namespace, 'deployments', deployment) };
  const owner = ownerOf(pod);
  if (!owner) return { untold: 'some pods have no controller' };
  const resources = Object.keys(workloadKinds) as WorkloadResource[];
  const resource = resources.find((one) => workloadKinds[one].kind === owner.kind);
  return resource ? { path: workloadPath(namespace, resource, owner.name) } : { untold: unfollowed(owner) };
}
