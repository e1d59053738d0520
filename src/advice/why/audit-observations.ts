/**
 * Audit events of one pod → what a live run would have observed, to be replayed like any recording. Their client clock
 * is the API server's: a stored object counts as seen when the response was complete. Pure.
 */
import type { RawObservation, StreamName } from '../../model/observation.ts';
import { asArray, asNumber, asObject, asString, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import { second } from '../../model/span.ts';
import { parseTime } from '../../model/stamps.ts';
import { isBinding, isDone, isPod, podIn, requestIn, uidOf, type AuditEvent } from './audit-events.ts';

/** Streams that the audit events of a pod may not show. The last six never appear there. */
// prettier-ignore
const otherStreams: readonly StreamName[] = [
  'services', 'endpointslices', 'events', 'node', 'node-events', 'lease', 'owner', 'owner-events', 'siblings',
];

/** In order of time; empty if no write holds the pod. `writes` must be sorted, oldest first. */
export function observationsOf(writes: readonly AuditEvent[], namespace: string): RawObservation[] {
  const uid = uidOf(writes);
  const stored = writes.filter((event) => isDone(event) && event.object !== undefined);
  const { pods, gaps } = podStates(writes.filter(isPod).filter(isDone), uid);
  const slices = stored.filter(({ resource }) => resource === 'endpointslices');
  const events = stored.filter(({ resource }) => resource === 'events');
  const [first] = pods;
  if (!first) return [];
  const used = [...pods, ...slices, ...events];
  const before = beforeDeletion(writes, pods);
  const at = Math.floor(before ? Math.min(...used.map(({ receivedAt }) => receivedAt)) - second : first.answeredAt);
  const isLater = ({ answeredAt }: AuditEvent): boolean => answeredAt >= at;
  const later = [
    ...datesFor(used.filter(isLater)),
    ...(before ? lastLookOf(writes, pods, before) : []),
    ...gaps,
    ...podChanges(pods),
    ...slices.filter(isLater).map((event) => changeOf(event, 'endpointslices', 'MODIFIED')),
    ...events.filter(isLater).map((event) => changeOf(event, 'events', event.verb === 'create' ? 'ADDED' : 'MODIFIED')),
  ].sort((a, b) => a.at - b.at);
  const end = (later.at(-1)?.at ?? at) + 1;
  const seenFirst = before ?? first.object ?? {};
  const resourceVersion = asString(metadataOf(seenFirst)['resourceVersion']) ?? '1';
  const listed = { at, kind: 'listed', resourceVersion } as const;
  const listedOf = (stream: 'endpointslices' | 'events', all: readonly AuditEvent[]): RawObservation[] => {
    const newest = new Map(all.filter((event) => !isLater(event)).map(({ name, object }) => [name, object ?? {}]));
    return newest.size > 0 ? [{ ...listed, stream, objects: [...newest.values()] }] : [];
  };
  const services = { ...listed, stream: 'services', objects: servicesOf(slices, namespace) } as const;
  const seen: StreamName[] = [
    'pod',
    ...(slices.length > 0 ? (['services', 'endpointslices'] as const) : []),
    ...(events.length > 0 ? (['events'] as const) : []),
  ];
  // Their silence proves nothing: most audit policies omit Events, for example.
  const silent = otherStreams.filter((stream) => !seen.includes(stream));
  const run = { mode: 'attach', namespace, graceSeconds: null, timeoutSeconds: null, waitReplacement: false } as const;
  return [
    { at, kind: 'began', ...run, name: first.name },
    { ...listed, stream: 'pod', objects: [seenFirst], name: first.name },
    ...(slices.length > 0 ? [services] : []),
    ...listedOf('endpointslices', slices),
    ...listedOf('events', events),
    ...seen.map((stream) => ({ at, kind: 'synced', stream }) as const),
    ...silent.map((stream) => ({ at, kind: 'gap', stream, from: at, cause: 'not-synced' }) as const),
    ...later,
    { at: end, kind: 'timer', name: 'settled' },
  ];
}

/**
 * The states of the pod. Many policies log what the kubelet sends and not what is stored: its patch of the status is
 * applied to the state before. After another write without its object the state is not known until the next object.
 */
function podStates(writes: readonly AuditEvent[], uid: string | undefined) {
  const pods: AuditEvent[] = [];
  const gaps: RawObservation[] = [];
  const hasRequest = requestIn(writes) !== undefined;
  let known: JsonObject | undefined;
  for (const event of writes) {
    if (isOfAnother(uid, event)) continue;
    const last = pods.at(-1);
    const wasKnown = known !== undefined;
    known = podIn(event) ?? (known && stateAfter(known, event));
    if (!known) continue;
    const at = Math.floor(event.answeredAt);
    const begins = isDeleted(known) && last !== undefined && !isDeleted(last.object);
    // Without the request that began the deletion, other writes may be missing as well.
    if (last && (!wasKnown || (begins && !hasRequest)))
      gaps.push({ at, kind: 'gap', stream: 'pod', from: Math.floor(last.answeredAt), to: at, cause: 'disconnected' });
    pods.push({ ...event, object: known });
  }
  return { pods, gaps };
}

const isDeleted = (pod: JsonObject | undefined): boolean => metadataOf(pod)['deletionTimestamp'] !== undefined;

/** Another pod's state, or a patch for another pod. */
const isOfAnother = (uid: string | undefined, { object, sent }: AuditEvent): boolean =>
  [object, sent].some((one) => ![undefined, uid].includes(asString(metadataOf(one)['uid'])));

/** The pod after a write without its object; undefined if what was sent does not show it. */
function stateAfter(pod: JsonObject, event: AuditEvent): JsonObject | undefined {
  const { subresource, sent = {} } = event;
  const node = asString(asObject(sent['target'])['name']);
  if (isBinding(event) && node !== undefined) {
    const conditions = [{ type: 'PodScheduled', status: 'True' }];
    return {
      ...pod,
      spec: { ...asObject(pod['spec']), nodeName: node },
      status: patchedStatus(asObject(pod['status']), { conditions }),
    };
  }
  if (subresource !== 'status' || sent['status'] === undefined) return undefined;
  const { managedFields: _written, resourceVersion, ...metadata } = metadataOf(pod);
  return {
    ...pod,
    // The patch does not hold the new version: it is larger by one or more.
    metadata: { ...metadata, resourceVersion: versionAfter(resourceVersion, 1n) },
    status: patchedStatus(asObject(pod['status']), asObject(sent['status'])),
  };
}

/** A strategic merge patch of a pod's status: of its lists, only conditions are merged, by their type. */
function patchedStatus(status: JsonObject, { conditions, ...fields }: JsonObject): JsonObject {
  const byType = new Map<unknown, JsonObject>();
  for (const one of [...asArray(status['conditions']), ...asArray(conditions)].map(asObject)) {
    const type = one['type'];
    if (one['$patch'] === 'delete') byType.delete(type);
    else byType.set(type, { ...byType.get(type), ...one });
  }
  const present = Object.entries({ ...status, ...fields }).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(present), conditions: [...byType.values()] };
}

