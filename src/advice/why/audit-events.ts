/** Audit events of one pod → who deleted it, and moments on the API server's clock. Any level will do. Pure. */
import {
  asArray,
  asNumber,
  asObject,
  asString,
  asStrings,
  asText,
  metadataOf,
  type JsonObject,
} from '../../model/observe/read.ts';
import type { TriggerKind } from '../../model/report.ts';
import { second } from '../../model/span.ts';
import { parseTime } from '../../model/stamps.ts';
import deletingUsers from '../data/deleting-users.json' with { type: 'json' };
import type { PastExit, WhyMoment } from './report.ts';

export type AuditEvent = Exclude<ReturnType<typeof auditEventOf>, string | undefined>;

/** Undefined before the last stage of a request, which has its own event. audit.k8s.io/v1beta1 has the same fields. */
export function auditEventOf(raw: JsonObject) {
  if (raw['stage'] !== 'ResponseComplete') return undefined;
  const receivedAt = parseTime(asString(raw['requestReceivedTimestamp']));
  const completedAt = parseTime(asString(raw['stageTimestamp']));
  const isUnreadable = completedAt === undefined && raw['stageTimestamp'] !== undefined;
  if (receivedAt === undefined || isUnreadable) return 'no-time' as const;
  // A write takes no longer: `--request-timeout` of the API server, unless it was changed.
  const answeredAt = completedAt ?? receivedAt + 60_000;
  const reference = asObject(raw['objectRef']);
  const user = asObject(raw['impersonatedUser'] ?? raw['user']);
  const object = asObject(raw['responseObject']);
  return {
    verb: asText(raw['verb']),
    resource: asText(reference['resource']),
    subresource: asText(reference['subresource']),
    name: asString(reference['name']) ?? asString(metadataOf(object)['name']) ?? '',
    namespace: asText(reference['namespace']),
    status: asNumber(asObject(raw['responseStatus'])['code']) ?? 0,
    user: asString(user['username']) ?? 'unknown',
    userAgent: asString(raw['userAgent']) ?? 'unknown',
    sourceIPs: asStrings(raw['sourceIPs']),
    uri: asText(raw['requestURI']),
    /** One for each request, if the log has them. */
    auditId: asText(raw['auditID']),
    /** When the request arrived and when its response was complete: ms since the epoch, with fractions. */
    receivedAt,
    answeredAt: Math.max(receivedAt, answeredAt),
    isAnswerTimed: completedAt !== undefined,
    /** What the server stored, if the level of the event includes it. */
    object: object['metadata'] === undefined ? undefined : object,
    /** What the client sent, if the level of the event includes it. */
    sent: raw['requestObject'] === undefined ? undefined : asObject(raw['requestObject']),
  };
}

export const isPod = (event: AuditEvent): boolean =>
  event.resource === 'pods' && event.subresource !== 'log' && event.subresource !== 'exec';
export const isDone = ({ status }: AuditEvent): boolean => status >= 200 && status < 300;
export const isWrite = ({ verb }: AuditEvent): boolean =>
  ['create', 'update', 'patch', 'delete', 'deletecollection'].includes(verb);
const isDelete = (event: AuditEvent): boolean =>
  isPod(event) && event.subresource === '' && (event.verb === 'delete' || event.verb === 'deletecollection');
const isEviction = (event: AuditEvent): boolean => isPod(event) && event.subresource === 'eviction';
const isDeletion = (event: AuditEvent): boolean => isDone(event) && (isDelete(event) || isEviction(event));
const isKubelet = ({ user }: AuditEvent): boolean => user.startsWith('system:node:');

export const isBinding = (event: AuditEvent): boolean =>
  isPod(event) && event.subresource === 'binding' && isDone(event);

/** A `deletecollection` as the deletion of one pod, which its response lists; without one, only a request without a selector has it. */
export function deletionAmongOthers(event: AuditEvent, name: string): AuditEvent | undefined {
  if (!event.object) return event.uri.includes('?') ? undefined : event;
  const listed = asArray(event.object['items'], Infinity).map(asObject);
  const own = listed.find((item) => metadataOf(item)['name'] === name);
  return own && { ...event, name, object: own };
}

/** Of all pods that had this name, the events of the one deleted last. The next pod is created or bound after it. */
export function ofPodDeletedLast(events: readonly AuditEvent[], name: string): AuditEvent[] {
  const firstNamed = events.findIndex((event) => event.name === name);
  const pods: AuditEvent[][] = [[]];
  const hasDeletion = (own: readonly AuditEvent[] = []): boolean => own.some(isDeletion);
  for (const [index, event] of events.entries()) {
    // It came before there was such a pod.
    if (event.verb === 'deletecollection' && event.name !== name && index < firstNamed) continue;
    const isCreation = isPod(event) && event.subresource === '' && event.verb === 'create' && isDone(event);
    if ((isCreation || isBinding(event)) && hasDeletion(pods.at(-1))) pods.push([]);
    pods.at(-1)?.push(event);
  }
  return pods.findLast(hasDeletion) ?? pods.flat();
}

