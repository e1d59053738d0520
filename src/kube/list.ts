import { asObject, metadataOf } from '../model/observe/read.ts';
import type { Deliver, RawObservation } from '../model/observation.ts';
import { acceptMetadata, selectors, type WatchTarget } from './resource-path.ts';
import type { ApiResponse, Cluster } from './cluster.ts';
import { decide, randomMs, type Outcome } from './decide.ts';
import { requestWithRetries } from './get.ts';
import { isTooLarge } from './http/body.ts';
import { TransportFailure, answerIfAny } from './http/failure.ts';
import { asArray, asText, continueOf, readRefusal, versionOf, type Refusal } from './status.ts';
import { delay } from './env.ts';
import { maxWatchLineBytes, notReached, stopError } from './server-errors.ts';

export type ListResult =
  | { kind: 'listed'; resourceVersion: string; objects: unknown[]; sentAt: number; at: number; dated: RawObservation[] }
  | { kind: 'failed'; outcome: Outcome; refusal: Refusal; dated: RawObservation[] };

/** The same as in kubectl: fewer round trips than pages of 100, and no page that blocks the server. */
const pageSize = '500';
const maxRestarts = 3;
/** Half a million objects. A server that sends more never ends its list. */
const maxPages = 1000;

export interface ListOptions {
  signal: AbortSignal;
  /** The server may answer from its cache, but not with a state older than this version. */
  notOlderThan?: string;
  /** Requests a page: once, or again while the server is busy (get.ts). */
  send?: typeof requestWithRetries;
}

const requestOnce: typeof requestWithRetries = (cluster, request) => cluster.request(request);

/**
 * Reads the whole collection, page by page. Starts again if the pages expire meanwhile (410): half an old state and
 * half a new one is no state. Throws what Cluster.request throws.
 */
export async function listObjects(cluster: Cluster, target: WatchTarget, options: ListOptions): Promise<ListResult> {
  for (let restarts = 0; ; restarts++) {
    const result = await listPages(cluster, target, options);
    const expired = result.kind === 'failed' && result.refusal.status === 410;
    if (!expired || restarts === maxRestarts) return result;
  }
}

async function listPages(cluster: Cluster, target: WatchTarget, options: ListOptions): Promise<ListResult> {
  const objects: unknown[] = [];
  const dated: RawObservation[] = [];
  let sentAt: number | undefined;
  let next = '';
  for (let pages = 0; pages < maxPages; pages++) {
    const answer = await requestPage(cluster, target, next, options);
    if (answer === undefined) return failedList({ kind: 'oversized', refusal: noStatus, verb: 'list' }, dated);
    dated.push(...answer.dated);
    sentAt ??= answer.sentAt;
    if (answer.status !== 200) return failed(answer, dated);
    const resourceVersion = versionOf(answer.body);
    if (resourceVersion === undefined) return failedList({ kind: isList(answer.body) ? 'cut' : 'foreign' }, dated);
    objects.push(...itemsOf(answer.body));
    const previous = next;
    next = continueOf(answer.body);
    if (next === '') return { kind: 'listed', resourceVersion, objects, sentAt, at: answer.at, dated };
    if (next === previous) return failedList({ kind: 'cut' }, dated);
  }
  return failedList({ kind: 'cut' }, dated);
}

/** Undefined if the page is too large. A list of one named object has the limit of a line of a watch. */
async function requestPage(
  cluster: Cluster,
  target: WatchTarget,
  next: string,
  options: ListOptions,
): Promise<ApiResponse | undefined> {
  const { signal, notOlderThan, send = requestOnce } = options;
  const query = pageQuery(target, next, notOlderThan);
  const maxBytes = target.name === undefined ? undefined : maxWatchLineBytes;
  try {
    return await send(cluster, { method: 'GET', path: target.path, query, signal, maxBytes });
  } catch (error) {
    if (isTooLarge(error)) return undefined;
    throw error;
  }
}

function pageQuery(target: WatchTarget, next: string, notOlderThan: string | undefined): Record<string, string> {
  const query = { ...selectors(target), limit: pageSize };
  // A continue token contains the version of its first page, and excludes any other.
  if (next !== '') return { ...query, continue: next };
  if (notOlderThan === undefined) return query;
  return { ...query, resourceVersion: notOlderThan, resourceVersionMatch: 'NotOlderThan' };
}

