/**
 * The audit events of one pod → who deleted it, moments to the microsecond of the API server's clock, and the same as the
 * rows of a recording, which go the way of every recording: observe, reduce, infer. Levels Metadata to RequestResponse: where
 * an event holds no object it proves only its moment. Pure.
 */
import { asArray, asNumber, asObject, asString, asStrings } from '../../model/observe/read.ts';
import type { Json } from '../../model/observe/read.ts';
import type { StoryMoment } from './event-story.ts';

export interface AuditEvent {
  verb: string;
  resource: string;
  subresource: string;
  name: string;
  namespace: string;
  status: number;
  user: string;
  userAgent: string;
  sourceIPs: string[];
  /** ms since the epoch, with fractions: when the request came, and when its answer was complete. */
  receivedAt: number;
  answeredAt: number;
  /** What the server stored, where the level holds it. */
  object?: Json;
}

export interface AuditStory {
  uid?: string;
  deletedBy?: { user: string; userAgent: string; sourceIPs: string[]; verb: 'delete' | 'evict' };
  moments: StoryMoment[];
  /** Refused evictions before the one that was accepted. */
  refusedEvictions: number;
  /** Some event holds the pod itself, so that a report can be made. */
  hasObjects: boolean;
}

/** Undefined for what is no finished request of audit.k8s.io. */
export function auditEventOf(line: string): AuditEvent | undefined {
  let raw: Json;
  try {
    raw = asObject(JSON.parse(line));
  } catch {
    return undefined;
  }
  if (raw['stage'] !== 'ResponseComplete' || !String(raw['apiVersion']).startsWith('audit.k8s.io/')) return undefined;
  const reference = asObject(raw['objectRef']);
  const user = asObject(raw['impersonatedUser'] ?? raw['user']);
  const object = asObject(raw['responseObject']);
  return {
    verb: asString(raw['verb']) ?? '',
    resource: asString(reference['resource']) ?? '',
    subresource: asString(reference['subresource']) ?? '',
    name: asString(reference['name']) ?? asString(asObject(object['metadata'])['name']) ?? '',
    namespace: asString(reference['namespace']) ?? '',
    status: asNumber(asObject(raw['responseStatus'])['code']) ?? 0,
    user: asString(user['username']) ?? 'unknown',
    userAgent: asString(raw['userAgent']) ?? 'unknown',
    sourceIPs: asStrings(raw['sourceIPs']),
    receivedAt: stampOf(raw['requestReceivedTimestamp']),
    answeredAt: stampOf(raw['stageTimestamp']),
    object: object['metadata'] === undefined ? undefined : object,
  };
}

/** RFC 3339 with microseconds → ms with fractions. */
function stampOf(raw: unknown): number {
  const text = asString(raw) ?? '';
  const [, micros = '0'] = /\.\d{3}(\d{1,6})/.exec(text) ?? [];
  return Date.parse(text) + Number(`0.${micros}`);
}

const isPod = (one: AuditEvent): boolean =>
  one.resource === 'pods' && one.subresource !== 'log' && one.subresource !== 'exec';
const isDone = ({ status }: AuditEvent): boolean => status >= 200 && status < 300;
const isWrite = ({ verb }: AuditEvent): boolean => ['create', 'update', 'patch', 'delete'].includes(verb);
const isDelete = (one: AuditEvent): boolean => isPod(one) && one.verb === 'delete' && one.subresource === '';
const isEviction = (one: AuditEvent): boolean => isPod(one) && one.subresource === 'eviction';
const isKubelet = ({ user }: AuditEvent): boolean => user.startsWith('system:node:');

export function auditStoryOf(events: readonly AuditEvent[]): AuditStory {
  const own = events.filter((one) => isPod(one) && isWrite(one));
  const request = own.find((one) => isDone(one) && (isEviction(one) || (isDelete(one) && !isKubelet(one))));
  const moments = own.flatMap((one): StoryMoment[] => {
    const what = textOf(one, one === request);
    // What was stored was stored between the request and its answer.
    return what === undefined
      ? []
      : [{ ...what, earliest: one.receivedAt, latest: one.answeredAt, source: `audit log, ${one.user}`, isBad: false }];
  });
  const uids = own.flatMap(({ object }) => asString(asObject(object?.['metadata'])['uid']) ?? []);
  return {
    uid: uids.at(-1),
    deletedBy: request && {
      user: request.user,
      userAgent: request.userAgent,
      sourceIPs: request.sourceIPs,
      verb: isEviction(request) ? 'evict' : 'delete',
    },
    moments: moments.sort((a, b) => a.earliest - b.earliest),
    refusedEvictions: own.filter((one) => isEviction(one) && one.status === 429).length,
    hasObjects: own.some((one) => one.object?.['kind'] === 'Pod'),
  };
}

