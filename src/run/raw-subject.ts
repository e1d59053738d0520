/** What a raw recording is of: the pod, and what its recorder itself asked of the API server that can have deleted one. Pure. */
import { asObject, metadataOf, type JsonObject } from '../model/observe/read.ts';
import type { Row } from '../recording/rows.ts';
import type { Began } from '../model/observation.ts';
import { isTerminatingPod, namespaceOf } from './watched.ts';

export interface Subject {
  namespace: string;
  name: string;
  /** The row of the recorder's own DELETE or eviction of the pod. */
  request?: RequestRow;
}

/** The pod that the recorder deleted or evicted, else the one whose logs it followed, else the first that got deleted. */
export function subjectOf(rows: readonly Row[], name?: string): Subject | undefined {
  if (name !== undefined) return namedIn(rows, name);
  const seen = new Set(rows.flatMap(podsIn).map((pod) => metadataOf(pod)['name']));
  const removed = removedIn(rows, seen);
  return removed && seen.has(removed.name) ? removed : (seenIn(rows) ?? removed);
}

/** The pod of that name, and the recorder's own request for its end. */
function namedIn(rows: readonly Row[], name: string): Subject | undefined {
  const [pod] = rows.flatMap(podsIn).filter((one) => metadataOf(one)['name'] === name);
  const removals = removalsOf(rows).filter((one) => one.name === name);
  const marking = markingOf(removals, marksIn(rows).get(name));
  return (
    pod && { namespace: textOf(metadataOf(pod)['namespace']), name, ...(marking ? { request: marking.request } : {}) }
  );
}

/**
 * Somebody may have cleaned up before: of several pods the one that was seen, whose logs were followed, and whose removal was
 * accepted, in this order; of equals the one that was removed first.
 */
function removedIn(rows: readonly Row[], seen: ReadonlySet<unknown>): Subject | undefined {
  const marks = marksIn(rows);
  const followed = new Set(rows.flatMap((row) => (row.type === 'log-open' ? [row.pod] : [])));
  const rankOf = ({ name, doubt }: Removal): number =>
    Number(seen.has(name)) * 4 + Number(followed.has(name)) * 2 + Number(doubt === 0);
  const removals = removalsOf(rows);
  const [found] = [...new Set(removals.map(podOf))]
    .map((pod) => removals.filter((one) => podOf(one) === pod))
    .flatMap((ofPod) => markingOf(ofPod, marks.get(ofPod[0]?.name)) ?? [])
    .sort((a, b) => rankOf(b) - rankOf(a));
  return found && { namespace: found.namespace, name: found.name, request: found.request };
}

const podOf = ({ namespace, name }: Removal): string => `${namespace}/${name}`;

function seenIn(rows: readonly Row[]): Subject | undefined {
  const deleted = rows.flatMap((row) => (row.type === 'watch' ? podsIn(row) : [])).find(isTerminatingPod);
  const followed = rows.find((row) => row.type === 'log-open');
  const name = followed?.type === 'log-open' ? followed.pod : deleted && textOf(metadataOf(deleted)['name']);
  const pod = podsOf(rows).find((one) => metadataOf(one)['name'] === name) ?? deleted;
  return pod && name !== undefined ? { namespace: textOf(metadataOf(pod)['namespace']), name } : undefined;
}

/** Whether the recorder watched several pods end, and asked itself for the end of none, or of several. */
export function isOfSeveral(rows: readonly Row[]): boolean {
  const removed = new Set(removalsOf(rows).map(({ name }) => name));
  return removed.size !== 1 && marksIn(rows).size > 1;
}

/** All objects that any list of the recording holds of a resource. */
export const listsOf = (rows: readonly Row[], resource: string): JsonObject[] =>
  rows.flatMap((row) => (row.type === 'list' && row.resource === resource ? row.objects : []));

/** A string, or the empty one for anything else: recordings are untrusted. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** All pods of its lists, newer states of one pod behind older ones. */
export const podsOf = (rows: readonly Row[]): JsonObject[] => listsOf(rows, 'pods');

const asWatched = { graceSeconds: null, timeoutSeconds: null, waitReplacement: false };

/** How a live run of the same would have begun. */
export const began = ({ namespace, name, request }: Subject): Began => ({
  ...asWatched,
  kind: 'began',
  mode: request ? verbOf(request) : 'attach',
  namespace,
  name,
  graceSeconds: graceOf(request),
});

/** How one would have begun that attached to all pods. */
export function beganOfAll(rows: readonly Row[]): Began {
  const namespace = namespaceOf(rows.flatMap(podsIn)[0] ?? {}) ?? '';
  const target = namespace === '' ? 'several namespaces' : `namespace ${namespace}`;
  return { ...asWatched, kind: 'began', mode: 'attach', namespace, name: '', target };
}

