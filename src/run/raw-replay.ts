/**
 * Turns a raw recording of a namespace into the raw observations that a live run would have had: the same targets, the
 * same order of requests, the same end. Everything else that the recorder saw or did is left out. Pure.
 */
import { metadataOf } from '../model/observe/read.ts';
import type { Row } from '../recording/rows.ts';
import type { Began, RawObservation } from '../model/observation.ts';
import {
  allTargets,
  watchEndsIn,
  lateStreamsIn,
  streamsOf,
  takes,
  targetsOf,
  withKind,
  type WatchEnds,
  type LateStreams,
  type RawTarget,
} from './raw-targets.ts';
import {
  answerTo,
  began,
  beganOfAll,
  graceOf,
  terminatingRows,
  podsIn,
  podsOf,
  subjectOf,
  verbOf,
  type RequestRow,
  type Subject,
} from './raw-subject.ts';
import { nameOf, uidOf } from './watched.ts';

/** ms; a list row has only its arrival time. Its request was sent at most this long before. */
const maxRequestMs = 1000;
/** ms; lines that arrive so soon after a log was opened are older: a live run skips them with tailLines=0. */
const oldLinesMs = 25;

/** All raw observations about one pod, in the order of the rows. The caller decides when the run ends (ending.ts). */
export function* narrowToPod(
  rows: readonly Row[],
  subject: Subject | undefined = subjectOf(rows),
): Generator<RawObservation> {
  if (!subject) return;
  const targets = targetsOf(rows, subject);
  const late = lateStreamsIn(rows, targets, deletionRowOf(rows, subject));
  yield* rawObservationsIn(rows, began(subject), { targets, late, subject });
}

/** The same for all terminating pods, as in a run that attached to all of them. */
export const narrowToAll = (rows: readonly Row[]): Iterable<RawObservation> =>
  rawObservationsIn(rows, beganOfAll(rows), { targets: allTargets, late: new Map(), subject: undefined });

interface Selection {
  readonly targets: readonly RawTarget[];
  /** Streams that were not in sync when the deletion began. */
  readonly late: LateStreams;
  /** The pod; absent: all pods. */
  readonly subject: Subject | undefined;
}

interface Context extends Selection {
  readonly rows: readonly Row[];
  readonly cuts: WatchEnds;
  /** The first answer to the recorder's own request, which may have been sent again. */
  readonly response: Row | undefined;
  /** When each log was opened (client ms), by `POD/CONTAINER`. */
  readonly logs: Map<string, number>;
  /** The uid of the pod that currently has a name. */
  readonly uids: Map<string, string>;
}

function* rawObservationsIn(rows: readonly Row[], began: Began, narrowed: Selection): Generator<RawObservation> {
  const { late, subject } = narrowed;
  const at = rows[0]?.at ?? 0;
  yield { at, ...began };
  // A live run reports this when it sends its DELETE; such a stream delivers nothing before that anyway.
  for (const stream of late.keys()) yield { at, kind: 'gap', stream, from: at, cause: 'not-synced' };
  const response = subject?.request && answerTo(rows, subject.request);
  const context = { ...narrowed, rows, cuts: watchEndsIn(rows), response, logs: new Map(), uids: new Map() };
  for (const row of rows) {
    for (const pod of podsIn(row)) context.uids.set(nameOf(pod), uidOf(pod));
    yield* rawObservationsOf(row, context);
    for (const [stream, first] of late) if (row === first) yield { at: row.at, kind: 'synced', stream };
  }
}

/**
 * The index of the row with which the deletion began; by then a live run has its streams in sync. If a list shows the
 * deletion already under way, the run joined it: it is in sync as early as possible.
 */
function deletionRowOf(rows: readonly Row[], { name, request }: Subject): number {
  const marked = terminatingRows(rows).get(name) ?? Infinity;
  const isUnderWay = rows[marked]?.type === 'list';
  return Math.min(request ? rows.indexOf(request) : Infinity, isUnderWay ? Infinity : marked);
}

