/** Which pod a recording of a namespace is about, and the recorder's own requests that may have deleted it. Pure. */
import { asNumber, asObject, metadataOf, type JsonObject } from '../../src/model/observe/read.ts';
import type { Row } from './rows.ts';
import type { Began } from '../../src/model/observation.ts';
import { isTerminatingPod, nameOf, namespaceOf } from '../../src/run/streams/watched.ts';

export interface Subject {
  namespace: string;
  name: string;
  /** The recorder's own DELETE or eviction of the pod. */
  removal?: Removal | undefined;
}

/** The pod that the recorder deleted or evicted, else the one whose logs it followed, else the first one deleted. */
export function subjectOf(rows: readonly Row[]): Subject | undefined {
  const seen = new Set(rows.flatMap(podsIn).map(nameOf));
  const removals = removalsOf(rows);
  const ofSeen = removals.filter(({ name }) => seen.has(name));
  // Of those that were refused, one may have been carried out anyway.
  const removal = ofSeen.find(isAccepted) ?? ofSeen[0];
  const [first] = removals;
  return removal ? aboutRemoved(removal) : (watchedSubject(rows) ?? (first && aboutRemoved(first)));
}

const aboutRemoved = (removal: Removal): Subject => ({ namespace: removal.namespace, name: removal.name, removal });

function watchedSubject(rows: readonly Row[]): Subject | undefined {
  const deleted = rows.flatMap((row) => (row.type === 'watch' ? podsIn(row) : [])).find(isTerminatingPod);
  const followed = rows.find((row) => row.type === 'log-open');
  const name = followed?.pod ?? (deleted && nameOf(deleted));
  const pod = podsOf(rows).find((one) => nameOf(one) === name) ?? deleted;
  return pod && name !== undefined ? { namespace: namespaceOf(pod) ?? '', name } : undefined;
}

/** Whether several pods terminated and the recorder's own requests do not single out one of them. */
export function coversSeveralPods(rows: readonly Row[]): boolean {
  const removed = new Set(removalsOf(rows).map(({ name }) => name));
  return removed.size !== 1 && terminatingRows(rows).size > 1;
}

/** The pod states in a row. */
export function podsIn(row: Row): JsonObject[] {
  if (row.type === 'list' && row.resource === 'pods') return row.objects;
  return row.type === 'watch' && row.resource === 'pods' ? [row.object] : [];
}

/** All objects of a resource, from all lists of the recording; of one object the newer states come later. */
export const listsOf = (rows: readonly Row[], resource: string): JsonObject[] =>
  rows.flatMap((row) => (row.type === 'list' && row.resource === resource ? row.objects : []));

export const podsOf = (rows: readonly Row[]): JsonObject[] => listsOf(rows, 'pods');

/** The index of the row that first shows each pod terminating or gone, by name. */
export function terminatingRows(rows: readonly Row[]): Map<unknown, number> {
  const marks = new Map<unknown, number>();
  for (const [place, row] of rows.entries())
    for (const pod of podsIn(row)) {
      const isGone = row.type === 'watch' && row.change === 'DELETED';
      const { name } = metadataOf(pod);
      if ((isGone || isTerminatingPod(pod)) && !marks.has(name)) marks.set(name, place);
    }
  return marks;
}

const attachDefaults = { graceSeconds: null, timeoutSeconds: null, waitReplacement: false };

/** The `began` of a live run about this pod. */
export const began = ({ namespace, name, removal }: Subject): Began => ({
  ...attachDefaults,
  kind: 'began',
  mode: removal ? verbOf(removal.request) : 'attach',
  namespace,
  name,
  graceSeconds: removal ? graceOf(removal.request) : null,
});

/** The `began` of a live run that attached to all pods. */
export function beganOfAll(rows: readonly Row[]): Began {
  const namespace = namespaceOf(rows.flatMap(podsIn)[0] ?? {}) ?? '';
  const target = namespace === '' ? 'several namespaces' : `namespace ${namespace}`;
  return { ...attachDefaults, kind: 'began', mode: 'attach', namespace, name: '', target };
}

type RequestRow = Extract<Row, { type: 'request' }>;
type ResponseRow = Extract<Row, { type: 'response' }>;

/** A request that deletes or evicts a pod. */
export interface Removal {
  namespace: string;
  name: string;
  request: RequestRow;
  /** Index of its row. */
  rowIndex: number;
  /** The first answer after it. If the same request was sent twice before an answer, it may belong to either. */
  answer: ResponseRow | undefined;
}

/** All removals, oldest first. */
export function removalsOf(rows: readonly Row[]): Removal[] {
  return rows.flatMap((request, rowIndex): Removal[] => {
    if (request.type !== 'request') return [];
    const [, namespace, name, eviction] = removedPath.exec(request.path) ?? [];
    const isRemoval = request.method === 'DELETE' || (request.method === 'POST' && eviction !== undefined);
    if (!isRemoval || namespace === undefined || name === undefined) return [];
    const isAnswer = (row: Row): row is ResponseRow =>
      row.type === 'response' && row.method === request.method && row.path === request.path;
    return [{ namespace, name, request, rowIndex, answer: rows.slice(rowIndex + 1).find(isAnswer) }];
  });
}

const removedPath = /\/namespaces\/([^/]+)\/pods\/([^/]+?)(\/eviction)?$/;

const isAccepted = ({ answer }: Removal): boolean => answer !== undefined && answer.status < 300;

/** Evictions are POSTs to a subresource. */
export const verbOf = ({ path }: RequestRow): 'delete' | 'evict' => (path.endsWith('/eviction') ? 'evict' : 'delete');

/** The grace period in seconds that the body of the recorder's request asks for; null: the pod's own. */
export function graceOf(request: RequestRow): number | null {
  const options = verbOf(request) === 'evict' ? asObject(request.body['deleteOptions']) : request.body;
  return asNumber(options['gracePeriodSeconds']) ?? null;
}
