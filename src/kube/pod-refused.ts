import { PodexitError } from '../errors.ts';
import type { Answer, Cluster } from './cluster.ts';
import type { Wanted } from './refused.ts';
import { readDenial } from './refused.ts';
import { roleFor } from './role.ts';
import type { Refusal } from './status.ts';
import { readRefusal } from './status.ts';
import { unauthorized } from './trouble.ts';

/** What an answer that is no success says, without the secrets of this connection. */
export function refusalOf(
  cluster: Pick<Cluster, 'clean'>,
  answer: Pick<Answer, 'status' | 'body' | 'headers'>,
): Refusal {
  const refusal = readRefusal(answer.status, answer.body, answer.headers);
  return { ...refusal, message: cluster.clean(refusal.message) };
}

/** Why a pod cannot be read (a GET, a list or a watch of it), as one sentence and a next step. */
export function refusedPod(
  cluster: Pick<Cluster, 'server' | 'contextName' | 'clean' | 'reach'>,
  { namespace, name }: { namespace: string; name: string },
  { status, message }: Pick<Refusal, 'status' | 'message'>,
): PodexitError {
  if (status === 401) return unauthorized(cluster);
  if (status === 403) return forbiddenPods(namespace, cluster.clean(message));
  if (status === 404) {
    return new PodexitError(
      'pod.not-found',
      `there is no pod "${name}" in namespace "${namespace}"`,
      `Look at \`kubectl get pods -n ${namespace}${cluster.reach}\`; -n chooses another namespace.`,
    );
  }
  return new PodexitError(
    'pod.unreadable',
    `pod "${name}" in namespace "${namespace}" cannot be read (${status}): ${cluster.clean(message)}`,
    'Try again; if it stays so, look at the API server, or at the proxy in front of it.',
  );
}

/** Why the pods of a namespace cannot be listed or watched: only a 403 is about rights. */
export function refusedPods(
  cluster: Pick<Cluster, 'server' | 'contextName' | 'clean'>,
  namespace: string,
  { status, message, ...wanted }: Pick<Refusal, 'status' | 'message'> & Partial<Wanted>,
): PodexitError {
  if (status === 401) return unauthorized(cluster);
  if (status === 403) return forbiddenPods(namespace, cluster.clean(message), wanted);
  return new PodexitError(
    'pods.unreadable',
    `the pods in namespace "${namespace}" cannot be read (${status}): ${cluster.clean(message)}`,
    unreadableHints[status] ?? 'Try again; if it stays so, look at the API server, or at the proxy in front of it.',
  );
}

const unreadableHints: Partial<Record<number, string>> = {
  400: 'Check the selector: -l and --field-selector take what they take in `kubectl get pods`.',
  404: "This is no Kubernetes API server: check the cluster's address in the kubeconfig, and what stands before it.",
};

/** 403 on pods: nothing can be done without them, so the hint holds the Role that is needed. */
function forbiddenPods(namespace: string, message: string, asked: Partial<Wanted> = {}): PodexitError {
  const { verb = 'get', resource = 'pods', group = '' } = readDenial(message) ?? asked;
  const wanted = { verb, resource, group };
  return new PodexitError(
    'pod.forbidden',
    `you may not ${wanted.verb} ${wanted.resource} in namespace "${namespace}": ${message}`,
    `Ask for a RoleBinding to this Role:\n${roleFor(namespace, wanted)}`,
  );
}