type OfType<T extends Row['type']> = Extract<Row, { type: T }>;

function rawObservationsOf(row: Row, context: Context): Iterable<RawObservation> {
  const { subject, targets, late, cuts, response } = context;
  const { at } = row;
  switch (row.type) {
    case 'list':
      return ofList(row, context);
    case 'ready':
      return streamsOf(targets).flatMap((stream) => (late.has(stream) ? [] : { at, kind: 'synced', stream }));
    case 'watch':
      return ofWatch(row, context);
    case 'watch-end':
      return cuts.lasting.has(row) ? gapsIn(row, context, { from: at }) : [];
    case 'request':
      if (row !== subject?.request) return [];
      return [{ at, kind: 'requested', verb: verbOf(row), graceSeconds: graceOf(row), uid: uidIn(context) }];
    case 'response':
      return row === response && subject?.request ? ofResponse(row, subject.request) : [];
    default:
      return ofLog(row, context);
  }
}

const gapsIn = (
  { at, resource }: OfType<'list' | 'watch-end'>,
  { targets }: Context,
  span: { from: number; to?: number },
): RawObservation[] =>
  streamsOf(targets.filter((target) => target.resource === resource)).map((stream) => ({
    at,
    kind: 'gap',
    stream,
    ...span,
    cause: 'disconnected',
  }));

function* ofList(row: OfType<'list'>, context: Context): Generator<RawObservation> {
  const { at, date, resource, objects, resourceVersion } = row;
  const { targets, cuts } = context;
  const from = cuts.since.get(row);
  if (from !== undefined) yield* gapsIn(row, context, { from, to: at });
  const sentAt = at - maxRequestMs;
  if (date !== undefined) yield { at, kind: 'dated', sentAt, date };
  for (const target of targets.filter((one) => one.resource === resource)) {
    const { stream, name } = target;
    const taken = objects.filter((object) => takes(target, object)).map((object) => withKind(object, target));
    yield { at, kind: 'listed', stream, resourceVersion, objects: taken, sentAt, name };
  }
}

function* ofWatch({ at, resource, change, object }: OfType<'watch'>, { targets }: Context): Generator<RawObservation> {
  for (const target of targets) {
    // A live run never watches Services.
    if (target.resource !== resource || target.stream === 'services' || !takes(target, object)) continue;
    yield { at, kind: 'changed', stream: target.stream, change, object: withKind(object, target) };
  }
}

function* ofResponse({ at, date, status, body }: OfType<'response'>, request: RequestRow): Generator<RawObservation> {
  if (date !== undefined) yield { at, kind: 'dated', sentAt: request.at, date };
  const object = body['kind'] === 'Pod' ? body : undefined;
  yield { at, kind: 'answered', verb: verbOf(request), status, object };
}

function ofLog(row: OfType<'log-open' | 'log' | 'log-end'>, { subject, logs, uids }: Context): RawObservation[] {
  if (subject && row.pod !== subject.name) return [];
  const { at, container } = row;
  const of = subject ? { container } : { container, pod: uids.get(row.pod) ?? '' };
  const log = `${row.pod}/${container}`;
  if (row.type === 'log-open') {
    if (row.status !== 200) return [];
    logs.set(log, at);
    return [{ at, kind: 'log-opened', ...of }];
  }
  const opened = logs.get(log);
  if (opened === undefined) return [];
  if (row.type === 'log-end') return [{ at, kind: 'log-ended', ...of, clean: true }];
  const [time = '', ...rest] = row.line.split(' ');
  return at - opened <= oldLinesMs ? [] : [{ at, kind: 'line', ...of, time, text: rest.join(' ') }];
}

function uidIn({ rows, subject }: Context): string {
  const pod = podsOf(rows).find((one) => nameOf(one) === subject?.name);
  const { uid } = metadataOf(pod ?? {});
  return typeof uid === 'string' ? uid : '';
}
