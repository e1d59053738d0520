/** Reconstructs an exit from audit logs by replaying their events, and lists what a log cannot show. */
import type { RawObservation } from '../../model/observation.ts';
import { asObject } from '../../model/observe/read.ts';
import type { Report } from '../../verdict/report.ts';
import { markOf } from '../../verdict/rule-input.ts';
import { plural } from '../../verdict/words.ts';
import { recordsWith, eventsInText } from './audit-records.ts';
import { observationsOf } from './audit-observations.ts';
import {
  auditEventOf,
  deleterIn,
  deletionAmongOthers,
  isOfOtherPod,
  isPod,
  isWrite,
  momentsIn,
  ofPodDeletedLast,
  requestIn,
  triggerBy,
  uidIn,
  type AuditEvent,
} from './audit-events.ts';
import { pastExitOf, type PastExit } from './report.ts';

/** Runs a log about one pod (run/recorded-run.ts). */
export type ReportOfLog = (log: readonly RawObservation[]) => Promise<Report | undefined>;

/** A pod with more events goes on running. */
const maxEvents = 20_000;

/** Undefined if no log names the pod; `notice` then receives that, and what could not be read. Throws `audit.unreadable`. */
export async function fromAuditLogs(
  name: string,
  namespace: string,
  { auditLogs, reportOfLog }: { auditLogs: readonly string[]; reportOfLog: ReportOfLog },
  notice: (text: string) => void,
): Promise<PastExit | undefined> {
  if (auditLogs.length === 0) return undefined;
  const { own, notices } = await eventsIn(auditLogs, name, namespace);
  const writes = own.filter(isWrite);
  const podWrites = writes.filter(isPod);
  const request = requestIn(podWrites);
  const moments = momentsIn(podWrites, request);
  if (moments.length === 0) {
    notices.forEach((text) => notice(`the audit log cannot tell ${text}`));
    notice(`no audit log has an exit of pod "${name}" in namespace "${namespace}"`);
    return undefined;
  }
  const areTimed = writes.every(({ isAnswerTimed }) => isAnswerTimed);
  const found = areTimed ? await reportOfLog(observationsOf(writes, request, namespace)) : undefined;
  // A log may lack the deletion: that it shows none proves nothing.
  const hasDeletion = found?.verdict.outcome !== 'not-started';
  const exit = hasDeletion ? found : undefined;
  const heading = 'reconstructed from the audit log, by the clock of the API server';
  const known = exit
    ? pastExitOf(exit, 'audit-log', heading)
    : ({
        basis: 'audit-log',
        outcome: 'unknown',
        trigger: 'unknown',
        pod: { namespace, name, uid: uidIn(writes) },
        heading,
        summary: `how it exited is not known: the audit log contains ${hasDeletion ? 'no objects at its level' : 'no deletion of it'}`,
      } as const);
  // What a live run would also have seen, but these events cannot show.
  const unknowns: [boolean, string][] = [
    [!request, 'who deleted it: no request that is known to have deleted it is in the log'],
    [!exit && hasDeletion && areTimed, 'how its containers exited: the level of the log is below RequestResponse'],
    [!areTimed, 'how its containers exited: the log does not say when requests were answered'],
    [
      exit !== undefined && !own.some(({ resource, object }) => resource === 'events' && object),
      'the exact start of the termination, of hooks and of signals: the log contains no Event of the pod',
    ],
    [
      exit?.timeline.containers.some((one) => one.ran && !one.exit && markOf(exit.timeline, 'removed')) === true,
      'how its containers ended: it was removed before the kubelet had reported that',
    ],
    [
      exit !== undefined,
      'when it was taken out of traffic, its replacement, its node and its logs: only what names the pod was read',
    ],
  ];
  const cannotTell = [...unknowns.flatMap(([isUnknown, what]) => (isUnknown ? [what] : [])), ...notices];
  const trigger = known.trigger === 'unknown' && request ? triggerBy(request) : known.trigger;
  return { ...known, trigger, deletedBy: request && deleterIn(request), moments, cannotTell };
}

/** Completes "cannot tell what 2 lines say:". A document counts as a line. */
const unreadTexts = {
  'no-json': 'not JSON',
  'no-audit-event': 'not events of audit.k8s.io',
  'no-time': 'without readable times',
  'too-long': 'longer than 256 MB',
  'other-pod': 'of other pods of this name, by their uid',
  'too-many': `beyond the first ${maxEvents}`,
  cut: 'the rest, after the place where it breaks off',
};
type LostInput = keyof typeof unreadTexts;

/** `own`: about the pod, and about its Events; oldest first. */
async function eventsIn(files: readonly string[], name: string, namespace: string) {
  /** By request: some logs have an entry for each stage, and a log may be exported twice. The last one counts. */
  const found = new Map<string, AuditEvent>();
  const unread = new Map<LostInput, number>();
  const count = (why: LostInput): void => void unread.set(why, (unread.get(why) ?? 0) + 1);
  // In a string of JSON, quotes are escaped: the last one always, the first one as .NET does it.
  const named = [`"${name}`, `u0022${name}`, `/${name}`];
  for (const file of files)
    // The deletion of many pods may not name the pod.
    for await (const text of recordsWith(file, [...named, 'deletecollection'], count)) {
      const events = eventsInText(text);
      if (!events?.length && named.some((one) => text.includes(one))) count(events ? 'no-audit-event' : 'no-json');
      for (const raw of events ?? []) {
        const event = auditEventOf(raw);
        if (event === 'no-time') count(event);
        const own = typeof event === 'object' && event.namespace === namespace ? aboutPod(event, name) : undefined;
        if (own && found.size < maxEvents) found.set(requestKey(own) ?? `${found.size}`, own);
        else if (own) count('too-many');
      }
    }
  const oldestFirst = [...found.values()].sort((a, b) => a.answeredAt - b.answeredAt);
  const sorted = ofPodDeletedLast(oldestFirst, name);
  const uid = uidIn(sorted.filter(isWrite));
  const own = sorted.filter((event) => {
    const isOther = uid !== undefined && isOfOtherPod(event, uid);
    if (isOther) count('other-pod');
    return !isOther;
  });
  const notices = [...unread].map(([lost, number]) => {
    const unit = lost === 'cut' ? 'file' : 'line';
    return `what ${plural(number, `${unit} says`, `${unit}s say`)}: ${unreadTexts[lost]}`;
  });
  return { own, notices };
}

/** The same for all events of one request; undefined if the log does not say which belong to one. */
const requestKey = ({ auditId, isAnswerTimed, ...event }: AuditEvent): string | undefined =>
  auditId !== '' || !isAnswerTimed
    ? [auditId, event.receivedAt, event.verb, event.uri, event.name].join(' ')
    : undefined;

function aboutPod(event: AuditEvent, name: string): AuditEvent | undefined {
  const { resource, verb, object } = event;
  if (resource === 'pods' && verb === 'deletecollection') return deletionAmongOthers(event, name);
  const own = { pods: event.name, events: asObject(object?.['involvedObject'])['name'] }[resource];
  return own === name ? event : undefined;
}
