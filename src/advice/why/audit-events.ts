/**
 * Audit events of one pod → who deleted it, and moments on the API server's clock, to the microsecond. Any level from
 * Metadata to RequestResponse will do: an event without an object proves only when it happened. Pure.
 */
import {
  asArray,
  asNumber,
  asObject,
  asString,
  asStrings,
  metadataOf,
  type JsonObject,
} from '../../model/observe/read.ts';
import { isTime, type WhyMoment, type WhyReport } from './report.ts';

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
  /** When the request arrived and when its response was complete: ms since the epoch, with fractions. */
  receivedAt: number;
  answeredAt: number;
  /** What the server stored, if the level of the event includes it. */
  object?: JsonObject;
}

export interface AuditSummary {
  uid?: string;
  deletedBy?: WhyReport['deletedBy'];
  moments: WhyMoment[];
  /** Some event holds the pod itself, so that a report can be built. */
  hasObjects: boolean;
  /** The pod was removed while a container still ran, according to the pod's last state. */
  isForced: boolean;
}

/** Why a line that names the pod is no usable audit event. */
export type UnusableLine = 'no-json' | 'no-audit-event' | 'no-time';

/** Undefined for an earlier stage of a request: its last stage, ResponseComplete, has a line of its own. */
export function auditEventOf(line: string): AuditEvent | UnusableLine | undefined {
  let raw: JsonObject;
  try {
    raw = asObject(JSON.parse(line));
  } catch {
    return 'no-json';
  }
  if (!asString(raw['apiVersion'])?.startsWith('audit.k8s.io/')) return 'no-audit-event';
  if (raw['stage'] !== 'ResponseComplete') return undefined;
  const [receivedAt, answeredAt] = [stampOf(raw['requestReceivedTimestamp']), stampOf(raw['stageTimestamp'])];
  if (!isTime(receivedAt) || !isTime(answeredAt)) return 'no-time';
  const reference = asObject(raw['objectRef']);
  const user = asObject(raw['impersonatedUser'] ?? raw['user']);
  const object = asObject(raw['responseObject']);
  return {
    verb: asString(raw['verb']) ?? '',
    resource: asString(reference['resource']) ?? '',
    subresource: asString(reference['subresource']) ?? '',
    name: asString(reference['name']) ?? asString(metadataOf(object)['name']) ?? '',
    namespace: asString(reference['namespace']) ?? '',
    status: asNumber(asObject(raw['responseStatus'])['code']) ?? 0,
    user: asString(user['username']) ?? 'unknown',
    userAgent: asString(raw['userAgent']) ?? 'unknown',
    sourceIPs: asStrings(raw['sourceIPs']),
    receivedAt,
    answeredAt: Math.max(receivedAt, answeredAt),
    object: object['metadata'] === undefined ? undefined : object,
  };
}

/** RFC 3339 with microseconds → ms with fractions. */
function stampOf(raw: unknown): number {
  const text = asString(raw) ?? '';
  const [, micros = '0'] = /\.\d{3}(\d{1,6})/.exec(text) ?? [];
  return Date.parse(text) + Number(`0.${micros}`);
}

export const isPod = (event: AuditEvent): boolean =>
  event.resource === 'pods' && event.subresource !== 'log' && event.subresource !== 'exec';
export const isDone = ({ status }: AuditEvent): boolean => status >= 200 && status < 300;
export const isWrite = ({ verb }: AuditEvent): boolean => ['create', 'update', 'patch', 'delete'].includes(verb);
const isDelete = (event: AuditEvent): boolean => isPod(event) && event.verb === 'delete' && event.subresource === '';
const isEviction = (event: AuditEvent): boolean => isPod(event) && event.subresource === 'eviction';
const isKubelet = ({ user }: AuditEvent): boolean => user.startsWith('system:node:');

export function auditSummaryOf(events: readonly AuditEvent[]): AuditSummary {
  const own = events.filter((event) => isPod(event) && isWrite(event));
  const request = requestIn(own);
  const moments = own.flatMap((event): WhyMoment[] => {
    const text = textOf(event, event === request);
    const { receivedAt: earliest, answeredAt: latest, user } = event;
    // The object was stored at some time between the request and its response.
    return text === undefined ? [] : [{ ...text, earliest, latest, source: `audit log, ${user}`, isBad: false }];
  });
  return {
    uid: uidOf(own),
    deletedBy: request && {
      user: request.user,
      userAgent: request.userAgent,
      sourceIPs: request.sourceIPs,
      verb: isEviction(request) ? 'evict' : 'delete',
    },
    moments: moments.sort((a, b) => a.earliest - b.earliest),
    hasObjects: own.some((event) => event.object?.['kind'] === 'Pod'),
    isForced: wasRemovedWhileRunning(own),
  };
}

/** The uid of the pod that was deleted last: a StatefulSet reuses names, and logs may come from several clusters. */
export function uidOf(events: readonly AuditEvent[]): string | undefined {
  const own = events.filter((event) => isPod(event) && isWrite(event) && event.object?.['kind'] === 'Pod');
  const deleted = own.findLast((event) => metadataOf(event.object)['deletionTimestamp'] !== undefined);
  return [deleted, ...own.toReversed()].flatMap((event) => asString(metadataOf(event?.object)['uid']) ?? [])[0];
}

/** The event is about a pod with another uid. False for an event without an object, which may be about either. */
export function isOfOtherPod({ resource, object }: AuditEvent, uid: string): boolean {
  const about = resource === 'events' ? asObject(object?.['involvedObject']) : metadataOf(object);
  const own = object?.['kind'] === 'Pod' || resource === 'events' ? asString(about['uid']) : undefined;
  return own !== undefined && own !== uid;
}

function wasRemovedWhileRunning(own: readonly AuditEvent[]): boolean {
  const last = own.filter((event) => event.object?.['kind'] === 'Pod').at(-1);
  const statuses = asArray(asObject(last?.object?.['status'])['containerStatuses']).map(asObject);
  const isRemoved = last !== undefined && metadataOf(last.object)['deletionGracePeriodSeconds'] === 0;
  return isRemoved && statuses.some((status) => asObject(status['state'])['running'] !== undefined);
}

/** The first DELETE or eviction by a client that was accepted. */
export const requestIn = (events: readonly AuditEvent[]): AuditEvent | undefined =>
  events.find((event) => isDone(event) && (isEviction(event) || (isDelete(event) && !isKubelet(event))));

function textOf(event: AuditEvent, isRequest: boolean): { name: string; what: string } | undefined {
  if (isEviction(event) && event.status === 429)
    return { name: 'eviction-refused', what: 'an eviction was refused by a PodDisruptionBudget' };
  if (!isDone(event)) return undefined;
  if (isRequest) return { name: 'accepted', what: isEviction(event) ? 'eviction accepted' : 'delete accepted' };
  if (isDelete(event))
    return isKubelet(event)
      ? { name: 'final-delete', what: 'final delete by the kubelet' }
      : { name: 'deleted-again', what: 'deleted again' };
  if (event.subresource === 'status') return { name: 'status', what: 'the kubelet reported a status' };
  return undefined;
}
