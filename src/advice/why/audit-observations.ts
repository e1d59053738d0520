/**
 * Audit events of one pod → what a live run would have observed, to be replayed like any recording. Their client clock
 * is the API server's: a stored object counts as seen when the response was complete. Pure.
 */
import type { RawObservation, StreamName } from '../../model/observation.ts';
import { asArray, asObject, asString, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import { second } from '../../model/span.ts';
import { isDone, isPod, requestIn, type AuditEvent } from './audit-events.ts';
import { beforeDeletion, isDeleted, podStates } from './audit-states.ts';

/** Streams that the audit events of a pod may not show. The last six never appear there. */
// prettier-ignore
const otherStreams: readonly StreamName[] = [
  'services', 'endpointslices', 'events', 'node', 'node-events', 'lease', 'owner', 'owner-events', 'siblings',
];

/** In order of time; empty if no write holds the pod. `writes` must be sorted, oldest first. */
export function observationsOf(writes: readonly AuditEvent[], namespace: string): RawObservation[] {
  const stored = writes.filter((event) => isDone(event) && event.object !== undefined);
  const { pods, gaps } = podStates(writes.filter(isPod).filter(isDone));
  const slices = stored.filter(({ resource }) => resource === 'endpointslices');
  const events = stored.filter(({ resource }) => resource === 'events');
  const [first] = pods;
  if (!first) return [];
  const used = [...pods, ...slices, ...events];
  const before = beforeDeletion(writes, pods);
  const at = Math.floor(before?.at ?? first.answeredAt);
  const isLater = ({ answeredAt }: AuditEvent): boolean => answeredAt >= at;
  const later = [
    ...datesFor(used.filter(isLater)),
    ...(before ? lastLookOf(writes, pods, before.object) : []),
    ...gaps,
    ...podChanges(pods),
    ...slices.filter(isLater).map((event) => changeOf(event, 'endpointslices', 'MODIFIED')),
    ...events.filter(isLater).map((event) => changeOf(event, 'events', event.verb === 'create' ? 'ADDED' : 'MODIFIED')),
  ].sort((a, b) => a.at - b.at);
  const end = (later.at(-1)?.at ?? at) + 1;
  const pod = before?.object ?? first.object ?? {};
  const listed = { at, kind: 'listed', resourceVersion: asString(metadataOf(pod)['resourceVersion']) ?? '1' } as const;
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
    { ...listed, stream: 'pod', objects: [pod], name: first.name },
    ...(slices.length > 0 ? [services] : []),
    ...listedOf('endpointslices', slices),
    ...listedOf('events', events),
    ...seen.map((stream) => ({ at, kind: 'synced', stream }) as const),
    ...silent.map((stream) => ({ at, kind: 'gap', stream, from: at, cause: 'not-synced' }) as const),
    ...later,
    { at: end, kind: 'timer', name: 'settled' },
  ];
}

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

/**
 * The request that set the deletionTimestamp found the pod without one, so nothing of the exit is older than it. It is
 * known to be that request if the log holds the pod before it, or a grace period that shows when the deletion began.
 */
function lastLookOf(writes: readonly AuditEvent[], pods: readonly AuditEvent[], before: JsonObject): RawObservation[] {
  const request = requestIn(writes);
  const marked = pods.find(({ object }) => isDeleted(object));
  if (!request || !marked || marked.answeredAt < request.answeredAt) return [];
  const isKnownBefore = pods.some(({ object }) => !isDeleted(object));
  if (!isKnownBefore && !(Number(metadataOf(marked.object)['deletionGracePeriodSeconds']) > 1)) return [];
  const at = Math.floor(request.receivedAt);
  return [{ at, kind: 'looked', object: before, sentAt: at }];
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
