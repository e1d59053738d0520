/** When a rollout is done, by the status of what is rolled out: kubectl rollout status' own rules. Pure. */
import type { Raw } from './watched.ts';
import { asRaw, metadataOf } from './watched.ts';

/** Kinds without a rollout (a ReplicaSet, a Job) count as done. */
export function isRolledOut(object: Raw): boolean {
  const spec = asRaw(object['spec']);
  const status = asRaw(object['status']);
  const count = (field: string, otherwise = 0): number => numberOr(status[field], otherwise);
  const replicas = numberOr(spec['replicas'], 1);
  if (count('observedGeneration') < numberOr(metadataOf(object)['generation'], 0)) return false;
  switch (object['kind']) {
    case 'Deployment': {
      const updated = count('updatedReplicas');
      return updated >= replicas && count('replicas') <= updated && count('availableReplicas') >= updated;
    }
    case 'StatefulSet': {
      const isCurrent = status['updateRevision'] === status['currentRevision'];
      return count('readyReplicas') >= replicas && (isCurrent || count('updatedReplicas') >= replicas);
    }
    case 'DaemonSet': {
      const desired = count('desiredNumberScheduled');
      return count('updatedNumberScheduled') >= desired && count('numberAvailable') >= desired;
    }
    default:
      return true;
  }
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
