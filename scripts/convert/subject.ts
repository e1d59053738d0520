/** Which pod a recording of a namespace is about, and the recorder's own requests that may have deleted it. Pure. */
import { asObject, asText, metadataOf, type JsonObject } from '../../src/model/observe/read.ts';
import type { Row } from './rows.ts';
import type { Began } from '../../src/model/observation.ts';
import { isTerminatingPod, namespaceOf } from '../../src/run/streams/watched.ts';

export interface Subject {
  namespace: string;
  name: string;
  /** The recorder's own DELETE or eviction of the pod. */
  removal?: Removal | undefined;
}

/** The pod that the recorder deleted or evicted, else the one whose logs it followed, else the first one deleted. */
export function subjectOf(rows: readonly Row[], name?: string): Subject | undefined {
  const podNamed = (name?: string) => rows.flatMap(podsIn).find((one) => metadataOf(one)['name'] === name);
  const removal = effectiveRemoval(rows, name);
  if (name !== undefined) {
    const pod = podNamed(name);
    return pod && { namespace: namespaceOf(pod) ?? '', name, removal };
  }
  const removed = removal && { namespace: removal.namespace, name: removal.name, removal };
  return podNamed(removed?.name) ? removed : (watchedSubject(rows) ?? removed);
}

function watchedSubject(rows: readonly Row[]): Subject | undefined {
  const deleted = rows.flatMap((row) => (row.type === 'watch' ? podsIn(row) : [])).find(isTerminatingPod);
  const followed = rows.find((row) => row.type === 'log-open');
  const name = followed?.pod ?? (deleted && asText(metadataOf(deleted)['name']));
  const pod = podsOf(rows).find((one) => metadataOf(one)['name'] === name) ?? deleted;
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

/** All removals, oldest first, without dry runs: these delete nothing, whatever the answer looks like. */
export function removalsOf(rows: readonly Row[]): Removal[] {
  const removals: Removal[] = [];
  for (const [rowIndex, request] of rows.entries()) {
    if (request.type !== 'request' || isDryRun(request)) continue;
    const [, namespace, name, eviction] = removedPath.exec(pathOf(request)) ?? [];
    const isRemoval = request.method === 'DELETE' || (request.method === 'POST' && eviction !== undefined);
    if (!isRemoval || namespace === undefined || name === undefined) continue;
    const answer = rows.slice(rowIndex + 1).find((row) => row.type === 'response' && isAnswerTo(request, row));
    removals.push({ namespace, name, request, rowIndex, answer: answer as ResponseRow | undefined });
  }
  return removals;
}

const removedPath = /\/namespaces\/([^/]+)\/pods\/([^/]+?)(\/eviction)?$/;

const isAnswerTo = (request: RequestRow, response: ResponseRow): boolean =>
  request.method === response.method && pathOf(request) === pathOf(response);

/** 0: accepted. 1: no answer or a server error: the request may have succeeded. 2: refused. */
function doubtOf({ answer }: Removal): 0 | 1 | 2 {
  const status = answer?.status ?? 0;
  if (status >= 200 && status < 300) return 0;
  return status >= 300 && status < 500 ? 2 : 1;
}

/**
 * The removal that set a deletionTimestamp, of the pod `name` or of any pod: the recorder may also have cleaned up
 * others. Of one pod it is one sent before the pod was terminating, and not a refused one if another was not; of several
 * accepted ones the first, because the later ones found the pod terminating already. Of the pods, preferred in this
 * order: a pod that was seen, one whose logs were followed, one whose removal was accepted; among equals the first one.
 */
function effectiveRemoval(rows: readonly Row[], name?: string): Removal | undefined {
  const seen = new Set(rows.flatMap(podsIn).map((pod) => metadataOf(pod)['name']));
  const followed = new Set(rows.flatMap((row) => (row.type === 'log-open' ? [row.pod] : [])));
  const marks = terminatingRows(rows);
  const removals = removalsOf(rows).filter((one) => name === undefined || one.name === name);
  const podOf = (one: Removal): string => `${one.namespace}/${one.name}`;
  const rankOf = (one: Removal): number =>
    Number(seen.has(one.name)) * 4 + Number(followed.has(one.name)) * 2 + Number(doubtOf(one) === 0);
  return [...new Set(removals.map(podOf))]
    .flatMap((pod) => {
      const ofPod = removals.filter((one) => podOf(one) === pod);
      const before = ofPod.filter((one) => one.rowIndex < (marks.get(one.name) ?? Infinity));
      return (before.length > 0 ? before : ofPod).sort((a, b) => doubtOf(a) - doubtOf(b)).slice(0, 1);
    })
    .sort((a, b) => rankOf(b) - rankOf(a))[0];
}

/** Evictions are POSTs to a subresource. */
export const verbOf = (row: RequestRow): 'delete' | 'evict' => (pathOf(row).endsWith('/eviction') ? 'evict' : 'delete');

/**
 * The grace period in seconds of the recorder's request: from its body or, if that is empty, from its query (SIGNALS.md
 * §1); an eviction has it only in its body. Null: the pod's own.
 */
export function graceOf(request: RequestRow): number | null {
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

const pathOf = ({ path }: RequestRow | ResponseRow): string => path.split('?', 1)[0] ?? '';

const queryOf = ({ path }: RequestRow): URLSearchParams => new URLSearchParams(path.split('?').slice(1).join('?'));
