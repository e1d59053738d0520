import { valueAt, type ChangeType, type KubeObject } from '../data/kube-object.ts';
import type { Stored } from '../data/log.ts';
import type { RecordedAnswer, Row, RowOf, Scenario, Truth } from '../scenarios.ts';
import { fromMs, parseStamp, formatStamp, type Nanoseconds } from '../clock.ts';

/** A recording prepared for playing. Every `at` is a recorded time in milliseconds. */
export interface PreparedScenario {
  namespace: string;
  /** The pod whose end was recorded. */
  pod: string;
  /** When the recorder had all its watches open. */
  readyAt: number;
  trigger: FirstRequest;
  /** The revision of the first lists. */
  revision: number;
  /** What the first lists contained. `seenAt`: when the list arrived. */
  objects: (Stored & { seenAt: number })[];
  /** What happened after the lists were read, in order. */
  steps: RecordedStep[];
  logs: RecordedLog[];
  truths: Truth[];
}

/** The recorder's first request, which began the pod's end. */
interface FirstRequest {
  /** `other` is a request about something else, which made a controller delete the pod. */
  kind: 'delete' | 'evict' | 'other';
  at: number;
  method: string;
  path: string;
  answer?: RecordedAnswer & { at: number };
}

/** Something that happened in the cluster, and happens again when the recording is played. */
export type RecordedStep = ChangeStep | LogStep;

export interface ChangeStep {
  kind: 'change';
  at: number;
  resource: string;
  type: ChangeType;
  object: KubeObject;
  revision: number;
}

/** A line of a container's log, or without one the log's end. */
interface LogStep {
  kind: 'log';
  at: number;
  pod: string;
  container: string;
  line?: WrittenLine;
}

/** One container's log when recording began. */
interface RecordedLog extends Pick<ContainerLog, 'status' | 'refusal' | 'lines' | 'ended'> {
  pod: string;
  container: string;
}

/** A stream that ends this soon after `ready` belongs to a container that had already ended. */
const endedBeforeMs = 200;

export function prepareScenario({ rows }: Scenario): PreparedScenario {
  const lists = rows.filter((row) => row.type === 'list');
  const readyAt = ms(rows.find((row) => row.type === 'ready')?.at ?? lists.at(-1)?.at ?? '');
  const trigger = triggerOf(rows, readyAt);
  const revision = Math.max(1, ...lists.map((row) => Number(row.list.metadata.resourceVersion ?? 0)));
  const pods = lists.find(({ resource }) => resource === 'pods');
  const named = trigger.kind === 'other' ? undefined : /\/pods\/([^/]+)/.exec(trigger.path)?.[1];
  return {
    namespace: /\/namespaces\/([^/]+)\//.exec(pods?.path ?? '')?.[1] ?? 'default',
    pod: named ?? rows.find((row) => row.type === 'log-open')?.pod ?? '',
    readyAt,
    trigger,
    revision,
    objects: lists.flatMap(objectsOf),
    steps: stepsOf(rows, readyAt, revision, trigger),
    logs: rows.filter((row) => row.type === 'log-open').map((opened) => logOf(opened, rows, readyAt)),
    truths: rows.filter((row) => row.type === 'truth').map(({ type: _, ...truth }) => truth),
  };
}

function triggerOf(rows: readonly Row[], readyAt: number): FirstRequest {
  const request = rows.find((row) => row.type === 'request');
  // Without a request the pod's end begins this many ms after `ready`, since the recorder waited this long.
  if (request === undefined) return { kind: 'other', at: readyAt + 1200, method: '', path: '' };
  const { method, path } = request;
  const response = rows.find((row) => row.type === 'response' && row.method === method && row.path === path);
  const answer = response?.type === 'response' ? { ...response, at: ms(response.at) } : undefined;
  return { kind: triggerKind(method, path), at: ms(request.at), method, path, answer };
}

function triggerKind(method: string, path: string): FirstRequest['kind'] {
  if (method === 'DELETE' && /\/pods\/[^/]+$/.test(path)) return 'delete';
  return method === 'POST' && path.endsWith('/eviction') ? 'evict' : 'other';
}

