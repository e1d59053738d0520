import { PodexitError } from '../errors.ts';
import type { Cluster } from './cluster.ts';
import type { TransportFailure } from './http/failure.ts';
import { isUntrusted } from './http/failure.ts';

/** Why a stream cannot go on, as an error that names the server and the next step. */
export function stopError(
  cluster: Cluster,
  because: 'unauthorized' | 'unreachable' | 'untrusted' | 'foreign',
  failure: TransportFailure | undefined,
): PodexitError {
  if (because === 'foreign') return notKubernetes(cluster);
  return because === 'unauthorized' ? unauthorized(cluster) : notReached(cluster, failure);
}

/** 401, also after the credentials were renewed. */
export function unauthorized(cluster: Pick<Cluster, 'server' | 'contextName'>): PodexitError {
  const context = cluster.contextName === undefined ? '' : ` of context "${cluster.contextName}"`;
  return new PodexitError(
    'auth.unauthorized',
    `the server ${cluster.server} does not accept the credentials${context} (401 Unauthorized)`,
    'Log in again, or check the user of this context; `kubectl auth whoami` says whether they work.',
  );
}

/** 200, and no word of Kubernetes in it. */
export function notKubernetes({ server }: Pick<Cluster, 'server'>): PodexitError {
  return new PodexitError(
    'server.not-kubernetes',
    `what answers at ${server} is not the Kubernetes API: it said 200 with a page of its own, as a login page or a proxy does`,
    'Log in where that page wants it, or write the address of the API server itself into the kubeconfig (or give it with --server).',
  );
}

/** No answer: `server.untrusted` for its certificate, `server.unreachable` for everything else. */
export function notReached(
  cluster: Pick<Cluster, 'server' | 'clean'>,
  failure: TransportFailure | undefined,
): PodexitError {
  const why = cluster.clean(failure?.message ?? 'no answer');
  const options = failure === undefined ? {} : { cause: withoutSecrets(failure, why) };
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

/** The cause as it may be printed: Node's own errors may carry the whole request. */
function withoutSecrets(failure: TransportFailure, message: string): Error {
  return Object.assign(new Error(message), { code: failure.code });
}
