import { asObject, metadataOf } from '../model/observe/read.ts';
import type { Deliver, RawObservation } from '../model/observation.ts';
import { acceptMetadata, selectors, type WatchTarget } from './resource-path.ts';
import type { ApiResponse, Cluster } from './cluster.ts';
import { decide, pick, type Outcome } from './decide.ts';
import { requestWithRetries } from './get.ts';
import { isTooLarge } from './http/body.ts';
import { TransportFailure } from './http/failure.ts';
import { asArray, asText, continueOf, readRefusal, versionOf, type Refusal } from './status.ts';
import { delay } from './env.ts';
import { mostLineBytes, notReached, stopError } from './server-errors.ts';

export type ListResult =
  | { kind: 'listed'; resourceVersion: string; objects: unknown[]; sentAt: number; at: number; dated: RawObservation[] }
  | { kind: 'failed'; outcome: Outcome; refusal: Refusal; dated: RawObservation[] };

/** As large as kubectl asks for: fewer round trips than pages of 100, and no page that blocks the server. */
const pageSize = '500';
const mostRestarts = 3;
/** Half a million objects: beyond that it is a server that never ends its list. */
const mostPages = 1000;

export interface ListOptions {
  signal: AbortSignal;
  /** The server may answer from its cache, but never with a state from before this version. */
  notOlderThan?: string;
  /** How a page is requested: once, or again while the server is busy (get.ts). */
  send?: typeof requestWithRetries;
}

const requestOnce: typeof requestWithRetries = (cluster, request) => cluster.request(request);

/**
 * The whole collection, page by page. When the pages expire on the way (410) the list starts again: half an old state and
 * half a new one is no state. Throws what Cluster.request throws.
 */
export async function listObjects(cluster: Cluster, target: WatchTarget, options: ListOptions): Promise<ListResult> {
  for (let restarts = 0; ; restarts++) {
    const result = await listPages(cluster, target, options);
    const expired = result.kind === 'failed' && result.refusal.status === 410;
    if (!expired || restarts === mostRestarts) return result;
  }
}

async function listPages(cluster: Cluster, target: WatchTarget, options: ListOptions): Promise<ListResult> {
  const objects: unknown[] = [];
  const dated: RawObservation[] = [];
  let sentAt: number | undefined;
  let next = '';
  for (let pages = 0; pages < mostPages; pages++) {
    const answer = await requestPage(cluster, target, next, options);
    if (answer === undefined) return noList({ kind: 'oversized', refusal: noStatus, verb: 'list' }, dated);
    dated.push(...answer.dated);
    sentAt ??= answer.sentAt;
    if (answer.status !== 200) return failed(answer, dated);
    const resourceVersion = versionOf(answer.body);
    if (resourceVersion === undefined) return noList({ kind: isList(answer.body) ? 'cut' : 'foreign' }, dated);
    objects.push(...itemsOf(answer.body));
    const last = next;
    next = continueOf(answer.body);
    if (next === '') return { kind: 'listed', resourceVersion, objects, sentAt, at: answer.at, dated };
    if (next === last) return noList({ kind: 'cut' }, dated);
  }
  return noList({ kind: 'cut' }, dated);
}

/** Undefined where it is larger than what is read. One named object may be no larger than a watch may bring it. */
async function requestPage(
  cluster: Cluster,
  target: WatchTarget,
  next: string,
  options: ListOptions,
): Promise<ApiResponse | undefined> {
  const { signal, notOlderThan, send = requestOnce } = options;
  const query = pageQuery(target, next, notOlderThan);
  const mostBytes = target.name === undefined ? undefined : mostLineBytes;
  try {
    return await send(cluster, { method: 'GET', path: target.path, query, signal, mostBytes });
  } catch (error) {
    if (isTooLarge(error)) return undefined;
    throw error;
  }
}

function pageQuery(target: WatchTarget, next: string, notOlderThan: string | undefined): Record<string, string> {
  const query = { ...selectors(target), limit: pageSize };
  // A continue token holds the version of its first page and excludes any other.
  if (next !== '') return { ...query, continue: next };
  if (notOlderThan === undefined) return query;
  return { ...query, resourceVersion: notOlderThan, resourceVersionMatch: 'NotOlderThan' };
}

/** The items of a list carry neither kind nor apiVersion; those of a watch do. Here they all do. */
function itemsOf(list: unknown): unknown[] {
  const { kind, apiVersion, items } = asObject(list);
  const itemKind = asText(kind).replace(/List$/, '');
  return asArray(items).map((item) => ({ kind: itemKind, apiVersion, ...asObject(item) }));
}

function failed(answer: ApiResponse, dated: RawObservation[]): ListResult {
  const refusal = readRefusal(answer.status, answer.body, answer.headers);
  const behind = refusal.status === 504 && refusal.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge');
  const outcome: Outcome = behind ? { kind: 'behind' } : { kind: 'refused', refusal, frame: false, verb: 'list' };
  return { kind: 'failed', outcome, refusal, dated };
}

const isList = (body: unknown): boolean => asText(asObject(body)['kind']).endsWith('List');

/** For a 200 that says nothing of Kubernetes. */
const noStatus = readRefusal(200, undefined);

/** A 200 that is no list (a login page, a proxy's own words), or a list without a version or an end: ask again later. */
function noList(outcome: Outcome, dated: RawObservation[] = []): ListResult {
  return { kind: 'failed', outcome, refusal: noStatus, dated };
}

/**
 * One list that somebody waits for: requested again while the server is busy, though not for ever. Throws PodexitError `server.unreachable` or `server.untrusted`, and
 * the signal's reason on abort.
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
 * One list that a run wants, however busy the server is: it waits as `decide` has it for watches. The list, or what refuses it
 * for good; undefined on abort, and when the cluster is closed. `deliver` gets the `Date` of each answer. Throws PodexitError
 * `auth.unauthorized`, `server.untrusted`, `server.not-kubernetes`, or `server.unreachable` where no request of this run was ever
 * answered.
 */
export async function listUntilAnswered(
  cluster: Cluster,
  target: WatchTarget,
  { signal, deliver }: { signal: AbortSignal; deliver: Deliver },
): Promise<ListResult | undefined> {
  let foreign = 0;
  for (let failures = 0; ; failures++) {
    const result = await listObjects(cluster, target, { signal }).catch((error: unknown) => {
      if (error instanceof TransportFailure) return noList({ kind: 'unanswered', failure: error });
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
    const ms = pick(next.wait, cluster.env.random());
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

/** Who is in a collection, by metadata alone; undefined where the server does not say, or not of all. */
export async function listUids(cluster: Cluster, target: WatchTarget, signal: AbortSignal): Promise<Uids | undefined> {
  const query = { ...selectors(target), limit: pageSize };
  const accept = acceptMetadata('PartialObjectMetadataList');
  try {
    const request = { method: 'GET', path: target.path, query, accept, signal } as const;
    const { status, body, sentAt, at } = await requestWithRetries(cluster, request);
    const resourceVersion = versionOf(body);
    const isWhole = continueOf(body) === '';
    if (status !== 200 || resourceVersion === undefined || !isWhole) return undefined;
    const uids = asArray(asObject(body)['items']).map((item) => asText(metadataOf(item)['uid']));
    return { resourceVersion, uids, sentAt, at };
  } catch (error) {
    if (error instanceof TransportFailure || signal.aborted) return undefined;
    throw error;
  }
}
