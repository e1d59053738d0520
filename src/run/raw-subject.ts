/** Which pod a raw recording is about, and the recorder's own requests that may have deleted it. Pure. */
import { asObject, metadataOf, type JsonObject } from '../model/observe/read.ts';
import type { Row } from '../recording/rows.ts';
import type { Began } from '../model/observation.ts';
import { isTerminatingPod, namespaceOf } from './watched.ts';

export interface Subject {
  namespace: string;
  name: string;
  /** The recorder's own DELETE or eviction of the pod. */
  request?: RequestRow | undefined;
}

/** The pod that the recorder deleted or evicted, else the one whose logs it followed, else the first one deleted. */
export function subjectOf(rows: readonly Row[], name?: string): Subject | undefined {
  if (name !== undefined) return namedSubject(rows, name);
  const seen = new Set(rows.flatMap(podsIn).map((pod) => metadataOf(pod)['name']));
  const removed = removedSubject(rows, seen);
  return removed && seen.has(removed.name) ? removed : (watchedSubject(rows) ?? removed);
}

/** The pod of that name, and the recorder's own request that deleted it. */
function namedSubject(rows: readonly Row[], name: string): Subject | undefined {
  const [pod] = rows.flatMap(podsIn).filter((one) => metadataOf(one)['name'] === name);
  const removals = removalsOf(rows).filter((one) => one.name === name);
  const marking = effectiveRemoval(removals, terminatingRows(rows).get(name));
  return pod && { namespace: textOf(metadataOf(pod)['namespace']), name, request: marking?.request };
}

/**
 * The recorder may also have cleaned up other pods. Preferred, in this order: a pod that was seen, one whose logs were
 * followed, one whose removal was accepted; among equals the first one removed.
 */
function removedSubject(rows: readonly Row[], seen: ReadonlySet<unknown>): Subject | undefined {
  const marks = terminatingRows(rows);
  const followed = new Set(rows.flatMap((row) => (row.type === 'log-open' ? [row.pod] : [])));
  const rankOf = ({ name, doubt }: Removal): number =>
    Number(seen.has(name)) * 4 + Number(followed.has(name)) * 2 + Number(doubt === 0);
  const removals = removalsOf(rows);
  const [found] = [...new Set(removals.map(podOf))]
    .map((pod) => removals.filter((one) => podOf(one) === pod))
    .flatMap((ofPod) => effectiveRemoval(ofPod, marks.get(ofPod[0]?.name)) ?? [])
    .sort((a, b) => rankOf(b) - rankOf(a));
  return found && { namespace: found.namespace, name: found.name, request: found.request };
}

const podOf = ({ namespace, name }: Removal): string => `${namespace}/${name}`;

function watchedSubject(rows: readonly Row[]): Subject | undefined {
  const deleted = rows.flatMap((row) => (row.type === 'watch' ? podsIn(row) : [])).find(isTerminatingPod);
  const followed = rows.find((row) => row.type === 'log-open');
  const name = followed?.type === 'log-open' ? followed.pod : deleted && textOf(metadataOf(deleted)['name']);
  const pod = podsOf(rows).find((one) => metadataOf(one)['name'] === name) ?? deleted;
  return pod && name !== undefined ? { namespace: textOf(metadataOf(pod)['namespace']), name } : undefined;
}

/** Whether several pods terminated and the recorder's own requests do not single out one of them. */
export function coversSeveralPods(rows: readonly Row[]): boolean {
  const removed = new Set(removalsOf(rows).map(({ name }) => name));
  return removed.size !== 1 && terminatingRows(rows).size > 1;
}

/** All objects of a resource, from all lists of the recording. */
export const listsOf = (rows: readonly Row[], resource: string): JsonObject[] =>
  rows.flatMap((row) => (row.type === 'list' && row.resource === resource ? row.objects : []));

/** The string, or '' for any other value: recordings are untrusted. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** All pods of all lists; of one pod the newer states come later. */
export const podsOf = (rows: readonly Row[]): JsonObject[] => listsOf(rows, 'pods');

const attachDefaults = { graceSeconds: null, timeoutSeconds: null, waitReplacement: false };

/** The `began` of a live run about this pod. */
export const began = ({ namespace, name, request }: Subject): Began => ({
  ...attachDefaults,
  kind: 'began',
  mode: request ? verbOf(request) : 'attach',
  namespace,
  name,
  graceSeconds: graceOf(request),
});

/** The `began` of a live run that attached to all pods. */
export function beganOfAll(rows: readonly Row[]): Began {
  const namespace = namespaceOf(rows.flatMap(podsIn)[0] ?? {}) ?? '';
  const target = namespace === '' ? 'several namespaces' : `namespace ${namespace}`;
  return { ...attachDefaults, kind: 'began', mode: 'attach', namespace, name: '', target };
}

export type RequestRow = Extract<Row, { type: 'request' }>;
type ResponseRow = Extract<Row, { type: 'response' }>;

/** A request that deletes or evicts a pod. */
export interface Removal {
  namespace: string;
  name: string;
  request: RequestRow;
  /** Index of its row. */
  rowIndex: number;
  /** 0: accepted. 1: no answer or a server error: the request may have succeeded. 2: refused. */
  doubt: 0 | 1 | 2;
}

