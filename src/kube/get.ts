import { PodexitError } from '../errors.ts';
import { asObject, type JsonObject } from '../model/observe/read.ts';
import type { ApiResponse, Cluster, ApiRequest } from './cluster.ts';
import { backoffMs } from './decide.ts';
import { TransportFailure, isUntrusted } from './http/failure.ts';
import { isProxyPage, readRefusal } from './status.ts';
import { delay } from './env.ts';
import { notKubernetes, notReached, unauthorized } from './server-errors.ts';

type GetOptions = Omit<ApiRequest, 'method' | 'path'>;

/**
 * Sends a GET with retries, and returns any status but 401 (a 404 is an answer too). Throws what `requestWithRetries`
 * throws, and PodexitError `auth.unauthorized` and `server.not-kubernetes`.
 */
export async function getObject(cluster: Cluster, path: string, options: GetOptions = {}): Promise<ApiResponse> {
  const answer = await requestWithRetries(cluster, { method: 'GET', path, ...options });
  if (answer.status === 401) throw unauthorized(cluster);
  if (isProxyPage(answer)) throw notKubernetes(cluster);
  return answer;
}

type Look = { at: number; sentAt: number; object?: JsonObject };

/** The pod that a GET shows, or (without `object`) a proof that there is none. A page or a refusal proves nothing. */
export function lookOf({ at, sentAt, status, body }: ApiResponse): Look | undefined {
  const object = asObject(body);
  if (status === 200 && object['kind'] === 'Pod') return { at, sentAt, object };
  return status === 404 && object['kind'] === 'Status' ? { at, sentAt } : undefined;
}

/** One 429 or 503 must not lose a fact, and no request may wait for ever. */
const retryLimits = { attempts: 8, totalMs: 20_000 };

/**
 * Sends a request, again if the server is busy or starting (429, 5xx), or if the connection fails after the server was once
 * reached. Waits for the time in `Retry-After`, else backs off. Returns the last answer, whatever its status. Throws
 * PodexitError (without an answer `server.unreachable` or `server.untrusted`), and the signal's reason on abort.
 */
export async function requestWithRetries(cluster: Cluster, request: ApiRequest): Promise<ApiResponse> {
  const { env, closed } = cluster;
  const deadline = env.now() + retryLimits.totalMs;
  for (let attempts = 1; ; attempts++) {
    const tried = await cluster.request(request).catch((error: unknown) => {
      if (error instanceof TransportFailure && !request.signal?.aborted) return error;
      throw error;
    });
    const wait = retryDelay(cluster, tried, attempts);
    if (wait === undefined || attempts >= retryLimits.attempts || env.now() + wait > deadline) {
      if (tried instanceof TransportFailure) throw notReached(cluster, tried);
      return tried;
    }
    await delay(env, wait, AbortSignal.any([closed, request.signal ?? closed]));
    request.signal?.throwIfAborted();
  }
}

/** ms; undefined if a retry would not change the answer. */
function retryDelay(
  { memory, closed }: Cluster,
  tried: ApiResponse | TransportFailure,
  attempts: number,
): number | undefined {
  const growing = backoffMs(attempts - 1);
  if (closed.aborted) return undefined;
  if (tried instanceof TransportFailure) return memory.reached && !isUntrusted(tried) ? growing : undefined;
  const { status, body, headers } = tried;
  if (status !== 429 && status < 500) return undefined;
  return readRefusal(status, body, headers).retryAfterMs ?? growing;
}

/** A GET for a caller that can do without it. Returns any status; undefined without an answer, or on abort. */
export async function tryGet(cluster: Cluster, path: string, options: GetOptions): Promise<ApiResponse | undefined> {
  try {
    return await requestWithRetries(cluster, { method: 'GET', path, ...options });
  } catch (error) {
    if (error instanceof PodexitError || options.signal?.aborted) return undefined;
    throw error;
  }
}
