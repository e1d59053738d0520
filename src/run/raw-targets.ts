/** What of a raw recording a live run would have watched. */
import { asObject, metadataOf, type JsonObject } from '../model/observe/read.ts';
import type { Row } from '../recording/rows.ts';
import type { StreamName } from '../model/observation.ts';
import { listsOf, podsOf, subjectOf, type Subject } from './raw-subject.ts';
import {
  candidateServices,
  nameOf,
  namesOf,
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

/** A target, and which of its objects are taken where no selector says it. */
export interface RawTarget extends Target {
  readonly keeps?: (object: JsonObject) => boolean;
}

const isAboutPod = (event: JsonObject): boolean =>
  asObject(event['involvedObject'] ?? event['regarding'])['kind'] === 'Pod';

const allOf = (stream: StreamName, resource: string, keeps?: RawTarget['keeps']): RawTarget => ({
  stream,
  resource,
  path: '',
  ...(keeps ? { keeps } : {}),
});

/** Of a run over all pods that terminate. */
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

/** The same targets that a live run finds step by step: the owner's owner and the siblings hang on what was listed. */
export function targetsOf(rows: readonly Row[], { namespace, name }: Subject): RawTarget[] {
  const pod = podsOf(rows).find((one) => metadataOf(one)['name'] === name) ?? {};
  const services = candidateServices(listsOf(rows, 'services'), pod);
  const names = namesOf(services);
  const slices = sliceTarget(namespace, names);
  const node = asObject(pod['spec'])['nodeName'];
  const listed = (owner: { kind: string; name: string }): JsonObject | undefined =>
    listsOf(rows, ownerTargets(namespace, owner)[0]?.resource ?? '').find(
      (one) => metadataOf(one)['name'] === owner.name,
    );
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

/** Items of a list do not say their kind. */
export function withKind(object: JsonObject, { stream, resource }: Target): JsonObject {
  const kind = stream === 'owner' ? ownerKinds[resource] : undefined;
  return kind === undefined || typeof object['kind'] === 'string' ? object : { ...object, kind };
}

type ListRow = Extract<Row, { type: 'list' }>;

export interface Cuts {
  /** The ends of watches whose resource was never listed again. */
  lasting: ReadonlySet<Row>;
  /** For a list that came after an end of its watch: since when (ms). */
  since: ReadonlyMap<ListRow, number>;
}

/** As in a live run, what a watch may have missed after its end is a gap until the resource is listed again. */
export function cutsOf(rows: readonly Row[]): Cuts {
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

/** A stream that was away from `from` until a list at `to` showed it again (ms). */
export interface Absence {
  stream: StreamName;
  from: number;
  to: number;
}

/** As the lists show them at their time: a run that ends before has to state them. */
export function absencesIn(rows: readonly Row[], subject: Subject | undefined = subjectOf(rows)): Absence[] {
  const targets = subject ? targetsOf(rows, subject) : [];
  return [...cutsOf(rows).since].flatMap(([{ at: to, resource }, from]) =>
    streamsOf(targets.filter((target) => target.resource === resource)).map((stream) => ({ stream, from, to })),
  );
}

/** With the row by which each is in sync all the same; undefined: never. */
export type Late = ReadonlyMap<StreamName, Row | undefined>;

/** The format has no Leases (shared/recordings), and only what a recorder was meant to hold can be missed. */
const optional: ReadonlySet<StreamName> = new Set(['lease']);

/** The streams whose state was not listed before the row at `due`. */
export function lateIn(rows: readonly Row[], targets: readonly Target[], due: number): Late {
  const late = new Map<StreamName, Row | undefined>();
  for (const stream of streamsOf(targets)) {
    const places = targets.filter((target) => target.stream === stream).map((target) => firstPlaceOf(target, rows));
    if (places.every((place) => rows[place]?.type === 'list' && place < due)) continue;
    const isWhole = !places.includes(-1);
    if (isWhole || !optional.has(stream)) late.set(stream, isWhole ? rows[Math.max(...places)] : undefined);
  }
  return late;
}

/**
 * Where a stream is found first, or -1. Of all but Events the state is what counts, and only a list has that: a change proves
 * that the stream was watched, not since when, and nothing of what was there before.
 */
const firstPlaceOf = ({ stream, resource }: Target, rows: readonly Row[]): number =>
  rows.findIndex(
    (row) => (row.type === 'list' || (row.type === 'watch' && ofEvents.has(stream))) && row.resource === resource,
  );

const ofEvents: ReadonlySet<StreamName> = new Set(['events', 'node-events', 'owner-events']);