function textOf(one: AuditEvent, isRequest: boolean): { name: string; what: string } | undefined {
  if (isEviction(one) && one.status === 429)
    return { name: 'eviction-refused', what: 'an eviction was refused by a PodDisruptionBudget' };
  if (!isDone(one)) return undefined;
  if (isRequest) return { name: 'accepted', what: isEviction(one) ? 'eviction accepted' : 'delete accepted' };
  if (isDelete(one))
    return isKubelet(one)
      ? { name: 'final-delete', what: 'final delete by the kubelet' }
      : { name: 'deleted-again', what: 'deleted again' };
  if (one.subresource === 'status') return { name: 'status', what: 'the kubelet reported a status' };
  return undefined;
}

interface RecordingRow {
  at: string;
  type: string;
  [field: string]: unknown;
}

/**
 * The rows of a recording (docs/ndjson.md names the raw form): the pod as it was before its deletion, then each object that
 * was stored, at the moment of its answer. Empty where no event holds the pod.
 */
export function recordingOf(events: readonly AuditEvent[], namespace: string): RecordingRow[] {
  const uid = auditStoryOf(events).uid;
  const pods = events.filter(
    (one) => isPod(one) && isWrite(one) && isDone(one) && one.object?.['kind'] === 'Pod' && uidOf(one) === uid,
  );
  const slices = events.filter(
    (one) => one.resource === 'endpointslices' && isWrite(one) && isDone(one) && one.object !== undefined,
  );
  // Most audit policies leave Events out: then nothing may be concluded from their absence, so there is no list of them.
  const told = events.filter(
    (one) => one.resource === 'events' && isWrite(one) && isDone(one) && one.object !== undefined,
  );
  const [first] = pods;
  if (!first?.object) return [];
  const initial = beforeDeletion(pods);
  const start = rowTime(Math.min(...[first, ...slices, ...told].map(({ answeredAt }) => answeredAt)) - 2);
  const services = [
    ...new Set(
      slices.map(
        ({ object }) =>
          asString(asObject(asObject(object?.['metadata'])['labels'])['kubernetes.io/service-name']) ?? '',
      ),
    ),
  ].filter((name) => name !== '');
  const list = (resource: string, path: string, items: Json[]): RecordingRow => ({
    at: start,
    type: 'list',
    resource,
    path,
    list: { metadata: { resourceVersion: asString(asObject(initial['metadata'])['resourceVersion']) ?? '1' }, items },
  });
  const base = `/api/v1/namespaces/${namespace}`;
  return [
    list('pods', `${base}/pods`, [initial]),
    // Their selectors are in no audit event: a Service without one is taken by its slices.
    list(
      'services',
      `${base}/services`,
      services.map((name) => ({ metadata: { name, namespace, uid: name }, spec: {} })),
    ),
    list('endpointslices', `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, []),
    ...(told.length > 0 ? [list('events', `${base}/events`, [])] : []),
    { at: start, type: 'ready' },
    ...[
      ...pods.flatMap(podRows),
      ...slices.map((one) => watchRow(one, 'endpointslices', 'MODIFIED')),
      ...told.map((one) => watchRow(one, 'events', one.verb === 'create' ? 'ADDED' : 'MODIFIED')),
    ].sort((a, b) => a.at.localeCompare(b.at)),
  ];
}

const uidOf = ({ object }: AuditEvent): string | undefined => asString(asObject(object?.['metadata'])['uid']);

/** The last state without a deletionTimestamp; else the first one, with what the deletion wrote taken back. */
function beforeDeletion(pods: readonly AuditEvent[]): Json {
  const objects = pods.map(({ object }) => object ?? {});
  const alive = objects.filter((one) => asObject(one['metadata'])['deletionTimestamp'] === undefined).at(-1);
  if (alive) return alive;
  const [first = {}] = objects;
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...metadata } = asObject(first['metadata']);
  const generation = asNumber(metadata['generation']);
  const version = asString(metadata['resourceVersion']) ?? '1';
  return {
    ...first,
    metadata: {
      ...metadata,
      generation: generation === undefined ? undefined : generation - 1,
      resourceVersion: /^\d+$/.test(version) ? String(BigInt(version) - 1n) : version,
    },
  };
}

/** A delete of grace 0 writes the object once more and removes it (SIGNALS.md §1 "Store"). */
function podRows(one: AuditEvent): RecordingRow[] {
  const metadata = asObject(one.object?.['metadata']);
  if (metadata['deletionTimestamp'] === undefined) return [];
  const isFinal =
    one.verb === 'delete' &&
    metadata['deletionGracePeriodSeconds'] === 0 &&
    asArray(metadata['finalizers']).length === 0;
  const row = watchRow(one, 'pods', 'MODIFIED');
  return isFinal ? [row, watchRow(one, 'pods', 'DELETED')] : [row];
}

const watchRow = (one: AuditEvent, resource: string, type: string): RecordingRow => ({
  at: rowTime(one.answeredAt),
  type: 'watch',
  resource,
  event: { type, object: one.object },
});

/** Whole milliseconds, rounded up: it was stored by then. */
const rowTime = (ms: number): string => new Date(Math.ceil(ms)).toISOString();
