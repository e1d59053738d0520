import { valueAt, isRecord, type ChangeType, type KubeObject } from '../data/kube-object.ts';
import type { Stored } from '../data/log.ts';
import type { RecordedAnswer, Row, RowOf, Scenario, Truth } from '../scenario.ts';
import { parseStamp, type Nanoseconds } from '../clock.ts';

/** A recording prepared for playing. Every `at` is a recorded time in milliseconds. */
export interface Story {
  namespace: string;
  /** The pod whose end was recorded. */
  pod: string;
  /** When the recorder had all its watches open. */
  readyAt: number;
  trigger: Trigger;
  /** The revision of the first lists. */
  revision: number;
  objects: Seen[];
  /** What happened after the lists were read, in order. */
  cues: Cue[];
  logs: LogTrack[];
  truths: Truth[];
}

/** The recorder's first request, which began the pod's end. */
export interface Trigger {
  /** `other` is a request about something else, which made a controller delete the pod. */
  kind: 'delete' | 'evict' | 'other';
  at: number;
  method: string;
  path: string;
  answer?: RecordedAnswer & { at: number };
}

export interface Seen extends Stored {
  seenAt: number;
}

export type Cue =
  | { kind: 'change'; at: number; resource: string; type: ChangeType; object: KubeObject; revision: number }
  | { kind: 'log'; at: number; pod: string; container: string; line: LogLine }
  | { kind: 'log-end'; at: number; pod: string; container: string };

export interface LogLine {
  stamp: Nanoseconds;
  text: string;
}

/** One container's log when recording began. */
interface LogTrack {
  pod: string;
  container: string;
  /** The status of the recorded response to a request for the log. */
  status: number;
  refusal?: unknown;
  past: LogLine[];
  ended: boolean;
}

/** How long after `ready` a story without a request begins, since the recorder waited this long. */
const recorderWaitMs = 1200;

/** Prepares a scenario; `namespace` renames the one it was recorded in. */
export function prepareStory(scenario: Scenario, namespace?: string): Story {
  const recorded = recordedNamespace(scenario.rows);
  const rows =
    namespace === undefined ? scenario.rows : scenario.rows.map((row) => renamed(row, recorded, namespace) as Row);
  const lists = rows.filter((row) => row.type === 'list');
  const readyAt = ms(rows.find((row) => row.type === 'ready')?.at ?? lists.at(-1)?.at ?? '');
  const trigger = triggerOf(rows, readyAt);
  const revision = Math.max(1, ...lists.map((row) => Number(row.list.metadata.resourceVersion ?? 0)));
  return {
    namespace: namespace ?? recorded,
    pod: podOf(rows, trigger),
    readyAt,
    trigger,
    revision,
    objects: lists.flatMap(objectsOf),
    cues: cuesOf(rows, readyAt, revision, trigger),
    logs: logsOf(rows, readyAt),
    truths: rows.filter((row) => row.type === 'truth').map(({ type: _, ...truth }) => truth),
  };
}

function recordedNamespace(rows: readonly Row[]): string {
  const pods = rows.find((row) => row.type === 'list' && row.resource === 'pods') as RowOf<'list'> | undefined;
  return /\/namespaces\/([^/]+)\//.exec(pods?.path ?? '')?.[1] ?? 'default';
}

function triggerOf(rows: readonly Row[], readyAt: number): Trigger {
  const request = rows.find((row) => row.type === 'request');
  if (request === undefined) return { kind: 'other', at: readyAt + recorderWaitMs, method: '', path: '' };
  const { method, path } = request;
  const response = rows.find((row) => row.type === 'response' && row.method === method && row.path === path);
  const answer = response?.type === 'response' ? { ...response, at: ms(response.at) } : undefined;
  return { kind: triggerKind(method, path), at: ms(request.at), method, path, answer };
}

function triggerKind(method: string, path: string): Trigger['kind'] {
  if (method === 'DELETE' && /\/pods\/[^/]+$/.test(path)) return 'delete';
  return method === 'POST' && path.endsWith('/eviction') ? 'evict' : 'other';
}

function podOf(rows: readonly Row[], trigger: Trigger): string {
  const named = trigger.kind === 'other' ? undefined : /\/pods\/([^/]+)/.exec(trigger.path)?.[1];
  return named ?? rows.find((row) => row.type === 'log-open')?.pod ?? '';
}

