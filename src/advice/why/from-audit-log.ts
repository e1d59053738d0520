/** Reconstructs an exit from audit logs by replaying their events, and lists what a log cannot show. */
import type { RawObservation } from '../../model/observation.ts';
import { asArray, asObject, type JsonObject } from '../../model/observe/read.ts';
import type { Report } from '../../verdict/report.ts';
import { plural } from '../../verdict/words.ts';
import { linesWith, type ReadProblem } from './audit-lines.ts';
import { observationsOf } from './audit-observations.ts';
import {
  auditEventOf,
  deletedBy,
  deletionAmongOthers,
  isOfOtherPod,
  isPod,
  isWrite,
  momentsIn,
  ofPodDeletedLast,
  requestIn,
  triggerBy,
  uidOf,
  wasRemovedWhileRunning,
  type AuditEvent,
  type UnusableLine,
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
  const found = await reportOfLog(observationsOf(writes, request, namespace));
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
        pod: { namespace, name, uid: uidOf(writes) },
        heading,
        summary: `how it exited is not known: the audit log contains ${hasDeletion ? 'no objects at its level' : 'no deletion of it'}`,
      } as const);
  const has = (kind: string): boolean => own.some(({ resource, object }) => resource === kind && object !== undefined);
  // What a live run would also have seen, but these events cannot show.
  const unknowns: [boolean, string][] = [
    [!request, 'who deleted it: no request that is known to have deleted it is in the log'],
    [!exit && hasDeletion, 'how its containers exited: the level of the log is below RequestResponse'],
    [
      exit !== undefined && !has('events'),
      'the exact start of the termination, of hooks and of signals: the log contains no Event of the pod',
    ],
    [
      exit !== undefined && !has('endpointslices'),
      'when it was taken out of traffic: the log contains no EndpointSlice with the pod',
    ],
    [
      wasRemovedWhileRunning(podWrites),
      'how its containers ended: it was removed before the kubelet had reported that',
    ],
    [exit !== undefined, 'its replacement, its node and its logs: only what names the pod was read'],
  ];
  const cannotTell = [...unknowns.flatMap(([isUnknown, what]) => (isUnknown ? [what] : [])), ...notices];
  const trigger = known.trigger === 'unknown' && request ? triggerBy(request) : known.trigger;
  return { ...known, trigger, deletedBy: request && deletedBy(request), moments, cannotTell };
}

/** Completes "cannot tell what 2 lines say:". */
const unreadTexts = {
  'no-json': 'not JSON',
  'no-audit-event': 'not events of audit.k8s.io',
  'no-time': 'without readable times',
  'too-long': 'longer than 32 MB',
  'other-pod': 'of other pods of this name, by their uid',
  'out-of-order': 'of its EndpointSlices, which are not in order of time',
  'too-many': `beyond the first ${maxEvents}`,
} satisfies Record<Exclude<UnusableLine | ReadProblem, 'cut'> | 'other-pod' | 'out-of-order' | 'too-many', string>;
type LostInput = keyof typeof unreadTexts | 'cut';

function noticeOf(lost: LostInput, count: number): string {
  if (lost !== 'cut') return `what ${plural(count, 'line says', 'lines say')}: ${unreadTexts[lost]}`;
  const files = plural(
    count,
    'file contains after the position where it breaks',
    'files contain after the position where they break',
  );
  return `what ${files} off`;
}

/** Events about the pod, about its Events, and about its slices since they first held it; oldest first. */
async function eventsIn(
  files: readonly string[],
  name: string,
  namespace: string,
): Promise<{ own: AuditEvent[]; notices: string[] }> {
  const found: AuditEvent[] = [];
  const slices = new Set<string>();
  /** By slice, the latest event before the line that shows the pod in it: a namespace may have too many to keep them. */
  const skippedUntil = new Map<string, number>();
  const unread = new Map<LostInput, number>();
  const count = (why: LostInput): void => void unread.set(why, (unread.get(why) ?? 0) + 1);
  // The write that removes the pod from a slice does not name the pod, and the deletion of many pods may not.
  const texts = [`"${name}"`, `/${name}`, '"endpointslices"', '"deletecollection"'];
  for (const file of files)
    for await (const line of linesWith(file, texts, count)) {
      const read = auditEventOf(line);
      if (typeof read === 'string') count(read);
      if (typeof read !== 'object' || read.namespace !== namespace) continue;
      const event = aboutPod(read, name);
      if (!event) continue;
      if (isSlice(event) && holdsPod(event.object, name)) slices.add(event.name);
      if (isSlice(event) && !slices.has(event.name))
        skippedUntil.set(event.name, Math.max(event.answeredAt, skippedUntil.get(event.name) ?? 0));
      else if (found.length < maxEvents) found.push(event);
      else count('too-many');
    }
  // What was skipped may show when the pod left the slice.
  const isIncomplete = found.some((one) => isSlice(one) && one.answeredAt < (skippedUntil.get(one.name) ?? 0));
  if (isIncomplete) found.filter(isSlice).forEach(() => count('out-of-order'));
  const sorted = ofPodDeletedLast(
    found.filter((one) => !(isIncomplete && isSlice(one))).sort((a, b) => a.answeredAt - b.answeredAt),
    name,
  );
  const uid = uidOf(sorted.filter(isWrite));
  const own = sorted.filter((event) => {
    const isOther = uid !== undefined && isOfOtherPod(event, uid);
    if (isOther) count('other-pod');
    return !isOther;
  });
  return { own, notices: [...unread].map(([lost, number]) => noticeOf(lost, number)) };
}

const isSlice = ({ resource }: AuditEvent): boolean => resource === 'endpointslices';

/** The event if it is about the pod, or about any slice. */
function aboutPod(event: AuditEvent, name: string): AuditEvent | undefined {
  const { resource, verb, object, name: own } = event;
  if (resource === 'pods' && verb === 'deletecollection') return deletionAmongOthers(event, name);
  const about = { pods: own, events: asObject(object?.['involvedObject'])['name'], endpointslices: name };
  return Object.hasOwn(about, resource) && about[resource as keyof typeof about] === name ? event : undefined;
}

const holdsPod = (object: JsonObject | undefined, name: string): boolean =>
  asArray(object?.['endpoints']).some((endpoint) => asObject(asObject(endpoint)['targetRef'])['name'] === name);