export type RequestRow = Extract<Row, { type: 'request' }>;
type ResponseRow = Extract<Row, { type: 'response' }>;

/** A request that deletes or evicts a pod. */
export interface Removal {
  namespace: string;
  name: string;
  request: RequestRow;
  /** Its place among the rows. */
  place: number;
  /** 0: accepted. 1: no answer, or that of a server in trouble, which may have done it all the same. 2: refused. */
  doubt: 0 | 1 | 2;
}

/** All of them, oldest first. A dry run deletes nothing, whatever its answer looks like. */
export function removalsOf(rows: readonly Row[]): Removal[] {
  const removals: Removal[] = [];
  const answers = new Map<string, ResponseRow>();
  // From the end: what was met last is then the first answer behind a request.
  for (const [place, row] of [...rows.entries()].reverse()) {
    if (row.type === 'response') answers.set(lineOf(row), row);
    if (row.type !== 'request' || isDryRun(row)) continue;
    const pod = removedBy(row);
    if (pod) removals.push({ ...pod, request: row, place, doubt: doubtOf(answers.get(lineOf(row))) });
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
 * Which of the removals of one pod marked it: none that was sent when it was marked already (at `markedAt` among the rows), and
 * none that was refused where another was not. Of several that were accepted the first: those after it found it marked,
 * whether or not that was known by then.
 */
function markingOf(ofPod: readonly Removal[], markedAt = Infinity): Removal | undefined {
  const before = ofPod.filter(({ place }) => place < markedAt);
  return (before.length > 0 ? before : ofPod).toSorted((a, b) => a.doubt - b.doubt)[0];
}

/** Where among the rows each pod is first shown terminating, or gone. */
export function marksIn(rows: readonly Row[]): Map<unknown, number> {
  const marks = new Map<unknown, number>();
  for (const [place, row] of rows.entries())
    for (const pod of podsIn(row)) {
      const { name, deletionTimestamp } = metadataOf(pod);
      const isGone = row.type === 'watch' && row.change === 'DELETED';
      if ((deletionTimestamp !== undefined || isGone) && !marks.has(name)) marks.set(name, place);
    }
  return marks;
}

/** The states of pods that a row holds. */
export function podsIn(row: Row): JsonObject[] {
  if (row.type === 'list' && row.resource === 'pods') return row.objects;
  return row.type === 'watch' && row.resource === 'pods' ? [row.object] : [];
}

/** What the API server answered. Where the same was sent again before an answer came, it may be the answer to either. */
export function answerTo(rows: readonly Row[], request: RequestRow): ResponseRow | undefined {
  return rows
    .slice(rows.indexOf(request) + 1)
    .find((row): row is ResponseRow => row.type === 'response' && lineOf(row) === lineOf(request));
}

/** Of a request's path: an eviction is a POST to a subresource. */
export const verbOf = (row: RequestRow): 'delete' | 'evict' => (pathOf(row).endsWith('/eviction') ? 'evict' : 'delete');

/**
 * Seconds that the recorder asked for with its request, in its body or, where that is empty, in its query (SIGNALS.md §1); of an
 * eviction in its body alone. Null: the pod's own.
 */
export function graceOf(request: RequestRow | undefined): number | null {
  if (!request) return null;
  const inBody = optionsOf(request)['gracePeriodSeconds'];
  if (typeof inBody === 'number') return inBody;
  if (verbOf(request) === 'evict' || !isEmpty(request)) return null;
  const inQuery = queryOf(request).get('gracePeriodSeconds') ?? '';
  return /^\d{1,9}$/.test(inQuery) ? Number(inQuery) : null;
}

/** An eviction is something created, and its query says how, beside the options of its DELETE. */
function isDryRun(request: RequestRow): boolean {
  const inBody = [request.body, optionsOf(request)].flatMap((options) => options['dryRun'] ?? []);
  const isAsked = verbOf(request) === 'evict' || isEmpty(request);
  return [...inBody, ...(isAsked ? queryOf(request).getAll('dryRun') : [])].includes('All');
}

const isEmpty = ({ body }: RequestRow): boolean => Object.keys(body).length === 0;

const optionsOf = (request: RequestRow): JsonObject =>
  verbOf(request) === 'evict' ? asObject(request.body['deleteOptions']) : request.body;

/** As a request begins: its answer refers to it. */
const lineOf = (row: RequestRow | ResponseRow): string => `${row.method} ${pathOf(row)}`;

const pathOf = ({ path }: RequestRow | ResponseRow): string => path.split('?', 1)[0] ?? '';

const queryOf = ({ path }: RequestRow): URLSearchParams => new URLSearchParams(path.split('?').slice(1).join('?'));