const versionAfter = (version: unknown, by: bigint): string => {
  const text = asString(version) ?? '1';
  return /^\d+$/.test(text) ? String(BigInt(text) + by) : text;
};

/** The Services that the slices name. No event holds selectors; without one, slices show which pods belong to it. */
function servicesOf(slices: readonly AuditEvent[], namespace: string): JsonObject[] {
  const names = slices.flatMap(
    ({ object }) => asString(asObject(metadataOf(object)['labels'])['kubernetes.io/service-name']) ?? [],
  );
  return [...new Set(names)].map((name) => ({ metadata: { name, namespace, uid: name }, spec: {} }));
}

/**
 * Date headers that tie the client's clock to the API server's, which are the same here: 1 ms before a full second the
 * Date still shows the second before.
 */
function datesFor(stored: readonly AuditEvent[]): RawObservation[] {
  const starts = new Set(stored.map(({ answeredAt }) => Math.floor(answeredAt / second) * second));
  return [...starts].flatMap((start): RawObservation[] => [
    { at: start - 1, kind: 'dated', sentAt: start - 1, date: start - second },
    { at: start, kind: 'dated', sentAt: start, date: start },
  ]);
}

/** The request that set the deletionTimestamp found the pod without one, so nothing of the exit is older than it. */
function lastLookOf(writes: readonly AuditEvent[], pods: readonly AuditEvent[], before: JsonObject): RawObservation[] {
  const request = requestIn(writes);
  const marked = pods.find(({ object }) => isDeleted(object));
  if (!request || !marked || marked.answeredAt < request.answeredAt || !isFirstDelete(request, marked, pods)) return [];
  const at = Math.floor(request.receivedAt);
  return [{ at, kind: 'looked', object: before, sentAt: at }];
}

