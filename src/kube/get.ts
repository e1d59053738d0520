import { PodexitError } from '../errors.ts';
import type { ApiResponse, Cluster, ApiRequest } from './cluster.ts';
import { growingMs } from './decide.ts';
import { TransportFailure, isUntrusted } from './http/failure.ts';
import { podPath } from './resource-path.ts';
import { readRefusal } from './status.ts';
import { delay } from './env.ts';
import { notReached, unauthorized } from './server-errors.ts';

/**
 * One GET, whatever its status is (a 404 is an answer too), sent again while the server is busy. Throws PodexitError
 * `server.unreachable`, `server.untrusted` or `auth.unauthorized`, and the signal's reason on abort.
 */
export async function getObject(
  cluster: Cluster,
  path: string,
  options: { signal?: AbortSignal; query?: Readonly<Record<string, string>> } = {},
): Promise<ApiResponse> {
  try {
    const answer = await requestWithRetries(cluster, { method: 'GET', path, ...options });
    if (answer.status === 401) throw unauthorized(cluster);
    return answer;
  } catch (error) {
    if (error instanceof TransportFailure && !options.signal?.aborted) throw notReached(cluster, error);
    throw error;
  }
}

/** One 429 or 503 must not lose a fact, and no request may wait for ever: at most this many times, and ms in all. */
const most = { times: 8, ms: 20_000 };

/**
 * A GET that is sent again where the server is busy or starting (429, 5xx), or a connection to it is lost that worked
 * before: after its `Retry-After`, else in growing steps. The last answer, whatever its status. Throws what
 * `Cluster.request` throws.
 */
export async function requestWithRetries(cluster: Cluster, request: ApiRequest): Promise<ApiResponse> {
  const { env } = cluster;
  const until = env.now() + most.ms;
  for (let times = 1; ; times++) {
    const tried = await attempt(cluster, request);
    const wait = waitAfter(cluster, tried, times);
    if (wait === undefined || times >= most.times || env.now() + wait > until) {
      if (tried instanceof TransportFailure) throw tried;
      return tried;
    }
    await delay(env, wait, request.signal);
    request.signal?.throwIfAborted();
  }
}

async function attempt(cluster: Cluster, request: ApiRequest): Promise<ApiResponse | TransportFailure> {
  try {
    return await cluster.request(request);
  } catch (error) {
    if (error instanceof TransportFailure && !request.signal?.aborted) return error;
    throw error;
  }
}

/** ms; undefined where asking again would not change the answer. */
function waitAfter({ memory }: Cluster, tried: ApiResponse | TransportFailure, times: number): number | undefined {
  const growing = growingMs(times - 1);
  if (tried instanceof TransportFailure) return memory.reached && !isUntrusted(tried) ? growing : undefined;
  const { status, body, headers } = tried;
  if (status !== 429 && status < 500) return undefined;
  return readRefusal(status, body, headers).retryAfterMs ?? growing;
}

/** A GET of a pod for a caller that can go on without it: whatever its status is; undefined where no answer came, or on abort. */
export async function tryGetPod(
  cluster: Cluster,
  { namespace, name }: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<ApiResponse | undefined> {
  try {
    return await requestWithRetries(cluster, { method: 'GET', path: podPath(namespace, name), signal });
  } catch (error) {
    if (error instanceof TransportFailure || error instanceof PodexitError || signal.aborted) return undefined;
    throw error;
  }
}
