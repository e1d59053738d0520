/**
 * Parses a recording of a whole namespace: the lists, watches and logs that a recorder beside the cluster received, which
 * is more than a live run requests (narrow.ts selects that). src/demo/scenarios.ts defines the format.
 */
import { asArray, asObject, metadataOf, shape } from '../../src/model/observe/read.ts';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** ms, the server's clock. */
function date(value: unknown): number | undefined {
  const time = Date.parse(text(value));
  return Number.isFinite(time) ? time : undefined;
}

const request = { method: text, path: text, body: asObject };
const container = { pod: text, container: text };

const changes = ['ADDED', 'MODIFIED', 'DELETED'] as const;

const readers = {
  list: shape({
    resource: text,
    date,
    resourceVersion: (_raw, { list }) => text(metadataOf(list)['resourceVersion']),
    objects: (_raw, { list }) => asArray(asObject(list)['items'], Infinity).map(asObject),
  }),
  ready: shape({}),
  request: shape(request),
  response: shape({ ...request, status: count, date }),
  watch: shape({
    resource: text,
    /** Checked in rowOf. */
    change: (_raw, { event }) => asObject(event)['type'] as (typeof changes)[number],
    object: (_raw, { event }) => asObject(asObject(event)['object']),
  }),
  'log-open': shape({ ...container, status: count }),
  log: shape({ ...container, line: text }),
  'log-end': shape(container),
};

type Readers = typeof readers;

/** `at`: ms, client clock. */
export type Row = { at: number } & { [T in keyof Readers]: { type: T } & ReturnType<Readers[T]> }[keyof Readers];

/** Parses a row; undefined for unknown rows (BOOKMARKs, notes). Throws an Error if the recorder lost a watch. */
export function rowOf(value: unknown): Row | undefined {
  const row = asObject(value);
  const at = Date.parse(text(row['at']));
  const type = text(row['type']);
  if (type === 'watch-end' || type === 'watch-error')
    throw new Error(`the watch of ${text(row['resource'])} ended, and what it missed is not known: record it again`);
  // Object.hasOwn: a file may call its row `constructor`.
  if (!Object.hasOwn(readers, type) || !Number.isFinite(at)) return undefined;
  const read = { at, type, ...readers[type as keyof Readers](row) } as Row;
  return read.type === 'watch' && !changes.includes(read.change) ? undefined : read;
}
