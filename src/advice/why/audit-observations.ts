/** Audit events of one pod → what a live run would have observed by the API server's clock, as responses show it. Pure. */
import type { RawObservation, StreamName } from '../../model/observation.ts';
import { asArray, asNumber, asObject, asString, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import { second } from '../../model/span.ts';
import { isBinding, isDone, isPod, podIn, type AuditEvent } from './audit-events.ts';

/** Streams that the audit events of a pod may not show. Only `events` may appear there. */
// prettier-ignore
const otherStreams: readonly StreamName[] = [
  'services', 'endpointslices', 'events', 'node', 'node-events', 'lease', 'owner', 'owner-events', 'siblings',
];

/** In order of time; empty if no write holds the pod. `writes`: oldest first. `request`: the one that deleted it. */
export function observationsOf(
  writes: readonly AuditEvent[],
  request: AuditEvent | undefined,
  namespace: string,
): RawObservation[] {
  const { pods, gaps } = podStates(writes.filter(isPod).filter(isDone), request);
  const events = writes.filter((event) => event.resource === 'events' && isDone(event) && event.object !== undefined);
  const [first] = pods;
  if (!first) return [];
  const before = beforeDeletion(pods, request);
  const at = Math.floor((before ?? first).answeredAt);
  const isLater = ({ answeredAt }: AuditEvent): boolean => answeredAt >= at;
  const later = [
    ...datesFor([...pods, ...events].filter(isLater)),
    ...(before && request ? lastLookOf(request, pods, before.object) : []),
    ...gaps,
    ...podChanges(pods),
    ...events.filter(isLater).map((event) => changeOf(event, 'events', event.verb === 'create' ? 'ADDED' : 'MODIFIED')),
  ].sort((a, b) => a.at - b.at);
  const pod = before?.object ?? first.object;
  const listed = { at, kind: 'listed', resourceVersion: asString(metadataOf(pod)['resourceVersion']) ?? '1' } as const;
  const old = new Map<string, unknown>(
    events.filter((event) => !isLater(event)).map(({ name, object }) => [name, object ?? {}]),
  );
  const lists: RawObservation[] = [
    { ...listed, stream: 'pod', objects: [pod], name: first.name },
    ...(old.size > 0 ? [{ ...listed, stream: 'events' as const, objects: [...old.values()] }] : []),
  ];
  const seen = [...new Set([...lists, ...later].flatMap((one) => ('stream' in one ? (one.stream ?? []) : [])))];
  // Their silence proves nothing: most audit policies omit Events, for example.
  const silent = otherStreams.filter((stream) => !seen.includes(stream));
  const run = { mode: 'attach', namespace, graceSeconds: null, timeoutSeconds: null, waitReplacement: false } as const;
  return [
    { at, kind: 'began', ...run, name: first.name },
    ...lists,
    ...seen.map((stream) => ({ at, kind: 'synced', stream }) as const),
    ...silent.map((stream) => ({ at, kind: 'gap', stream, from: at, cause: 'not-synced' }) as const),
    ...later,
    { at: (later.at(-1)?.at ?? at) + 1, kind: 'timer', name: 'settled' },
  ];
}

type PodState = AuditEvent & { object: JsonObject };

/**
 * The states of the pod, and gaps between those of its deletion. The kubelet's patch of the status is applied to the
 * state before; after another write without its object, the state is not known until the next one.
 */
function podStates(writes: readonly AuditEvent[], request: AuditEvent | undefined) {
  const pods: PodState[] = [];
  const gaps: RawObservation[] = [];
  let known: JsonObject | undefined;
  for (const event of writes) {
    const last = pods.at(-1);
    // Without the request that began the deletion, what is sent later does not show whether it has begun.
    const isBeginKnown = request !== undefined || isDeleted(last?.object);
    const wasKnown = known !== undefined;
    known = podIn(event) ?? (known && isBeginKnown ? stateAfter(known, event) : undefined);
    if (!known) continue;
    const at = Math.floor(event.answeredAt);
    if (last && isDeleted(known) && !(wasKnown && isBeginKnown))
      gaps.push({ at, kind: 'gap', stream: 'pod', from: Math.floor(last.answeredAt), to: at, cause: 'disconnected' });
    pods.push({ ...event, object: known });
  }
  return { pods, gaps };
}

const isDeleted = (pod: JsonObject | undefined): boolean => metadataOf(pod)['deletionTimestamp'] !== undefined;

/** The pod after a write without its object; undefined if what was sent does not show it. */
function stateAfter(pod: JsonObject, event: AuditEvent): JsonObject | undefined {
  const { subresource, sent = {} } = event;
  const node = asString(asObject(sent['target'])['name']);
  if (isBinding(event) && node !== undefined) {
    return {
      ...pod,
      spec: { ...asObject(pod['spec']), nodeName: node },
      status: patchedStatus(asObject(pod['status']), { conditions: [{ type: 'PodScheduled', status: 'True' }] }),
    };
  }
  if (subresource !== 'status' || sent['status'] === undefined) return undefined;
  const { managedFields: _written, resourceVersion, ...metadata } = metadataOf(pod);
  return {
    ...pod,
    // The patch does not hold the new version: it is larger by one or more.
    metadata: { ...metadata, resourceVersion: nextVersion(resourceVersion) },
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

/** The last state before the deletion, or the first one without its marks. Undefined if the log begins later. */
function beforeDeletion(pods: readonly PodState[], request: AuditEvent | undefined): PodState | undefined {
  const alive = pods.findLast(({ object }) => !isDeleted(object));
  const [first] = pods;
  if (alive || !first || request?.answeredAt !== first.answeredAt) return alive;
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...metadata } = metadataOf(first.object);
  const generation = (asNumber(metadata['generation']) ?? 1) - 1;
  const object = { ...first.object, metadata: { ...metadata, generation, resourceVersion: '1' } };
  return { ...first, answeredAt: first.receivedAt - second, object };
}

const nextVersion = (version: unknown): string => {
  const text = asString(version) ?? '1';
  return /^\d+$/.test(text) ? String(BigInt(text) + 1n) : text;
};

/** Date headers that tie the two clocks, equal here: 1 ms before a full second, Date still shows the second before. */
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
function lastLookOf(request: AuditEvent, pods: readonly PodState[], before: JsonObject): RawObservation[] {
  const marked = pods.find(({ object }) => isDeleted(object));
  if (!marked || marked.answeredAt < request.answeredAt) return [];
  const isKnownBefore = pods.some(({ object }) => !isDeleted(object));
  if (!isKnownBefore && !(Number(metadataOf(marked.object)['deletionGracePeriodSeconds']) > 1)) return [];
  const at = Math.floor(request.receivedAt);
  return [{ at, kind: 'looked', object: before, sentAt: at }];
}

/** A write with grace 0 and no finalizer left is the last one: it removes the object (SIGNALS.md §1 "Store"). */
function podChanges(pods: readonly PodState[]): RawObservation[] {
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