/** Adds kind and apiVersion, which the items of a watch have and those of a list lack. */
function itemsOf(list: unknown): unknown[] {
  const { kind, apiVersion, items } = asObject(list);
  const itemKind = asText(kind).replace(/List$/, '');
  return asArray(items).map((item) => ({ kind: itemKind, apiVersion, ...asObject(item) }));
}

function failed(answer: ApiResponse, dated: RawObservation[]): ListResult {
  const refusal = readRefusal(answer.status, answer.body, answer.headers);
  const behind = refusal.status === 504 && refusal.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge');
  const outcome: Outcome = behind ? { kind: 'behind' } : { kind: 'refused', refusal, isErrorLine: false, verb: 'list' };
  return { kind: 'failed', outcome, refusal, dated };
}

const isList = (body: unknown): boolean => asText(asObject(body)['kind']).endsWith('List');

/** For an answer without a Status. */
const noStatus = readRefusal(200, undefined);

/** A list that failed without a Status: no answer, an answer that is too large or not a list, no version, or no end. */
function failedList(outcome: Outcome, dated: RawObservation[] = []): ListResult {
  return { kind: 'failed', outcome, refusal: noStatus, dated };
}

/**
 * Reads one list for a caller that waits: retries while the server is busy, but not for ever. Throws PodexitError
 * `server.unreachable` or `server.untrusted`, and the signal's reason on abort.
 */
export async function listOnce(
  cluster: Cluster,
  target: WatchTarget,
  options: { signal: AbortSignal },
): Promise<ListResult> {
  try {
    return await listObjects(cluster, target, { ...options, send: requestWithRetries });
  } catch (error) {
    if (error instanceof TransportFailure && !options.signal.aborted) throw notReached(cluster, error);
    throw error;
  }
}

/**
 * Reads one list, however long the server is busy, with the waits that `decide` has for watches. Returns the list, or a
 * final refusal; undefined on abort, and when the cluster is closed. `deliver` gets the `Date` of each answer. Throws
 * PodexitError `auth.unauthorized`, `server.untrusted`, `server.not-kubernetes`, or `server.unreachable` if no request
 * of this run was ever answered.
 */
export async function listUntilAnswered(
  cluster: Cluster,
  target: WatchTarget,
  { signal, deliver }: { signal: AbortSignal; deliver: Deliver },
): Promise<ListResult | undefined> {
  let foreign = 0;
  for (let failures = 0; ; failures++) {
    const result = await listObjects(cluster, target, { signal }).catch((error: unknown) => {
      if (error instanceof TransportFailure) return failedList({ kind: 'unanswered', failure: error });
      throw error;
    });
    if (signal.aborted || cluster.closed.aborted) return undefined;
    result.dated.forEach(deliver);
    if (result.kind === 'listed') return result;
    const counts = { failures, behind: 0, relists: 0, dead: 0, foreign };
    const next = decide(result.outcome, { ...counts, reached: cluster.memory.reached });
    foreign = result.outcome.kind === 'foreign' ? foreign + 1 : 0;
    if (next.next === 'stop') throw stopError(cluster, next.because, result.outcome);
    if (next.next === 'refuse') return result;
    const ms = randomMs(next.wait, cluster.env.random());
    if (!(await delay(cluster.env, ms, AbortSignal.any([signal, cluster.closed])))) return undefined;
  }
}

export interface Uids {
  resourceVersion: string;
  uids: string[];
  /** ms, client clock. */
  sentAt: number;
  at: number;
}

/** The uids of a collection, from metadata only; undefined if the server does not list them all in one page. */
export async function listUids(cluster: Cluster, target: WatchTarget, signal: AbortSignal): Promise<Uids | undefined> {
  const query = { ...selectors(target), limit: pageSize };
  const accept = acceptMetadata('PartialObjectMetadataList');
  const request = { method: 'GET', path: target.path, query, accept, signal } as const;
  const answer = await answerIfAny(requestWithRetries(cluster, request), signal);
  const resourceVersion = versionOf(answer?.body);
  const isWhole = continueOf(answer?.body) === '';
  if (answer?.status !== 200 || resourceVersion === undefined || !isWhole) return undefined;
  const uids = asArray(asObject(answer.body)['items']).map((item) => asText(metadataOf(item)['uid']));
  return { resourceVersion, uids, sentAt: answer.sentAt, at: answer.at };
}
