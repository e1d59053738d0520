/** Which parts of a raw recording a live run would have watched. */
import { asObject, metadataOf, type JsonObject } from '../model/observe/read.ts';
import type { Row } from '../recording/rows.ts';
import type { StreamName } from '../model/observation.ts';
import { listsOf, podsOf, subjectOf, type Subject } from './raw-subject.ts';
import {
  candidateServices,
  nameOf,
  nodeTargets,
  ownerKinds,
  ownerOf,
  ownerTargets,
  podEventsTarget,
  podTarget,
  selects,
  servicesTarget,
  siblingTarget,
  sliceTarget,
  type Target,
} from './watched.ts';

/** A target; `keeps` filters its objects if no selector can. */
export interface RawTarget extends Target {
  readonly keeps?: (object: JsonObject) => boolean;
}

const isAboutPod = (event: JsonObject): boolean =>
  asObject(event['involvedObject'] ?? event['regarding'])['kind'] === 'Pod';

const allOf = (stream: StreamName, resource: string, keeps?: RawTarget['keeps']): RawTarget => ({
  stream,
  resource,
  path: '',
  keeps,
});

/** The targets of a run over all terminating pods. */
export const allTargets: readonly RawTarget[] = [
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
export function targetsOf(rows: readonly Row[], { namespace, name }: Subject): RawTarget[] {
  const pod = podsOf(rows).find((one) => metadataOf(one)['name'] === name) ?? {};
  const services = candidateServices(listsOf(rows, 'services'), pod);
  const names = services.map(nameOf);
  const slices = sliceTarget(namespace, names);
  const node = asObject(pod['spec'])['nodeName'];
  const listed = (owner: { kind: string; name: string }): JsonObject | undefined =>
    listsOf(rows, ownerTargets(namespace, owner)[0]?.resource ?? '').find((one) => nameOf(one) === owner.name);
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

export const streamsOf = (targets: readonly Target[]): StreamName[] => [
  ...new Set(targets.map(({ stream }) => stream)),
];

/** Whether a live run would have received the object by this target. */
export const takes = (target: RawTarget, object: JsonObject): boolean =>
  selects(target, object) && (target.keeps?.(object) ?? true);

/** Adds the kind, which items of a list do not have. */
export function withKind(object: JsonObject, { stream, resource }: Target): JsonObject {
  const kind = stream === 'owner' ? ownerKinds[resource]?.kind : undefined;
  return kind === undefined || typeof object['kind'] === 'string' ? object : { ...object, kind };
}

type ListRow = Extract<Row, { type: 'list' }>;

export interface WatchEnds {
  /** The `watch-end` rows of resources that were never listed again. */
  lasting: ReadonlySet<Row>;
  /** For each list that follows the end of its watch: when the watch ended (client ms). */
  since: ReadonlyMap<ListRow, number>;
}

/** As in a live run, the time from the end of a watch to the next list is a gap. */
export function watchEndsIn(rows: readonly Row[]): WatchEnds {
  const open = new Map<string, Row>();
  const since = new Map<ListRow, number>();
  for (const row of rows) {
    if (row.type === 'watch-end' && !open.has(row.resource)) open.set(row.resource, row);
    if (row.type !== 'list') continue;
    const end = open.get(row.resource);
    if (end) since.set(row, end.at);
    open.delete(row.resource);
  }
  return { lasting: new Set(open.values()), since };
}

/** A stream was interrupted from `from` until a list at `to` restored it (client ms). */
export interface Absence {
  stream: StreamName;
  from: number;
  to: number;
}

/** All absences. The lists show them only when they end, so a run that ends earlier has to report them itself. */
export function absencesIn(rows: readonly Row[], subject: Subject | undefined = subjectOf(rows)): Absence[] {
  const targets = subject ? targetsOf(rows, subject) : [];
  return [...watchEndsIn(rows).since].flatMap(([{ at: to, resource }, from]) =>
    streamsOf(targets.filter((target) => target.resource === resource)).map((stream) => ({ stream, from, to })),
  );
}

/** Late streams, each with the row that brings it in sync; undefined: never. */
export type LateStreams = ReadonlyMap<StreamName, Row | undefined>;

/** Raw recordings have no Leases (shared/recordings): a missing Lease is not a gap. */
const optionalStreams: ReadonlySet<StreamName> = new Set(['lease']);

/** The streams whose state was not listed before row `deletionRow`. */
export function lateStreamsIn(rows: readonly Row[], targets: readonly Target[], deletionRow: number): LateStreams {
  const late = new Map<StreamName, Row | undefined>();
  for (const stream of streamsOf(targets)) {
    const places = targets.filter((target) => target.stream === stream).map((target) => firstRowOf(target, rows));
    if (places.every((place) => rows[place]?.type === 'list' && place < deletionRow)) continue;
    const isFound = !places.includes(-1);
    if (isFound || !optionalStreams.has(stream)) late.set(stream, isFound ? rows[Math.max(...places)] : undefined);
  }
  return late;
}

/**
 * The index of a stream's first row, or -1. Except for Events only lists count: a change proves that the stream was
 * watched, but not since when, and does not show the state before.
 */
const firstRowOf = ({ stream, resource }: Target, rows: readonly Row[]): number =>
  rows.findIndex(
    (row) => (row.type === 'list' || (row.type === 'watch' && eventStreams.has(stream))) && row.resource === resource,
  );

const eventStreams: ReadonlySet<StreamName> = new Set(['events', 'node-events', 'owner-events']);
