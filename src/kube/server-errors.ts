import { PodexitError } from '../errors.ts';
import type { Cluster } from './cluster.ts';
import type { Next, AttemptEnd } from './decide.ts';
import { isUntrusted, TransportFailure } from './http/failure.ts';
import { readPath, type WatchTarget } from './resource-path.ts';

export function stopError(
  cluster: Cluster,
  because: Extract<Next, { next: 'stop' }>['because'],
  outcome: AttemptEnd,
): PodexitError {
  if (because === 'foreign') return notKubernetes(cluster);
  if (because === 'oversized')
    return new PodexitError(
      'server.oversized-object',
      `the pods cannot be read: ${cluster.server} sent more than ${maxWatchLineBytes / 2 ** 20} MiB for one pod; etcd stores at most 1.5 MiB per object`,
      'Check the proxy or gateway in front of the API server; compare with: kubectl get pod -o json | wc -c',
    );
  if (because === 'unauthorized') return unauthorized(cluster);
  return notReached(cluster, outcome.kind === 'unanswered' ? outcome.failure : undefined);
}

export const isExecFailure = (error: unknown): boolean =>
  error instanceof PodexitError && error.code === 'auth.exec-failed';

/** The answer; undefined if none came, or on abort. A failing credential plugin says nothing about an open stream. */
export const answerIfAny = <T>(answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof TransportFailure || isExecFailure(error) || signal.aborted) return undefined;
    throw error;
  });

/** 401, even after the credentials were renewed. */
export function unauthorized(cluster: Pick<Cluster, 'server' | 'contextName'>): PodexitError {
  const context = cluster.contextName === undefined ? '' : ` of context "${cluster.contextName}"`;
  return new PodexitError(
    'auth.unauthorized',
    `the server ${cluster.server} does not accept the credentials${context} (401 Unauthorized)`,
    'Log in again, or check the user of this context; `kubectl auth whoami` says whether they work.',
  );
}

/** The longest line of a watch that is read: many times the largest object that etcd stores (1.5 MiB). */
export const maxWatchLineBytes = 32 * 1024 * 1024;

export function notKubernetes({ server }: Pick<Cluster, 'server'>): PodexitError {
  return new PodexitError(
    'server.not-kubernetes',
    `what answers at ${server} is not the Kubernetes API: it answered with something else, such as a login page`,
    'Log in on that page, or set the address of the API server in the kubeconfig (or with --server).',
  );
}

/** No answer: `server.untrusted` for its certificate, `server.unreachable` for everything else. */
export function notReached(
  cluster: Pick<Cluster, 'server' | 'clean'>,
  failure: TransportFailure | undefined,
): PodexitError {
  const why = cluster.clean(failure?.message ?? 'no answer');
  // Not Node's own error, which may contain the whole request.
  const options = { cause: failure && Object.assign(new Error(why), { code: failure.code }) };
  if (failure !== undefined && isUntrusted(failure)) {
    return new PodexitError(
      'server.untrusted',
      `the certificate of ${cluster.server} cannot be trusted: ${why}`,
      'Check certificate-authority and tls-server-name of the cluster in the kubeconfig.',
      options,
    );
  }
  return new PodexitError(
    'server.unreachable',
    `the server ${cluster.server} cannot be reached: ${why}`,
    'Check the address in the kubeconfig, the network, and the proxy settings; `kubectl cluster-info` tries the same.',
    options,
  );
}

/** Why a stream has not started, in one clause. */
export function waitingReason(cluster: Cluster, { path }: WatchTarget, outcome: AttemptEnd): string {
  const { resource } = readPath(path);
  if (outcome.kind === 'unanswered')
    return cluster.clean(
      `no answer to the list of ${resource} (${outcome.failure?.message ?? 'the credential plugin failed'})`,
    );
  if (outcome.kind === 'refused') {
    const { status, message } = outcome.refusal;
    return cluster.clean(`the server answers ${status} to the list of ${resource}: ${message}`);
  }
  if (outcome.kind === 'foreign') return `what answers the list of ${resource} is not the Kubernetes API`;
  return `the list of ${resource} is still incomplete`;
}
