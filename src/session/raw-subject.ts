/** What a raw recording is of: the pod, and what its recorder itself asked for. */
import type { Row } from '../recording/rows.ts';
import type { Began } from '../trace/observation.ts';
import type { Raw } from './watched.ts';
import { asRaw, metadataOf } from './watched.ts';

export interface Subject {
  namespace: string;
  name: string;
  /** The row of the recorder's own DELETE or eviction of the pod. */
  request?: Extract<Row, { type: 'request' }>;
}

/** The pod that the recorder deleted or evicted, else the one whose logs it followed, else the first that got deleted. */
export function subjectOf(rows: readonly Row[]): Subject | undefined {
  for (const row of rows) {
    const match = row.type === 'request' ? /\/namespaces\/([^/]+)\/pods\/([^/]+?)(\/eviction)?$/.exec(row.path) : null;
    const [, namespace, name, eviction] = match ?? [];
    if (row.type !== 'request' || namespace === undefined || name === undefined) continue;
    if (row.method === 'DELETE' || (row.method === 'POST' && eviction)) return { namespace, name, request: row };
  }
  const deleted = rows.find(
    (row) =>
      row.type === 'watch' && row.resource === 'pods' && metadataOf(row.object)['deletionTimestamp'] !== undefined,
  );
  const followed = rows.find((row) => row.type === 'log-open');
  const pods = podsOf(rows);
  const name =
    followed?.type === 'log-open'
      ? followed.pod
      : deleted?.type === 'watch'
        ? textOf(metadataOf(deleted.object)['name'])
        : undefined;
  const pod =
    pods.find((one) => metadataOf(one)['name'] === name) ?? (deleted?.type === 'watch' ? deleted.object : undefined);
  return pod && name !== undefined ? { namespace: textOf(metadataOf(pod)['namespace']), name } : undefined;
}

/** All objects that any list of the recording holds of a resource. */
export const listsOf = (rows: readonly Row[], resource: string): Raw[] =>
  rows.flatMap((row) => (row.type === 'list' && row.resource === resource ? row.objects : []));

/** A string, or the empty one for anything else: recordings are untrusted. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** All pods of its lists, newer states of one pod behind older ones. */
export const podsOf = (rows: readonly Row[]): Raw[] => listsOf(rows, 'pods');

/** What the API server answered to the recorder's own request. */
export function responseTo(rows: readonly Row[], { request }: Subject): Row | undefined {
  const sent = request ? rows.indexOf(request) : -1;
  return rows
    .slice(sent + 1)
    .find((row) => row.type === 'response' && row.path === request?.path && row.method === request.method);
}

/** How a live run of the same would have begun. */
export function began({ namespace, name, request }: Subject): Began {
  const evicts = request?.path.endsWith('/eviction') === true;
  const mode = request ? (evicts ? 'evict' : 'delete') : 'attach';
  return {
    kind: 'began',
    mode,
    namespace,
    name,
    graceSeconds: graceOf(request),
    timeoutSeconds: null,
    waitReplacement: false,
  };
}

/** Seconds that the recorder asked for with its request; null: the pod's own. */
export function graceOf(request: Subject['request']): number | null {
  const options = request?.path.endsWith('/eviction') ? asRaw(request.body['deleteOptions']) : request?.body;
  const grace = options?.['gracePeriodSeconds'];
  return typeof grace === 'number' ? grace : null;
}

/** Of the request's path: an eviction is a POST to a subresource. */
export const verbOf = (row: Extract<Row, { type: 'request' }>): 'delete' | 'evict' =>
  row.path.endsWith('/eviction') ? 'evict' : 'delete';
