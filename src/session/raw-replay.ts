/**
 * A raw recording of a namespace as the sightings that a live run of ours would have had: the same targets, the same
 * order of asking, the same end. Whatever else the recorder saw or did is left out.
 */
import type { Row } from '../recording/rows.ts';
import type { Began, Sighting, StreamName } from '../trace/observation.ts';
import type { Cuts } from './raw-cuts.ts';
import { cutsOf } from './raw-cuts.ts';
import type { Raw, Target } from './watched.ts';
import {
  asRaw,
  candidateServices,
  firstTargets,
  metadataOf,
  namesOf,
  nodeTargets,
  ownerOf,
  ownerTargets,
  selects,
  siblingTarget,
  sliceTarget,
} from './watched.ts';

/** A list row tells its arrival only; its request left at most this long before. */
const requestLag = 1000;
/** What a log stream brings within this time of its opening was written before it: a live run asks for tailLines=0. */
const initialBurst = 25;

interface Subject {
  namespace: string;
  name: string;
  /** The row of the recorder's own DELETE or eviction of the pod. */
  request?: Extract<Row, { type: 'request' }>;
}

/** All sightings, in the order of the rows. Ending is the caller's (ending.ts). */
export function* rawSightings(rows: readonly Row[]): Generator<Sighting> {
  const subject = subjectOf(rows);
  if (!subject) return;
  const first = rows[0]?.at ?? 0;
  yield { at: first, ...began(subject) };
  const targets = targetsOf(rows, subject);
  const logs = new Map<string, number>();
  let requested: Extract<Row, { type: 'request' }> | undefined;
  const response = responseTo(rows, subject);
  const cuts = cutsOf(rows);
  for (const row of rows) {
    if (row === subject.request) requested = subject.request;
    yield* sightingsOf(row, { subject, targets, logs, requested, response, cuts, rows });
  }
}

function responseTo(rows: readonly Row[], { request }: Subject): Row | undefined {
  const sent = request ? rows.indexOf(request) : -1;
  return rows
    .slice(sent + 1)
    .find((row) => row.type === 'response' && row.path === request?.path && row.method === request.method);
}

function began({ namespace, name, request }: Subject): Began {
  const evicts = request?.path.endsWith('/eviction') === true;
  const mode = request ? (evicts ? 'evict' : 'delete') : 'attach';
  return {
    kind: 'began',
    mode,
    namespace,
    name,
    graceSeconds: graceOf(request),
    timeoutSeconds: null,
    waitReplacement: false,
  };
}

function graceOf(request: Subject['request']): number | null {
  const options = request?.path.endsWith('/eviction') ? asRaw(request.body['deleteOptions']) : request?.body;
  const grace = options?.['gracePeriodSeconds'];
  return typeof grace === 'number' ? grace : null;
}

/** The pod that the recorder deleted or evicted, else the one whose logs it followed, else the first that got deleted. */
function subjectOf(rows: readonly Row[]): Subject | undefined {
  for (const row of rows) {
    const match = row.type === 'request' ? /\/namespaces\/([^/]+)\/pods\/([^/]+?)(\/eviction)?$/.exec(row.path) : null;
    const [, namespace, name, eviction] = match ?? [];
    if (row.type !== 'request' || namespace === undefined || name === undefined) continue;
    if (row.method === 'DELETE' || (row.method === 'POST' && eviction)) return { namespace, name, request: row };
  }
  const deleted = rows.find(
    (row) =>
      row.type === 'watch' && row.resource === 'pods' && metadataOf(row.object)['deletionTimestamp'] !== undefined,
  );
  const followed = rows.find((row) => row.type === 'log-open');
  const pods = podsOf(rows);
  const name =
    followed?.type === 'log-open'
      ? followed.pod
      : deleted?.type === 'watch'
        ? textOf(metadataOf(deleted.object)['name'])
        : undefined;
  const pod =
    pods.find((one) => metadataOf(one)['name'] === name) ?? (deleted?.type === 'watch' ? deleted.object : undefined);
  return pod && name !== undefined ? { namespace: textOf(metadataOf(pod)['namespace']), name } : undefined;
}

const listsOf = (rows: readonly Row[], resource: string): Raw[] =>
  rows.flatMap((row) => (row.type === 'list' && row.resource === resource ? row.objects : []));

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const podsOf = (rows: readonly Row[]): Raw[] => listsOf(rows, 'pods');

function targetsOf(rows: readonly Row[], { namespace, name }: Subject): Target[] {
  const pod = podsOf(rows).find((one) => metadataOf(one)['name'] === name) ?? {};
  const first = firstTargets(namespace, name);
  const services = candidateServices(listsOf(rows, 'services'), pod);
  const names = namesOf(services);
  const slices = sliceTarget(namespace, names);
  const node = asRaw(pod['spec'])['nodeName'];
  const owner = ownerOf(pod);
  const direct =
    owner &&
    listsOf(rows, ownerTargets(namespace, owner)[0]?.resource ?? '').find(
      (one) => metadataOf(one)['name'] === owner.name,
    );
  const above = direct && ownerOf(direct);
  const top = above
    ? listsOf(rows, ownerTargets(namespace, above)[0]?.resource ?? '').find(
        (one) => metadataOf(one)['name'] === above.name,
      )
    : direct;
  const siblings = top && siblingTarget(namespace, top);
  return [
    first.pod,
    { ...first.services, labelSelector: {}, keep: new Set(names) } as Target,
    first.events,
    ...(slices ? [slices] : []),
    ...(typeof node === 'string' ? nodeTargets(node) : []),
    ...(owner ? ownerTargets(namespace, owner) : []),
    ...(above ? ownerTargets(namespace, above) : []),
    ...(siblings ? [siblings] : []),
  ];
}

interface Context {
  subject: Subject;
  targets: Target[];
  /** When each container's log was opened (ms). */
  logs: Map<string, number>;
  requested: Extract<Row, { type: 'request' }> | undefined;
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
  ready: ({ at }, { targets }) => streamsOf(targets).map((stream) => ({ at, kind: 'synced', stream })),
  watch: ofWatch,
  'watch-end': (row, context) => (context.cuts.lasting.has(row) ? gapsIn(row, context, { from: row.at }) : []),
  request: ofRequest,
  response: ofResponse,
  'log-open': ofLogOpen,
  log: ofLog,
  'log-end': ofLogEnd,
};

const streamsOf = (targets: readonly Target[]): StreamName[] => [...new Set(targets.map(({ stream }) => stream))];

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

const verbOf = (row: Extract<Row, { type: 'request' }>): 'delete' | 'evict' =>
  row.path.endsWith('/eviction') ? 'evict' : 'delete';

function uidOf({ rows, subject }: Context): string {
  const uid = podsOf(rows)
    .map(metadataOf)
    .find((metadata) => metadata['name'] === subject.name)?.['uid'];
  return typeof uid === 'string' ? uid : '';
}

const takes = (target: Target & { keep?: Set<string> }, object: Raw): boolean =>
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
function withKind(object: Raw, { stream, resource }: Target): Raw {
  const kind = kinds[stream]?.[resource];
  return kind === undefined || typeof object['kind'] === 'string' ? object : { ...object, kind };
}
