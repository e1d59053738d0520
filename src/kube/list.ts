import { asArray, asObject } from '../model/observe/read.ts';
import type { Deliver } from '../model/observation.ts';
import { selectors, type WatchTarget } from './resource-path.ts';
import type { ApiRequest, ApiResponse, Cluster } from './cluster.ts';
import type { AttemptEnd } from './decide.ts';
import { requestWithRetries } from './get.ts';
import { isTooLarge } from './http/body.ts';
import { wholeText, continueOf, readRefusal, versionOf, type Refusal } from './status.ts';
import { maxWatchLineBytes } from './server-errors.ts';

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
