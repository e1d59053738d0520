/**
 * Raw recordings of a whole namespace: list and watch rows from a recorder beside the cluster, with more than a live
 * run would see. This file only parses them; run/raw-replay.ts selects what a live run would have requested.
 */
import { asObject, metadataOf, type JsonObject } from '../model/observe/read.ts';
import type { ParsedLine } from './read-lines.ts';

/** `at`: ms, client clock. */
export type Row = { at: number } & (
  | { type: 'list'; resource: string; date?: number; resourceVersion: string; objects: JsonObject[] }
  | { type: 'ready' }
  | { type: 'request'; method: string; path: string; body: JsonObject }
  | { type: 'response'; method: string; path: string; status: number; date?: number; body: JsonObject }
  | { type: 'watch'; resource: string; change: 'ADDED' | 'MODIFIED' | 'DELETED'; object: JsonObject }
  | { type: 'watch-end'; resource: string }
  | { type: 'log-open'; pod: string; container: string; status: number }
  | { type: 'log'; pod: string; container: string; line: string }
  | { type: 'log-end'; pod: string; container: string }
);

/** Parses a row; undefined for unknown rows (BOOKMARKs, notes). */
export function rowOf({ value }: ParsedLine): Row | undefined {
  const row = asObject(value);
  const at = Date.parse(text(row['at']));
  // Object.hasOwn: a file may call its row `constructor`.
  const type = text(row['type']);
  const parse = Object.hasOwn(parsers, type) ? parsers[type] : undefined;
  const rest = parse && Number.isFinite(at) ? parse(row) : undefined;
  return rest && ({ at, ...rest } as Row);
}

type Rest = JsonObject | undefined;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

function dateOf(row: JsonObject): number | undefined {
  const date = Date.parse(text(row['date']));
  return Number.isFinite(date) ? date : undefined;
}

const requestFields = (row: JsonObject) => ({
  method: text(row['method']),
  path: text(row['path']),
  body: asObject(row['body']),
});

const containerFields = (row: JsonObject) => ({ pod: text(row['pod']), container: text(row['container']) });

const watchEnd = (row: JsonObject) => ({ type: 'watch-end', resource: text(row['resource']) });

const parsers: Record<string, (row: JsonObject) => Rest> = {
  list: (row) => {
    const list = asObject(row['list']);
    const resourceVersion = text(metadataOf(list)['resourceVersion']);
    const objects = Array.isArray(list['items']) ? list['items'].map(asObject) : [];
    return { type: 'list', resource: text(row['resource']), resourceVersion, objects, date: dateOf(row) };
  },
  ready: () => ({ type: 'ready' }),
  request: (row) => ({ type: 'request', ...requestFields(row) }),
  response: (row) => ({ type: 'response', ...requestFields(row), status: count(row['status']), date: dateOf(row) }),
  watch: (row) => {
    const event = asObject(row['event']);
    const change = text(event['type']);
    if (!['ADDED', 'MODIFIED', 'DELETED'].includes(change)) return undefined;
    return { type: 'watch', resource: text(row['resource']), change, object: asObject(event['object']) };
  },
  'watch-end': watchEnd,
  'watch-error': watchEnd,
  'log-open': (row) => ({ type: 'log-open', ...containerFields(row), status: count(row['status']) }),
  log: (row) => ({ type: 'log', ...containerFields(row), line: text(row['line']) }),
  'log-end': (row) => ({ type: 'log-end', ...containerFields(row) }),
};
