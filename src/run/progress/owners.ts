/** The owners behind a rollout: which they are, and how far they have rolled out. */
import { asObject, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import type { Obstacles } from './obstacles.ts';
import type { Progress } from './progress.ts';
import type { GroupListener } from '../group/group.ts';
import { workloadKinds, workloadText, type SeveralTarget, type WorkloadResource } from '../choosing/target.ts';
import {
  deploymentOf,
  isFinishedPod,
  nameOf,
  objectsIn,
  ownerOf,
  rawConditionOf,
  type Watched,
} from '../streams/watched.ts';

/** Tells `progress` about the workload or the pods' topmost owners, and `obstacles` what blocks them. */
export function followOwners(
  target: SeveralTarget,
  progress: Progress,
  obstacles: Pick<Obstacles, 'workload'>,
  onStalled: (words: string) => void,
): Required<Pick<GroupListener, 'ownerSeen' | 'alive' | 'listed'>> {
  const moved = new Set<string>();
  const expect = (owner: string): void => void (progress.follows(owner) || progress.ownerSeen(owner, false));
  const isByOwners = target.kind === 'selector' || (target.kind === 'workload' && target.resource === 'services');
  if (target.kind === 'workload' && !isByOwners) expect(workloadText(target.resource, target.name));
  if (!isByOwners) progress.ownersKnown();
  let isListed = !isByOwners;
  return {
    listed(pods) {
      if (isListed) return;
      isListed = true;
      const owners = pods.filter((one) => !isFinishedPod(one)).map(topmostOwner);
      owners.forEach(({ known, unknown }) => {
        if (known !== undefined) expect(known);
        if (unknown !== undefined) progress.ownerNotFollowed(unknown);
      });
      progress.ownersKnown();
    },
    ownerSeen(rawObservation, stream) {
      if (!isOfWorkloads(stream)) return;
      for (const object of objectsIn(rawObservation)) {
        const owner = ownerIn(stream, nameOf(object));
        if (!progress.follows(owner)) continue;
        if (rawObservation.kind === 'changed' && rawObservation.change === 'DELETED') {
          finishOwner(progress, owner, 'is gone');
          continue;
        }
        // A ReplicaSet of another owner than a Deployment depends on that owner.
        const above = object['kind'] === 'ReplicaSet' ? ownerOf(object) : undefined;
        if (above) progress.ownerNotFollowed(notFollowed(above));
        progress.ownerSeen(owner, isRolledOut(object));
        obstacles.workload(owner, object);
        // An owner that was stalled at the start of the run may still recover.
        if (!isStalled(object)) moved.add(owner);
        else if (moved.has(owner)) onStalled(`${owner} makes no progress: its progress deadline is over`);
      }
      if (stream.name === undefined) return;
      const owner = ownerIn(stream, stream.name);
      if (!progress.follows(owner)) return;
      if (rawObservation.kind === 'refused') finishOwner(progress, owner, 'may not be watched');
      if (rawObservation.kind === 'listed' && rawObservation.objects.length === 0)
        finishOwner(progress, owner, 'is gone');
    },
    alive(stream, isAlive) {
      if (!isOfWorkloads(stream)) return;
      const owner = ownerIn(stream, stream.name ?? '');
      if (progress.follows(owner)) progress.ownerAlive(owner, isAlive);
    },
  };
}

/** CronJobs are watched too, but their pods are not traced. */
const isOfWorkloads = ({ stream, resource }: Watched): boolean =>
  stream === 'owner' && Object.hasOwn(workloadKinds, resource);

/** The owner's status can no longer be read: it is not waited for. */
function finishOwner(progress: Progress, owner: string, why: string): void {
  progress.ownerNotFollowed(`${owner} ${why}`);
  progress.ownerAlive(owner, true);
  progress.ownerSeen(owner, true);
}

const ownerIn = ({ resource }: Watched, name: string): string => workloadText(resource as WorkloadResource, name);

const notFollowed = ({ kind, name }: { kind: string; name: string }): string => `${kind} ${name} is not followed`;

function topmostOwner(pod: JsonObject): { known?: string; unknown?: string } {
  const deployment = deploymentOf(pod);
  if (deployment !== undefined) return { known: workloadText('deployments', deployment) };
  const owner = ownerOf(pod);
  if (!owner) return { unknown: 'some pods have no controller' };
  const resources = Object.keys(workloadKinds).filter((one) => one !== 'services') as WorkloadResource[];
  const resource = resources.find((one) => workloadKinds[one].kind === owner.kind);
  return resource ? { known: workloadText(resource, owner.name) } : { unknown: notFollowed(owner) };
}

/**
 * Whether a workload has rolled out, by its own status like `kubectl rollout status` (polymorphichelpers/rollout_status.go).
 * Workloads without a rollout count as done: ReplicaSets, Jobs, and those with updateStrategy OnDelete.
 */
export function isRolledOut(object: JsonObject): boolean {
  const spec = asObject(object['spec']);
  const status = asObject(object['status']);
  const rule = rules[String(object['kind'])];
  if (!rule || asObject(spec['updateStrategy'])['type'] === 'OnDelete') return true;
  const isObserved = numberOr(status['observedGeneration'], 0) >= numberOr(metadataOf(object)['generation'], 0);
  return isObserved && rule(spec, status);
}

/** Whether the newest state of a Deployment is past its progress deadline, like `kubectl rollout status`. */
function isStalled(object: JsonObject): boolean {
  const { observedGeneration } = asObject(object['status']);
  if (object['kind'] !== 'Deployment' || observedGeneration !== metadataOf(object)['generation']) return false;
  return rawConditionOf(object, 'Progressing', 'False')?.['reason'] === 'ProgressDeadlineExceeded';
}

const rules: Record<string, ((spec: JsonObject, status: JsonObject) => boolean) | undefined> = {
  Deployment: (spec, status) => {
    const updated = numberOr(status['updatedReplicas'], 0);
    return (
      updated >= replicasOf(spec) &&
      numberOr(status['replicas'], 0) <= updated &&
      numberOr(status['availableReplicas'], 0) >= updated
    );
  },
  StatefulSet: (spec, status) => {
    // kubectl ignores those that are still to be removed. They go one by one, while nothing terminates in between.
    if (numberOr(status['replicas'], 0) > replicasOf(spec)) return false;
    if (numberOr(status['readyReplicas'], 0) < replicasOf(spec)) return false;
    const isCurrent = status['updateRevision'] === status['currentRevision'];
    // Pods with a lower ordinal keep the old revision; then currentRevision never becomes updateRevision.
    const { partition } = asObject(asObject(spec['updateStrategy'])['rollingUpdate']);
    return isCurrent || numberOr(status['updatedReplicas'], 0) >= replicasOf(spec) - numberOr(partition, 0);
  },
  DaemonSet: (_spec, status) => {
    const desired = numberOr(status['desiredNumberScheduled'], 0);
    return (
      numberOr(status['updatedNumberScheduled'], 0) >= desired && numberOr(status['numberAvailable'], 0) >= desired
    );
  },
};

const replicasOf = (spec: JsonObject): number => numberOr(spec['replicas'], 1);

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
