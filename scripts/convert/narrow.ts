/**
 * Turns a recording of a whole namespace into the raw observations that a live run would have had: the same targets, the
 * same order of requests, the same end. Everything else that the recorder saw or did is left out. Pure.
 */
import { asObject, asString, metadataOf, type JsonObject } from '../../src/model/observe/read.ts';
import type { Row } from './rows.ts';
import type { Began, RawObservation, StreamName } from '../../src/model/observation.ts';
import {
  began,
  beganOfAll,
  graceOf,
  listsOf,
  podsIn,
  podsOf,
  subjectOf,
  terminatingRows,
  verbOf,
  type Removal,
  type Subject,
} from './subject.ts';
import { parseLabelSelector } from '../../src/demo/http/api-request.ts';
import {
  candidateServices,
  nameOf,
  nodeTargets,
  ownerKinds,
  ownerOf,
  ownerTargets,
  podEventsTarget,
  podTarget,
  servicesTarget,
  siblingTarget,
  sliceTarget,
  uidOf,
  type Watched,
} from '../../src/run/streams/watched.ts';

/** ms; a list row has only its arrival time. Its request was sent at most this long before. */
const maxRequestMs = 1000;
/** ms; lines that arrive so soon after a log was opened are older: a live run skips them with tailLines=0. */
const oldLinesMs = 25;

/** All raw observations about one pod, in the order of the rows. The caller decides when the run ends (trace-end.ts). */
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
  rawObservationsIn(rows, beganOfAll(rows), { targets: allTargets, late: new Map() });

interface Selection {
  readonly targets: readonly RawTarget[];
  /** Streams that were not in sync when the deletion began. */
  readonly late: LateStreams;
  /** The pod; absent: all pods. */
  readonly subject?: Subject;
}

interface Context extends Selection {
  /** The subject's uid. */
  readonly uid: string;
  /** When each log was opened (client ms), by `POD/CONTAINER`. */
  readonly logs: Map<string, number>;
  /** The uid of the pod that currently has a name. */
  readonly uids: Map<string, string>;
}