/**
 * Whether the request set the first deletionTimestamp, which is the server's time of the DELETE plus the grace period.
 * A log that begins late may hold only a repeated DELETE, which sets it again if it shortens the grace period. So the
 * log must hold the pod before, or the grace period must be the spec's (SIGNALS.md §1 "Repeat delete").
 */
function isFirstDelete(request: AuditEvent, { object }: AuditEvent, pods: readonly AuditEvent[]): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(object);
  const grace = asNumber(deletionGracePeriodSeconds) ?? NaN;
  const requestedAt = (parseTime(asString(deletionTimestamp)) ?? NaN) - grace * second;
  const isKnownBefore = pods.some((event) => !isDeleted(event.object));
  if (isKnownBefore) return true;
  const isSpecGrace = grace > 1 && asObject(object?.['spec'])['terminationGracePeriodSeconds'] === grace;
  return isSpecGrace && requestedAt + second > request.receivedAt && requestedAt <= request.answeredAt;
}

/**
 * The last state without a deletionTimestamp; else, if the first state answers the request that set it, this state with
 * the changes by the deletion undone. Undefined if the log begins after the deletion: like a client that comes late, it
 * does not show what the deletion found.
 */
function beforeDeletion(writes: readonly AuditEvent[], pods: readonly AuditEvent[]): JsonObject | undefined {
  const alive = pods.findLast(({ object }) => !isDeleted(object));
  if (alive) return alive.object;
  const [first] = pods;
  if (!first || requestIn(writes)?.answeredAt !== first.answeredAt) return undefined;
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...metadata } = metadataOf(first.object);
  const generation = asNumber(metadata['generation']);
  return {
    ...first.object,
    metadata: {
      ...metadata,
      generation: generation === undefined ? undefined : generation - 1,
      resourceVersion: versionAfter(metadata['resourceVersion'], -1n),
    },
  };
}

/** A write with grace 0 and no finalizer left is the last one: it removes the object (SIGNALS.md §1 "Store"). */
function podChanges(pods: readonly AuditEvent[]): RawObservation[] {
  const marked = pods.filter(({ object }) => isDeleted(object));
  const last = marked.findIndex(({ object }) => {
    const { deletionGracePeriodSeconds, finalizers } = metadataOf(object);
    return deletionGracePeriodSeconds === 0 && asArray(finalizers).length === 0;
  });
  const until = last < 0 ? marked : marked.slice(0, last + 1);
  const removal = marked[last];
  return [
    ...until.map((event) => changeOf(event, 'pod', 'MODIFIED')),
    ...(removal ? [changeOf(removal, 'pod', 'DELETED')] : []),
  ];
}

const changeOf = (
  { answeredAt, object }: AuditEvent,
  stream: StreamName,
  change: 'ADDED' | 'MODIFIED' | 'DELETED',
): RawObservation => ({ at: Math.floor(answeredAt), kind: 'changed', stream, change, object });
