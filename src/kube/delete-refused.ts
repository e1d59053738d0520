import { PodexitError } from '../errors.ts';
import type { Cluster } from './cluster.ts';
import { isBudget, isSuccessor } from './delete-decide.ts';
import { readDenial } from './refused.ts';
import { roleFor } from './role.ts';
import type { Refusal } from './status.ts';
import { unauthorized } from './trouble.ts';

/** The pod that has the name now is not the one that was meant. */
export const replacedPod = (namespace: string, name: string): PodexitError =>
  new PodexitError(
    'pod.replaced',
    `pod "${name}" in namespace "${namespace}" was replaced by another one of the same name, which is left alone`,
    'Run the command again to trace the new pod.',
  );

/** The server's no to a DELETE or an eviction, as one sentence and a next step. test/errors.ndjson has the real ones. */
export function refusedDelete(
  cluster: Pick<Cluster, 'server' | 'contextName' | 'clean'>,
  { namespace, name, evict }: { namespace: string; name: string; evict?: boolean },
  refusal: Refusal,
): PodexitError {
  const { status } = refusal;
  const message = cluster.clean(refusal.message);
  const pod = `pod "${name}" in namespace "${namespace}"`;
  const asked = evict ? 'eviction' : 'deletion';
  if (status === 401) return unauthorized(cluster);
  // A server without the eviction API has words of its own, which say nothing of the pod.
  if (status === 404 && !/the requested resource/.test(message)) {
    return new PodexitError(
      'pod.gone',
      `${pod} was gone before its ${asked} was asked for`,
      'Nothing is left to delete.',
    );
  }
  if (isSuccessor(refusal)) return replacedPod(namespace, name);
  if (isBudget(refusal)) return heldByBudget(cluster, pod, refusal);
  const denied = status === 403 ? readDenial(message) : undefined;
  if (denied !== undefined) {
    return new PodexitError(
      evict ? 'evict.forbidden' : 'delete.forbidden',
      `you may not ${denied.verb} ${denied.resource} in namespace "${namespace}": ${message}`,
      `Ask for a RoleBinding to this Role:\n${roleFor(namespace, denied)}`,
    );
  }
  if (status === 403 || /denied the request|admission webhook|ValidatingAdmissionPolicy/.test(message)) {
    return new PodexitError(
      evict ? 'evict.denied' : 'delete.denied',
      `the ${asked} of ${pod} was denied by the cluster's admission: ${message}`,
      'Ask those who run that policy; the pod runs on unchanged.',
    );
  }
  return new PodexitError(
    evict ? 'evict.failed' : 'delete.failed',
    `the ${asked} of ${pod} failed (${status}): ${message}`,
    'The pod runs on unchanged, as far as the server tells; try again, and look at the API server if it stays so.',
  );
}

function heldByBudget({ clean }: Pick<Cluster, 'clean'>, pod: string, { causes, message }: Refusal): PodexitError {
  const cause = causes.find(({ reason }) => reason === 'DisruptionBudget')?.message ?? message;
  return new PodexitError(
    'evict.disruption-budget',
    `${pod} may not be evicted now: ${clean(cause)}`,
    'Wait until more of its siblings are healthy, or delete it without --evict, which respects no budget.',
  );
}