function objectsOf(row: RowOf<'list'>): Seen[] {
  const { kind, apiVersion, items } = row.list;
  return (items ?? []).map((item) => ({
    resource: pluralOf(row.resource),
    object: { kind: kind.replace(/List$/, ''), apiVersion, ...item },
    seenAt: ms(row.at),
  }));
}

/** The recorder listed the Events about Nodes separately. */
const pluralOf = (resource: string): string => (resource === 'node-events' ? 'events' : resource);

function cuesOf(rows: readonly Row[], readyAt: number, revision: number, trigger: Trigger): Cue[] {
  const cues = rows.flatMap((row) => cueOf(row, readyAt));
  return inRevisionOrder(
    beforeResponse(cues, trigger).sort((a, b) => a.at - b.at),
    revision,
  );
}

function cueOf(row: Row, readyAt: number): Cue[] {
  if (row.type === 'watch') return changeCue(row);
  if (row.type === 'log' && isNew(row.line, readyAt)) {
    return [{ kind: 'log', at: ms(row.at), pod: row.pod, container: row.container, line: lineOf(row.line) }];
  }
  if (row.type !== 'log-end' || ms(row.at) - readyAt < 200) return [];
  return [{ kind: 'log-end', at: ms(row.at), pod: row.pod, container: row.container }];
}

function changeCue(row: RowOf<'watch'>): Cue[] {
  const { type, object } = row.event;
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return [];
  const revision = Number(object.metadata.resourceVersion);
  return [{ kind: 'change', at: ms(row.at), resource: pluralOf(row.resource), type, object, revision }];
}

/** A client may look as soon as it has the response, so what the response says must have happened by then. */
function beforeResponse(cues: Cue[], trigger: Trigger): Cue[] {
  const { answer } = trigger;
  const revision = Number(valueAt(answer?.body, 'metadata.resourceVersion') ?? 0);
  if (answer === undefined || trigger.kind !== 'delete') return cues;
  return cues.map((cue) =>
    cue.kind === 'change' && cue.resource === 'pods' && cue.revision <= revision && cue.at > answer.at
      ? { ...cue, at: answer.at }
      : cue,
  );
}

/** Watches of different kinds arrive a little out of order, but the revisions of a store only grow. */
function inRevisionOrder(cues: Cue[], base: number): Cue[] {
  let last = base;
  return cues.map((cue) => {
    if (cue.kind !== 'change') return cue;
    last = Math.max(cue.revision, last + 1);
    return { ...cue, revision: last };
  });
}

const logsOf = (rows: readonly Row[], readyAt: number): LogTrack[] =>
  rows
    .filter((row) => row.type === 'log-open')
    .map(({ pod, container, status }) => {
      const ownRows = rows.filter((row) => 'container' in row && row.pod === pod && row.container === container);
      const lines = ownRows.filter((row) => row.type === 'log').map((row) => row.line);
      const end = ownRows.find((row) => row.type === 'log-end');
      return {
        pod,
        container,
        status,
        refusal: status >= 400 && lines[0] !== undefined ? (JSON.parse(lines[0]) as unknown) : undefined,
        past: lines.filter((line) => status < 400 && !isNew(line, readyAt)).map(lineOf),
        // The stream of a container that had already ended closes as soon as it has been read.
        ended: status === 200 && end?.type === 'log-end' && ms(end.at) - readyAt < 200,
      };
    });

/** The line was written after recording began; the recorder got older ones when it opened the stream. */
const isNew = (line: string, readyAt: number): boolean => (parseStamp(stampOf(line))?.at ?? 0n) / 1_000_000n >= readyAt;

function lineOf(line: string): LogLine {
  const stamp = stampOf(line);
  return { stamp: parseStamp(stamp)?.at ?? 0n, text: line.slice(stamp.length + 1) };
}

const stampOf = (line: string): string => line.slice(0, line.indexOf(' '));

const ms = (at: string): number => Date.parse(at);

/** A row as if it had been recorded in another namespace. */
function renamed(value: unknown, from: string, to: string, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => renamed(one, from, to));
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, renamed(inner, from, to, key)]));
  }
  if (name === 'namespace' && value === from) return to;
  return name === 'path' && typeof value === 'string'
    ? value.replace(`/namespaces/${from}/`, `/namespaces/${to}/`)
    : value;
}
