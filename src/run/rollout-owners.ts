/** The owners behind a rollout: which they are, and what their streams say of how far they have come. */
import type { Sighting } from '../model/observation.ts';
import { deploymentOf } from './scope.ts';
import type { Progress } from './rollout-progress.ts';
import type { PodListener } from './live-run.ts';
import { pathText, workloadKinds, workloadPath, type SeveralTarget, type WorkloadResource } from './target.ts';
import { asRaw, isFinishedPod, metadataOf, nameOf, ownerOf, type Raw, type Target } from './watched.ts';

type OwnerListener = Pick<PodListener, 'owner' | 'ownerAlive' | 'listed'>;

/** Reports to `progress` the workload itself, or of the topmost owners of the pods that match. */
export function followOwners(
  namespace: string,
  target: SeveralTarget,
  progress: Progress,
  onStalled: (words: string) => void,
): OwnerListener {
  const followed = new Set<string>();
  const moved = new Set<string>();
  const expect = (path: string): void => {
    if (followed.has(path)) return;
    followed.add(path);
    progress.ownerSeen(path, false);
  };
  const isByPods = target.kind === 'pods' || target.kind === 'node';
  let isListed = isByPods || (target.kind === 'workload' && target.resource !== 'services');
  if (isByPods) progress.ownersKnown();
  if (target.kind === 'workload' && target.resource !== 'services') {
    expect(workloadPath(namespace, target.resource, target.name));
    progress.ownersKnown();
  }
  const finish = (path: string, why: string): void => finishOwner(progress, path, why);
  return {
    listed(pods) {
      if (isListed) return;
      isListed = true;
      for (const pod of pods.filter((one) => !isFinishedPod(one))) {
        const { path, unknown } = topmostOwner(namespace, pod);
        if (path !== undefined) expect(path);
        if (unknown !== undefined) progress.ownerNotFollowed(unknown);
      }
      progress.ownersKnown();
    },
    owner(sighting, stream) {
      const pathOf = (object: Raw): string => pathIn(stream, namespace, object);
      for (const object of objectsOf(sighting)) {
        const path = pathOf(object);
        if (!followed.has(path)) continue;
        if (isRemoved(sighting)) {
          finish(path, `${pathText(path)} is gone`);
          continue;
        }
        const above = foreignOwnerOf(object);
        if (above !== undefined) progress.ownerNotFollowed(above);
        progress.ownerSeen(path, isRolledOut(object));
        // One that was stalled when the run began may go on.
        if (!isStalled(object)) moved.add(path);
        else if (moved.has(path)) onStalled(`${pathText(path)} makes no progress: its progress deadline is over`);
      }
      if (stream.name === undefined) return;
      const path = pathOf({ metadata: { name: stream.name } });
      if (!followed.has(path)) return;
      if (sighting.kind === 'refused') finish(path, `${pathText(path)} may not be watched`);
      if (sighting.kind === 'listed' && sighting.objects.length === 0) finish(path, `${pathText(path)} is gone`);
    },
    ownerAlive(stream, isSo) {
      const path = pathIn(stream, namespace, { metadata: { name: stream.name ?? '' } });
      if (followed.has(path)) progress.ownerAlive(path, isSo);
    },
  };
}

/** Its status can no longer be read: it is not waited for. */
function finishOwner(progress: Progress, path: string, why: string): void {
  progress.ownerNotFollowed(why);
  progress.ownerAlive(path, true);
  progress.ownerSeen(path, true);
}

function pathIn({ resource }: Target, namespace: string, object: Raw): string {
  const own = metadataOf(object)['namespace'];
  return workloadPath(typeof own === 'string' ? own : namespace, resource as WorkloadResource, nameOf(object));
}

function objectsOf(sighting: Sighting): Raw[] {
  if (sighting.kind === 'listed') return sighting.objects.map(asRaw);
  return sighting.kind === 'changed' ? [asRaw(sighting.object)] : [];
}

const isRemoved = (sighting: Sighting): boolean => sighting.kind === 'changed' && sighting.change === 'DELETED';

/** The Deployment's controller says so of the newest state only (DeploymentProgressing, `kubectl rollout status`). */
function isStalled(object: Raw): boolean {
  const { conditions, observedGeneration } = asRaw(object['status']);
  if (object['kind'] !== 'Deployment' || observedGeneration !== metadataOf(object)['generation']) return false;
  return (Array.isArray(conditions) ? conditions : [])
    .map(asRaw)
    .some((one) => one['type'] === 'Progressing' && one['reason'] === 'ProgressDeadlineExceeded');
}

/** A ReplicaSet of its own rolls nothing out; one that belongs to something else than a Deployment does what that says. */
function foreignOwnerOf(object: Raw): string | undefined {
  const owner = object['kind'] === 'ReplicaSet' ? ownerOf(object) : undefined;
  return owner && notFollowed(owner);
}

const notFollowed = ({ kind, name }: { kind: string; name: string }): string => `${kind} ${name} is not followed`;

function topmostOwner(namespace: string, pod: Raw): { path?: string; unknown?: string } {
  const deployment = deploymentOf(pod);
  if (deployment !== undefined) return { path: workloadPath(namespace, 'deployments', deployment) };
  const owner = ownerOf(pod);
  if (!owner) return { unknown: 'some pods have no controller' };
  const resources = Object.keys(workloadKinds).filter((one) => one !== 'services') as WorkloadResource[];
  const resource = resources.find((one) => workloadKinds[one].kind === owner.kind);
  return resource ? { path: workloadPath(namespace, resource, owner.name) } : { unknown: notFollowed(owner) };
}

/** What has no rollout counts as done: a ReplicaSet, a Job, and what replaces its pods only when somebody deletes them. */
export function isRolledOut(object: Raw): boolean {
  const spec = asRaw(object['spec']);
  const status = asRaw(object['status']);
  const rule = rules[String(object['kind'])];
  if (!rule || asRaw(spec['updateStrategy'])['type'] === 'OnDelete') return true;
  const isObserved = numberOr(status['observedGeneration'], 0) >= numberOr(metadataOf(object)['generation'], 0);
  return isObserved && rule(spec, status);
}

type Rule = (spec: Raw, status: Raw) => boolean;

const rules: Record<string, Rule | undefined> = {
  Deployment: (spec, status) => {
    const updated = numberOr(status['updatedReplicas'], 0);
    return (
      updated >= replicasOf(spec) &&
      numberOr(status['replicas'], 0) <= updated &&
      numberOr(status['availableReplicas'], 0) >= updated
    );
  },
  StatefulSet: (spec, status) => {
    if (numberOr(status['readyReplicas'], 0) < replicasOf(spec)) return false;
    const isCurrent = status['updateRevision'] === status['currentRevision'];
    return isCurrent || numberOr(status['updatedReplicas'], 0) >= replicasOf(spec) - partitionOf(spec);
  },
  DaemonSet: (_spec, status) => {
    const desired = numberOr(status['desiredNumberScheduled'], 0);
    return (
      numberOr(status['updatedNumberScheduled'], 0) >= desired && numberOr(status['numberAvailable'], 0) >= desired
    );
  },
};

const replicasOf = (spec: Raw): number => numberOr(spec['replicas'], 1);

/** Pods whose ordinal is lower keep the old revision; then the current revision never becomes the new one. */
const partitionOf = (spec: Raw): number =>
  numberOr(asRaw(asRaw(spec['updateStrategy'])['rollingUpdate'])['partition'], 0);

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
