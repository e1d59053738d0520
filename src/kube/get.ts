import { PodexitError } from '../errors.ts';
import { asObject, type JsonObject, asArray } from '../model/observe/read.ts';
import type { ApiResponse, Cluster, ApiRequest } from './cluster.ts';
import { backoffMs, type AttemptEnd } from './decide.ts';
import { TransportFailure, isUntrusted } from './http/failure.ts';
import { isProxyPage, readRefusal, wholeText, continueOf, versionOf, type Refusal } from './status.ts';
import { delay } from './env.ts';
import { notKubernetes, notReached, unauthorized, maxWatchLineBytes } from './server-errors.ts';
import type { Deliver } from '../model/observation.ts';
import { selectors, type WatchTarget } from './resource-path.ts';
import { isTooLarge } from './http/body.ts';

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

type ListResult =
  | { kind: 'listed'; resourceVersion: string; objects: unknown[]; sentAt: number; at: number }
  | { kind: 'failed'; outcome: AttemptEnd; refusal: Refusal };

interface ListOptions {
  signal?: AbortSignal;
  /** The server may answer from its cache, but not with a state older than this version. */
  notOlderThan?: string;
  /** Requests a page again while the server is busy, and throws what `requestWithRetries` throws. */
  retry?: boolean;
  /** Gets the `Date` of each answer. */
  deliver?: Deliver;
}

/**
 * Reads the whole collection, page by page. Starts again if the pages expire meanwhile (410): half an old state and
 * half a new one is no state. Throws what Cluster.request throws.
 */
export async function listObjects(cluster: Cluster, target: WatchTarget, options: ListOptions): Promise<ListResult> {
  try {
    for (let restarts = 0; ; restarts++) {
      const result = await listPages(cluster, target, options);
      const expired = result.kind === 'failed' && result.refusal.status === 410;
      if (!expired || restarts === 3) return result;
    }
  } catch (error) {
    if (isTooLarge(error)) return failedList({ kind: 'oversized', refusal: noStatus, verb: 'list' });
    throw error;
  }
}

async function listPages(
  cluster: Cluster,
  target: WatchTarget,
  { signal, notOlderThan, retry, deliver }: ListOptions,
): Promise<ListResult> {
  const objects: unknown[] = [];
  let sentAt: number | undefined;
  let next = '';
  // Half a million objects. A server that sends more never ends its list.
  for (let pages = 0; pages < 1000; pages++) {
    const query = pageQuery(target, next, notOlderThan);
    // A list of one named object has the limit of a line of a watch.
    const maxBytes = target.name === undefined ? undefined : maxWatchLineBytes;
    const request = { method: 'GET', path: target.path, query, signal, maxBytes } as const;
    const answer = await (retry ? requestWithRetries(cluster, request) : cluster.request(request));
    answer.dated.forEach((one) => deliver?.(one));
    sentAt ??= answer.sentAt;
    if (answer.status !== 200) return refusedList(answer);
    const resourceVersion = versionOf(answer.body);
    if (resourceVersion === undefined) {
      const isList = wholeText(asObject(answer.body)['kind']).endsWith('List');
      return failedList({ kind: isList ? 'cut' : 'foreign' });
    }
    const items = itemsOf(answer.body);
    objects.push(...(target.keep ? items.map(target.keep) : items));
    const previous = next;
    next = continueOf(answer.body);
    if (next === '') return { kind: 'listed', resourceVersion, objects, sentAt, at: answer.at };
    if (next === previous) break;
  }
  return failedList({ kind: 'cut' });
}

function pageQuery(target: WatchTarget, next: string, notOlderThan: string | undefined): ApiRequest['query'] {
  // The same limit as in kubectl: fewer round trips than pages of 100, and no page that blocks the server.
  const query = { ...selectors(target), limit: '500' };
  // A continue token contains the version of its first page, and excludes any other.
  if (next !== '') return { ...query, continue: next };
  const resourceVersionMatch = notOlderThan === undefined ? undefined : 'NotOlderThan';
  return { ...query, resourceVersion: notOlderThan, resourceVersionMatch };
}

/** Adds kind and apiVersion, which the items of a watch have and those of a list lack. */
function itemsOf(list: unknown): unknown[] {
  const { kind, apiVersion, items } = asObject(list);
  const itemKind = wholeText(kind).replace(/List$/, '');
  return asArray(items, Infinity).map((item) => ({ kind: itemKind, apiVersion, ...asObject(item) }));
}

function refusedList(answer: ApiResponse): ListResult {
  const refusal = readRefusal(answer.status, answer.body, answer.headers);
  const behind = refusal.status === 504 && refusal.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge');
  return failedList(behind ? { kind: 'behind' } : { kind: 'refused', refusal, verb: 'list' }, refusal);
}

const noStatus = readRefusal(200, undefined);

/** Without a Status: no answer, an answer that is too large or not a list, no version, or no end. */
function failedList(outcome: AttemptEnd, refusal = noStatus): ListResult {
  return { kind: 'failed', outcome, refusal };
}