function objectsOf(row: RowOf<'list'>): PreparedScenario['objects'] {
  const { kind, apiVersion, items } = row.list;
  return (items ?? []).map((item) => ({
    resource: pluralOf(row.resource),
    object: { kind: kind.replace(/List$/, ''), apiVersion, ...item },
    seenAt: ms(row.at),
  }));
}

/** The recorder listed the Events about Nodes separately. */
const pluralOf = (resource: string): string => (resource === 'node-events' ? 'events' : resource);

function stepsOf(rows: readonly Row[], readyAt: number, revision: number, trigger: FirstRequest): RecordedStep[] {
  const steps = rows.flatMap((row) => stepOf(row, readyAt) ?? []).map((step) => beforeResponse(step, trigger));
  let last = revision;
  return steps
    .sort((a, b) => a.at - b.at)
    .map((step) => {
      if (step.kind !== 'change') return step;
      // Watches of different kinds arrive a little out of order, but the revisions of a store only grow.
      last = Math.max(step.revision, last + 1);
      return { ...step, revision: last };
    });
}

function stepOf(row: Row, readyAt: number): RecordedStep | undefined {
  if (row.type === 'watch') return changeStep(row);
  if (row.type !== 'log' && row.type !== 'log-end') return undefined;
  const { pod, container } = row;
  const at = ms(row.at);
  const line = row.type === 'log' ? lineOf(row.line) : undefined;
  const isPlayed = line ? isNew(line, readyAt) : at - readyAt >= endedBeforeMs;
  return isPlayed ? { kind: 'log', at, pod, container, line } : undefined;
}

function changeStep({ at, resource, event: { type, object } }: RowOf<'watch'>): ChangeStep | undefined {
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return undefined;
  const revision = Number(object.metadata.resourceVersion);
  return { kind: 'change', at: ms(at), resource: pluralOf(resource), type, object, revision };
}

/** A client may look as soon as it has the response, so what the response says must have happened by then. */
function beforeResponse(step: RecordedStep, { kind, answer }: FirstRequest): RecordedStep {
  if (answer === undefined || kind !== 'delete' || step.kind !== 'change' || step.resource !== 'pods') return step;
  const revision = Number(valueAt(answer.body, 'metadata.resourceVersion') ?? 0);
  return step.revision <= revision ? { ...step, at: Math.min(step.at, answer.at) } : step;
}

function logOf({ pod, container, status }: RowOf<'log-open'>, rows: readonly Row[], readyAt: number): RecordedLog {
  const own = rows.filter((row) => 'container' in row && row.pod === pod && row.container === container);
  const lines = own.filter((row) => row.type === 'log').map((row) => row.line);
  const end = own.find((row) => row.type === 'log-end');
  if (status >= 400)
    return { pod, container, status, refusal: lines[0] && (JSON.parse(lines[0]) as unknown), lines: [], ended: false };
  return {
    pod,
    container,
    status,
    lines: lines.map(lineOf).filter((line) => !isNew(line, readyAt)),
    ended: status === 200 && end !== undefined && ms(end.at) - readyAt < endedBeforeMs,
  };
}

/** The line was written after recording began; the recorder got older ones when it opened the stream. */
const isNew = ({ stamp }: WrittenLine, readyAt: number): boolean => stamp >= fromMs(readyAt);

function lineOf(line: string): WrittenLine {
  const stamp = line.slice(0, line.indexOf(' '));
  return { stamp: parseStamp(stamp)?.at ?? 0n, text: line.slice(stamp.length + 1) };
}

const ms = (at: string): number => Date.parse(at);

export interface WrittenLine {
  stamp: Nanoseconds;
  text: string;
}

export class ContainerLog {
  /** The status of the recorded response to a request for this log, and its body unless it was 200. */
  status = 200;
  refusal?: unknown;
  lines: WrittenLine[] = [];
  ended = false;
  /** The clients that follow it. */
  readonly readers = new Set<{ line(line: WrittenLine): void; end(): void }>();

  write(line: WrittenLine): void {
    this.lines.push(line);
    for (const reader of [...this.readers]) reader.line(line);
  }

  end(): void {
    this.ended = true;
    for (const reader of [...this.readers]) reader.end();
    this.readers.clear();
  }
}

/** A line as `timestamps=true` shows it. */
export const stamped = ({ stamp, text }: WrittenLine): string => `${formatStamp(stamp, 9)} ${text}`;