/** All removals, oldest first, without dry runs: these delete nothing, whatever the answer looks like. */
export function removalsOf(rows: readonly Row[]): Removal[] {
  const removals: Removal[] = [];
  const answers = new Map<string, ResponseRow>();
  // Backwards, so that `answers` holds the first answer after each request.
  for (const [rowIndex, row] of [...rows.entries()].reverse()) {
    if (row.type === 'response') answers.set(requestLineOf(row), row);
    if (row.type !== 'request' || isDryRun(row)) continue;
    const pod = removedBy(row);
    if (pod) removals.push({ ...pod, request: row, rowIndex, doubt: doubtOf(answers.get(requestLineOf(row))) });
  }
  return removals.reverse();
}

function removedBy(row: RequestRow): { namespace: string; name: string } | undefined {
  const [, namespace, name, eviction] = /\/namespaces\/([^/]+)\/pods\/([^/]+?)(\/eviction)?$/.exec(pathOf(row)) ?? [];
  const isRemoval = row.method === 'DELETE' || (row.method === 'POST' && eviction !== undefined);
  return isRemoval && namespace !== undefined && name !== undefined ? { namespace, name } : undefined;
}

function doubtOf(answer: ResponseRow | undefined): Removal['doubt'] {
  const status = answer?.status ?? 0;
  if (status >= 200 && status < 300) return 0;
  return status >= 300 && status < 500 ? 2 : 1;
}

/**
 * The removal of a pod that set its deletionTimestamp: one sent before the pod was terminating (row `markedAt`), and
 * not a refused one if another was not. Of several accepted ones the first: the later ones found the pod terminating
 * already.
 */
function effectiveRemoval(ofPod: readonly Removal[], markedAt = Infinity): Removal | undefined {
  const before = ofPod.filter(({ rowIndex }) => rowIndex < markedAt);
  return (before.length > 0 ? before : ofPod).toSorted((a, b) => a.doubt - b.doubt)[0];
}

/** The index of the row that first shows each pod terminating or gone, by name. */
export function terminatingRows(rows: readonly Row[]): Map<unknown, number> {
  const marks = new Map<unknown, number>();
  for (const [place, row] of rows.entries())
    for (const pod of podsIn(row)) {
      const { name, deletionTimestamp } = metadataOf(pod);
      const isGone = row.type === 'watch' && row.change === 'DELETED';
      if ((deletionTimestamp !== undefined || isGone) && !marks.has(name)) marks.set(name, place);
    }
  return marks;
}

/** The pod states in a row. */
export function podsIn(row: Row): JsonObject[] {
  if (row.type === 'list' && row.resource === 'pods') return row.objects;
  return row.type === 'watch' && row.resource === 'pods' ? [row.object] : [];
}

/** The API server's answer. If the same request was sent twice before an answer, it may belong to either. */
export function answerTo(rows: readonly Row[], request: RequestRow): ResponseRow | undefined {
  return rows
    .slice(rows.indexOf(request) + 1)
    .find((row): row is ResponseRow => row.type === 'response' && requestLineOf(row) === requestLineOf(request));
}

/** Evictions are POSTs to a subresource. */
export const verbOf = (row: RequestRow): 'delete' | 'evict' => (pathOf(row).endsWith('/eviction') ? 'evict' : 'delete');

/**
 * The grace period in seconds of the recorder's request: from its body or, if that is empty, from its query (SIGNALS.md
 * §1); an eviction has it only in its body. Null: the pod's own.
 */
export function graceOf(request: RequestRow | undefined): number | null {
  if (!request) return null;
  const inBody = optionsOf(request)['gracePeriodSeconds'];
  if (typeof inBody === 'number') return inBody;
  if (verbOf(request) === 'evict' || !isEmpty(request)) return null;
  const inQuery = queryOf(request).get('gracePeriodSeconds') ?? '';
  return /^\d{1,9}$/.test(inQuery) ? Number(inQuery) : null;
}

/** An eviction is a create request: its query counts in addition to the DeleteOptions in its body. */
function isDryRun(request: RequestRow): boolean {
  const inBody = [request.body, optionsOf(request)].flatMap((options) => options['dryRun'] ?? []);
  const isAsked = verbOf(request) === 'evict' || isEmpty(request);
  return [...inBody, ...(isAsked ? queryOf(request).getAll('dryRun') : [])].includes('All');
}

const isEmpty = ({ body }: RequestRow): boolean => Object.keys(body).length === 0;

const optionsOf = (request: RequestRow): JsonObject =>
  verbOf(request) === 'evict' ? asObject(request.body['deleteOptions']) : request.body;

/** The request line, by which an answer refers to its request. */
const requestLineOf = (row: RequestRow | ResponseRow): string => `${row.method} ${pathOf(row)}`;

const pathOf = ({ path }: RequestRow | ResponseRow): string => path.split('?', 1)[0] ?? '';

const queryOf = ({ path }: RequestRow): URLSearchParams => new URLSearchParams(path.split('?').slice(1).join('?'));
