/** How far a workload has rolled out, by its own status, as `kubectl rollout status` reads it (polymorphichelpers/rollout_status.go). Pure. */
import { asObject, type JsonObject } from '../model/observe/read.ts';
import { metadataOf } from '../run/watched.ts';

/** What has no rollout counts as done: a ReplicaSet, a Job, and what replaces its pods only when somebody deletes them. */
export function isRolledOut(object: JsonObject): boolean {
  const spec = asObject(object['spec']);
  const status = asObject(object['status']);
  const rule = rules[String(object['kind'])];
  if (!rule || asObject(spec['updateStrategy'])['type'] === 'OnDelete') return true;
  const isObserved = numberOr(status['observedGeneration'], 0) >= numberOr(metadataOf(object)['generation'], 0);
  return isObserved && rule(spec, status);
}

/** The Deployment's controller says so of the newest state only (DeploymentProgressing, `kubectl rollout status`). */
export function isStalled(object: JsonObject): boolean {
  const { conditions, observedGeneration } = asObject(object['status']);
  if (object['kind'] !== 'Deployment' || observedGeneration !== metadataOf(object)['generation']) return false;
  return (Array.isArray(conditions) ? conditions : [])
    .map(asObject)
    .some((one) => one['type'] === 'Progressing' && one['reason'] === 'ProgressDeadlineExceeded');
}

type Rule = (spec: JsonObject, status: JsonObject) => boolean;

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

const replicasOf = (spec: JsonObject): number => numberOr(spec['replicas'], 1);

/** Pods whose ordinal is lower keep the old revision; then the current revision never becomes the new one. */
const partitionOf = (spec: JsonObject): number =>
  numberOr(asObject(asObject(spec['updateStrategy'])['rollingUpdate'])['partition'], 0);

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
