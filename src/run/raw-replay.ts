/**
 * A raw recording of a namespace as the sightings that a live run of ours would have had: the same targets, the same
 * order of asking, the same end. Whatever else the recorder saw or did is left out.
 */
import type { Row } from '../recording/rows.ts';
import type { Sighting } from '../model/observation.ts';
import { cutsOf, lateIn, streamsOf, takes, targetsOf, withKind, type Cuts, type Late } from './raw-targets.ts';
import {
  answerTo,
  graceOf,
  marksIn,
  verbOf,
  began,
  podsOf,
  subjectOf,
  type RequestRow,
  type Subject,
} from './raw-subject.ts';
import { metadataOf, type Target } from './watched.ts';

/** A list row holds its arrival only; its request was sent at most this long before. */
export const requestLag = 1000;
/** What a log stream brings within this time of its opening was written before it: a live run asks for tailLines=0. */
export const initialBurst = 25;

/** All sightings of one pod, in the order of the rows. Ending is the caller's (ending.ts). */
export function* rawSightings(
  rows: readonly Row[],
  subject: Subject | undefined = subjectOf(rows),
): Generator<Sighting> {
  if (!subject) return;
  const first = rows[0]?.at ?? 0;
  yield { at: first, ...began(subject) };
  const targets = targetsOf(rows, subject);
  const late = lateIn(rows, targets, dueAt(rows, subject));
  // A live run states it when its DELETE has to go; such a stream delivers nothing until then anyway.
  for (const stream of late.keys()) yield { at: first, kind: 'gap', stream, from: first, cause: 'not-synced' };
  const logs = new Map<string, number>();
  let requested: RequestRow | undefined;
  const response = subject.request && answerTo(rows, subject.request);
  const cuts = cutsOf(rows);
  for (const row of rows) {
    if (row === subject.request) requested = subject.request;
    yield* sightingsOf(row, { subject, targets, late, logs, requested, response, cuts, rows });
    for (const [stream, first] of late) if (row === first) yield { at: row.at, kind: 'synced', stream };
  }
}

/**
 * Where among the rows the pod was asked to go, or went without being asked: by then a live run has its streams in sync. Who
 * joined a deletion under way, which a list shows, is in sync as early as possible.
 */
function dueAt(rows: readonly Row[], { name, request }: Subject): number {
  const marked = marksIn(rows).get(name) ?? Infinity;
  const isUnderWay = rows[marked]?.type === 'list';
  return Math.min(request ? rows.indexOf(request) : Infinity, isUnderWay ? Infinity : marked);
}

interface Context {
  subject: Subject;
  targets: Target[];
  /** Streams that were not in sync in time. */
  late: Late;
  /** When each container's log was opened (ms). */
  logs: Map<string, number>;
  requested: RequestRow | undefined;
  /** The first answer to it: the recorder may have sent the same request again. */
  response: Row | undefined;
  cuts: Cuts;
  rows: readonly Row[];
}

function sightingsOf(row: Row, context: Context): Iterable<Sighting> {
  return (ofRow[row.type] as (row: Row, context: Context) => Iterable<Sighting>)(row, context);
}

type OfType<T extends Row['type']> = Extract<Row, { type: T }>;

const ofRow: { [T in Row['type']]: (row: OfType<T>, context: Context) => Iterable<Sighting> } = {
  list: ofList,
  ready: ({ at }, { targets, late }) =>
    streamsOf(targets).flatMap((stream) => (late.has(stream) ? [] : { at, kind: 'synced', stream })),
  watch: ofWatch,
  'watch-end': (row, context) => (context.cuts.lasting.has(row) ? gapsIn(row, context, { from: row.at }) : []),
  request: ofRequest,
  response: ofResponse,
  'log-open': ofLogOpen,
  log: ofLog,
  'log-end': ofLogEnd,
};

const gapsIn = (
  { at, resource }: OfType<'list' | 'watch-end'>,
  { targets }: Context,
  span: { from: number; to?: number },
): Sighting[] =>
  streamsOf(targets.filter((target) => target.resource === resource)).map((stream) => ({
    at,
    kind: 'gap',
    stream,
    ...span,
    cause: 'disconnected',
  }));

function* ofList(row: OfType<'list'>, context: Context): Generator<Sighting> {
  const { at, date, resource, objects, resourceVersion } = row;
  const { targets, cuts } = context;
  const from = cuts.since.get(row);
  if (from !== undefined) yield* gapsIn(row, context, { from, to: at });
  const sentAt = at - requestLag;
  if (date !== undefined) yield { at, kind: 'dated', sentAt, date };
  for (const target of targets.filter((one) => one.resource === resource)) {
    const { stream, name } = target;
    const taken = objects.filter((object) => takes(target, object)).map((object) => withKind(object, target));
    const named = name === undefined ? {} : { name };
    yield { at, kind: 'listed', stream, resourceVersion, objects: taken, sentAt, ...named };
  }
}

function* ofWatch({ at, resource, change, object }: OfType<'watch'>, { targets }: Context): Generator<Sighting> {
  for (const target of targets) {
    // Services are listed once and never watched.
    if (target.resource !== resource || target.stream === 'services' || !takes(target, object)) continue;
    yield { at, kind: 'changed', stream: target.stream, change, object: withKind(object, target) };
  }
}

function* ofRequest(row: OfType<'request'>, context: Context): Generator<Sighting> {
  if (row !== context.subject.request) return;
  yield { at: row.at, kind: 'requested', verb: verbOf(row), graceSeconds: graceOf(row), uid: uidOf(context) };
}

function* ofResponse(row: OfType<'response'>, { requested, response }: Context): Generator<Sighting> {
  if (!requested || row !== response) return;
  const { at, date, status, body } = row;
  if (date !== undefined) yield { at, kind: 'dated', sentAt: requested.at, date };
  const object = body['kind'] === 'Pod' ? { object: body } : {};
  yield { at, kind: 'answered', verb: verbOf(requested), status, ...object };
}

function* ofLogOpen(
  { at, pod, status, container }: OfType<'log-open'>,
  { subject, logs }: Context,
): Generator<Sighting> {
  if (pod !== subject.name || status !== 200) return;
  logs.set(container, at);
  yield { at, kind: 'log-opened', container };
}

function* ofLog({ at, pod, container, line }: OfType<'log'>, { subject, logs }: Context): Generator<Sighting> {
  const opened = logs.get(container);
  if (pod !== subject.name || opened === undefined || at - opened <= initialBurst) return;
  const [time = '', ...rest] = line.split(' ');
  yield { at, kind: 'line', container, time, text: rest.join(' ') };
}

function* ofLogEnd({ at, pod, container }: OfType<'log-end'>, { subject, logs }: Context): Generator<Sighting> {
  if (pod === subject.name && logs.has(container)) yield { at, kind: 'log-ended', container, clean: true };
}

function uidOf({ rows, subject }: Context): string {
  const uid = podsOf(rows)
    .map(metadataOf)
    .find((metadata) => metadata['name'] === subject.name)?.['uid'];
  return typeof uid === 'string' ? uid : '';
}