/** The state of the pod that the event stored, if its level includes it. */
export const podIn = (event: AuditEvent): JsonObject | undefined =>
  isPod(event) && event.object?.['kind'] === 'Pod' ? event.object : undefined;

export const deleterIn = (request: AuditEvent): PastExit['deletedBy'] => {
  const { user, userAgent, sourceIPs } = request;
  return { user, userAgent, sourceIPs, verb: isEviction(request) ? 'evict' : 'delete' };
};

/** `writes`: of the pod. `request`: the one among them that deleted it. */
export const momentsIn = (writes: readonly AuditEvent[], request: AuditEvent | undefined): WhyMoment[] =>
  writes
    .flatMap((event): WhyMoment[] => {
      const text = textOf(event, event === request);
      const { receivedAt: earliest, answeredAt: latest, user } = event;
      // The object was stored at some time between the request and its response.
      return text === undefined ? [] : [{ ...text, earliest, latest, source: `audit log, ${user}` }];
    })
    .sort((a, b) => a.earliest - b.earliest);

/** The uid of the pod that was deleted last: a StatefulSet reuses names, and logs may come from several clusters. */
export function uidIn(writes: readonly AuditEvent[]): string | undefined {
  const pods = writes.flatMap((event) => podIn(event) ?? []);
  const deleted = pods.findLast((pod) => metadataOf(pod)['deletionTimestamp'] !== undefined);
  return [deleted, ...pods.toReversed()].flatMap((pod) => asString(metadataOf(pod)['uid']) ?? [])[0];
}

/** The event is about a pod with another uid. False for an event that shows no uid, which may be about either. */
export function isOfOtherPod({ resource, object, sent }: AuditEvent, uid: string): boolean {
  const about = { pods: [metadataOf(object), metadataOf(sent)], events: [asObject(object?.['involvedObject'])] };
  return (about[resource as keyof typeof about] ?? []).some((one) => ![undefined, uid].includes(asString(one['uid'])));
}

/** The first accepted DELETE or eviction by a client, unless a stored state shows that the deletion began otherwise. */
export function requestIn(writes: readonly AuditEvent[]): AuditEvent | undefined {
  const deleted = writes.filter((event) => metadataOf(podIn(event))['deletionTimestamp'] !== undefined);
  const isFirst = (event: AuditEvent): boolean => deleted.every((state) => mayHaveBegun(event, state));
  return writes.find((event) => isDeletion(event) && !isKubelet(event) && isFirst(event));
}

/** By the time that deletionTimestamp shows; later requests keep it, unless they leave 1s or 0s. */
function mayHaveBegun({ receivedAt, answeredAt }: AuditEvent, state: AuditEvent): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = metadataOf(podIn(state));
  const begin = (parseTime(asString(deletionTimestamp)) ?? NaN) - Number(grace) * second;
  return state.answeredAt >= receivedAt && !(Number(grace) > 1 && (begin + second <= receivedAt || begin > answeredAt));
}

/** What controllers of Kubernetes delete pods for. Those of workloads may do it for a rollout or a smaller scale. */
const triggerOfUser = new Map(Object.entries(deletingUsers) as [string, TriggerKind][]);

export const triggerBy = (request: AuditEvent): TriggerKind =>
  isEviction(request) ? 'eviction-api' : (triggerOfUser.get(request.user) ?? 'unknown');

function textOf(event: AuditEvent, isRequest: boolean): { name: string; what: string } | undefined {
  if (isEviction(event) && event.status === 429)
    return { name: 'eviction-refused', what: 'an eviction was refused by a PodDisruptionBudget' };
  if (!isDone(event)) return undefined;
  const grace = asNumber(asObject(event.sent?.['deleteOptions'] ?? event.sent)['gracePeriodSeconds']);
  const options = grace === undefined ? '' : ` with a grace period of ${grace}s`;
  if (isRequest) return { name: 'accepted', what: `${isEviction(event) ? 'eviction' : 'delete'} accepted${options}` };
  // It may have come after the pod was gone.
  if (event.verb === 'deletecollection' && event.name === '') return undefined;
  if (isDelete(event))
    return isKubelet(event)
      ? { name: 'final-delete', what: 'final delete by the kubelet' }
      : { name: 'deleted-again', what: 'deleted again' };
  if (event.subresource === 'status')
    return { name: 'status', what: isKubelet(event) ? 'the kubelet reported a status' : 'its status was changed' };
  return undefined;
}
