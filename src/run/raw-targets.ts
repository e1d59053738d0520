/** What of a raw recording a live run would have watched. */
import type { Row } from '../recording/rows.ts';
import type { StreamName } from '../model/observation.ts';
import { listsOf, podsOf, subjectOf, textOf, type Subject } from './raw-subject.ts';
import {
  asRaw,
  candidateServices,
  metadataOf,
  namesOf,
  nodeTargets,
  ownerOf,
  ownerTargets,
  podEventsTarget,
  podTarget,
  selects,
  servicesTarget,
  siblingTarget,
  sliceTarget,
  type Raw,
  type Target,
} from './watched.ts';

/** The same targets that a live run finds step by step: the owner's owner and the siblings hang on what was listed. */
export function targetsOf(rows: readonly Row[], { namespace, name }: Subject): Target[] {
  const pod = podsOf(rows).find((one) => metadataOf(one)['name'] === name) ?? {};
  const services = candidateServices(listsOf(rows, 'services'), pod);
  const names = namesOf(services);
  const slices = sliceTarget(namespace, names);
  const node = asRaw(pod['spec'])['nodeName'];
  const listed = (owner: { kind: string; name: string }): Raw | undefined =>
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
    { ...servicesTarget(namespace), labelSelector: {}, keep: new Set(names) } as Target,
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
export const takes = (target: Target & { keep?: Set<string> }, object: Raw): boolean =>
  target.keep ? target.keep.has(textOf(metadataOf(object)['name'])) : selects(target, object);

const kinds: Partial<Record<StreamName, Record<string, string>>> = {
  owner: {
    replicasets: 'ReplicaSet',
    deployments: 'Deployment',
    statefulsets: 'StatefulSet',
    daemonsets: 'DaemonSet',
    jobs: 'Job',
    cronjobs: 'CronJob',
  },
};

/** Items of a list do not say their kind. */
export function withKind(object: Raw, { stream, resource }: Pick<Target, 'stream' | 'resource'>): Raw {
  const kind = kinds[stream]?.[resource];
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
  const firsts = firstsIn(rows);
  const late = new Map<StreamName, Row | undefined>();
  for (const stream of streamsOf(targets)) {
    const found = targets.filter((target) => target.stream === stream).map((target) => firstOf(target, firsts));
    if (found.every((first) => first !== undefined && first.row.type === 'list' && first.place < due)) continue;
    const isWhole = found.every((first) => first !== undefined);
    const last = found.reduce((a, b) => ((b?.place ?? -1) > (a?.place ?? -1) ? b : a), undefined);
    if (isWhole || !optional.has(stream)) late.set(stream, isWhole ? last?.row : undefined);
  }
  return late;
}

interface First {
  row: Row;
  place: number;
}

interface Firsts {
  list?: First;
  /** A change proves that the stream was watched, not since when, and nothing of what was there before. */
  change?: First;
}

function firstsIn(rows: readonly Row[]): Map<string, Firsts> {
  const firsts = new Map<string, Firsts>();
  for (const [place, row] of rows.entries()) {
    if (row.type !== 'list' && row.type !== 'watch') continue;
    const ofResource = firsts.get(row.resource) ?? {};
    firsts.set(row.resource, ofResource);
    if (row.type === 'list') ofResource.list ??= { row, place };
    else ofResource.change ??= { row, place };
  }
  return firsts;
}

/** By what a stream is found first. Of all but Events the state is what counts, and only a list has that. */
function firstOf({ stream, resource }: Target, firsts: ReadonlyMap<string, Firsts>): First | undefined {
  const { list, change } = firsts.get(resource) ?? {};
  if (!ofEvents.has(stream) || !change) return list;
  return !list || change.place < list.place ? change : list;
}

const ofEvents: ReadonlySet<StreamName> = new Set(['events', 'node-events', 'owner-events']);