function* rawObservationsIn(rows: readonly Row[], began: Began, narrowed: Selection): Generator<RawObservation> {
  const { late } = narrowed;
  const at = rows[0]?.at ?? 0;
  yield { at, ...began };
  // A live run reports this when it sends its DELETE; such a stream delivers nothing before that anyway.
  for (const stream of late.keys()) yield { at, kind: 'gap', stream, from: at, cause: 'not-synced' };
  const own = podsOf(rows).find((pod) => nameOf(pod) === narrowed.subject?.name);
  const uid = asString(metadataOf(own)['uid']) ?? '';
  const context = { ...narrowed, uid, logs: new Map(), uids: new Map() };
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
function deletionRowOf(rows: readonly Row[], { name, removal }: Subject): number {
  const marked = terminatingRows(rows).get(name) ?? Infinity;
  const isUnderWay = rows[marked]?.type === 'list';
  return Math.min(removal?.rowIndex ?? Infinity, isUnderWay ? Infinity : marked);
}

type OfType<T extends Row['type']> = Extract<Row, { type: T }>;

function rawObservationsOf(row: Row, context: Context): Iterable<RawObservation> {
  const { subject, targets, late } = context;
  const { at } = row;
  const removal = subject?.removal;
  switch (row.type) {
    case 'list':
      return ofList(row, context);
    case 'ready':
      return streamsOf(targets).flatMap((stream) => (late.has(stream) ? [] : { at, kind: 'synced', stream }));
    case 'watch':
      return ofWatch(row, context);
    case 'request':
      if (row !== removal?.request) return [];
      return [{ at, kind: 'requested', verb: verbOf(row), graceSeconds: graceOf(row), uid: context.uid }];
    case 'response':
      return row === removal?.answer ? ofAnswer(row, removal) : ofRefusal(row, context);
    default:
      return ofLog(row, context);
  }
}

function* ofList(row: OfType<'list'>, context: Context): Generator<RawObservation> {
  const { at, date, resource, objects, resourceVersion } = row;
  const sentAt = at - maxRequestMs;
  if (date !== undefined) yield { at, kind: 'dated', sentAt, date };
  for (const target of context.targets.filter((one) => one.resource === resource)) {
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

function* ofAnswer({ at, date, status, body }: OfType<'response'>, { request }: Removal): Generator<RawObservation> {
  if (date !== undefined) yield { at, kind: 'dated', sentAt: request.at, date };
  const object = body['kind'] === 'Pod' ? body : undefined;
  yield { at, kind: 'answered', verb: verbOf(request), status, object };
}

/** The recorder evicted as `kubectl drain` does, whose output shows a refusal. */
function ofRefusal({ at, status, path }: OfType<'response'>, { subject, uids }: Context): RawObservation[] {
  const name = /\/pods\/([^/]+)\/eviction$/.exec(path)?.[1] ?? '';
  const pod = subject && subject.name !== name ? undefined : uids.get(name);
  return status === 429 && pod !== undefined ? [{ at, kind: 'answered', verb: 'evict', pod, status }] : [];
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

/** A target; `keeps` filters its objects if no selector can. */
interface RawTarget extends Watched {
  readonly keeps?: (object: JsonObject) => boolean;
}

const isAboutPod = (event: JsonObject): boolean => asObject(event['involvedObject'])['kind'] === 'Pod';

const allOf = (stream: StreamName, resource: string, keeps?: RawTarget['keeps']): RawTarget => ({
  stream,
  resource,
  path: '',
  keeps,
});

/** The targets of a run over all terminating pods. */
const allTargets: readonly RawTarget[] = [
  allOf('pods', 'pods'),
  allOf('services', 'services'),
  allOf('endpointslices', 'endpointslices'),
  allOf('events', 'events', isAboutPod),
  allOf('owner-events', 'events', (event) => !isAboutPod(event)),
  allOf('node-events', 'node-events'),
  allOf('node', 'nodes'),
  allOf('lease', 'leases'),
  ...Object.keys(ownerKinds).map((resource) => allOf('owner', resource)),
];

/** The targets that a live run finds step by step: the owner's owner and the siblings depend on what was listed. */
function targetsOf(rows: readonly Row[], { namespace, name }: Subject): RawTarget[] {
  const pod = podsOf(rows).find((one) => metadataOf(one)['name'] === name) ?? {};
  const services = candidateServices(listsOf(rows, 'services'), pod);
  const names = services.map(nameOf);
  const slices = sliceTarget(namespace, names);
  const node = asObject(pod['spec'])['nodeName'];
  const listed = (owner: { kind: string; name: string }): JsonObject | undefined =>
    ownerTargets(namespace, owner)
      .slice(0, 1)
      .flatMap((target) => listsOf(rows, target.resource))
      .find((one) => nameOf(one) === owner.name);
  const owner = ownerOf(pod);
  const direct = owner && listed(owner);
  const above = direct && ownerOf(direct);
  const top = above ? listed(above) : direct;
  const siblings = top && siblingTarget(namespace, top);
  return [
    podTarget(namespace, name),
    { ...servicesTarget(namespace), keeps: (one) => names.includes(nameOf(one)) },
    podEventsTarget(namespace, name),
    ...(slices ? [slices] : []),
    ...(typeof node === 'string' ? nodeTargets(node) : []),
    ...(owner ? ownerTargets(namespace, owner) : []),
    ...(above ? ownerTargets(namespace, above) : []),
    ...(siblings ? [{ ...siblings, stream: 'siblings' as const }] : []),
  ];
}

const streamsOf = (targets: readonly Watched[]): StreamName[] => [...new Set(targets.map(({ stream }) => stream))];

/** Whether a live run would have received the object by this target. */
const takes = (target: RawTarget, object: JsonObject): boolean =>
  selects(target, object) && (target.keeps?.(object) ?? true);

/** Whether a target selects an object. For a live run the server decides this. */
function selects(target: Watched, object: JsonObject): boolean {
  const fields = (target.fieldSelector?.split(',') ?? []).map((one) => one.split('='));
  return (
    (target.name === undefined || nameOf(object) === target.name) &&
    fields.every(([path = '', value]) => fieldOf(object, path) === value) &&
    parseLabelSelector(target.labelSelector ?? '')(object as never)
  );
}

const fieldOf = (object: JsonObject, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => asObject(value)[key], object);

/** Adds the kind, which items of a list do not have. */
function withKind(object: JsonObject, target: Watched): JsonObject {
  const kind = target.stream === 'owner' ? ownerKinds[target.resource]?.kind : undefined;
  return kind === undefined || typeof object['kind'] === 'string' ? object : { ...object, kind };
}

/** Late streams, each with the row that brings it in sync; undefined: never. */
type LateStreams = ReadonlyMap<StreamName, Row | undefined>;

/** The streams whose state was not listed before row `deletionRow`. */
function lateStreamsIn(rows: readonly Row[], targets: readonly Watched[], deletionRow: number): LateStreams {
  const late = new Map<StreamName, Row | undefined>();
  for (const stream of streamsOf(targets)) {
    const firstRows = targets.filter((target) => target.stream === stream).map((target) => firstRowOf(target, rows));
    if (firstRows.every((index) => rows[index]?.type === 'list' && index < deletionRow)) continue;
    const isFound = !firstRows.includes(-1);
    // Most recorders did not watch Leases: a missing Lease is not a gap.
    if (isFound || stream !== 'lease') late.set(stream, isFound ? rows[Math.max(...firstRows)] : undefined);
  }
  return late;
}

/**
 * The index of a stream's first row, or -1. Except for Events only lists count: a change proves that the stream was
 * watched, but not since when, and does not show the state before.
 */
function firstRowOf(target: Watched, rows: readonly Row[]): number {
  const resource = target.resource;
  const counts = ({ type }: Row): boolean => type === 'list' || (type === 'watch' && eventStreams.has(target.stream));
  return rows.findIndex((row) => counts(row) && 'resource' in row && row.resource === resource);
}

const eventStreams: ReadonlySet<StreamName> = new Set(['events', 'node-events', 'owner-events']);
