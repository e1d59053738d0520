import { narrowMetadata } from './metadata.ts';
import { asNumber, asObject, asString, constant, shape, textOr } from './read.ts';

/** Reasons whose message has a fixed form that rules read (SIGNALS.md §2.2). Others lose theirs: it may quote anything. */
const readMessages = new Set([
  'Killing',
  'FailedKillPod',
  'Preempted',
  'Preempting',
  'TaintManagerEviction',
  'DeviceTaintManagerEviction',
  'NodeControllerEviction',
  'SuccessfulDelete',
  'SuccessfulCreate',
  'ScalingReplicaSet',
  'SuccessfulRescale',
  'NodeNotReady',
  'NodeReady',
  'Starting',
  'Shutdown',
  'Rebooted',
  'Completed',
  'Suspended',
  'DeadlineExceeded',
]);

export type Event = ReturnType<typeof narrowCoreEvent>;

const narrowCoreEvent = shape({
  kind: constant('Event'),
  metadata: narrowMetadata,
  reason: textOr(''),
  type: asString,
  reportingComponent: asString,
  /** Kept only for the reasons whose message has a form that we read; of a probe only what failed. */
  message: asString,
  involvedObject: shape({ kind: textOr(''), name: textOr(''), uid: asString, fieldPath: asString }),
  count: (raw) => asNumber(raw) ?? 1,
  firstTimestamp: asString,
  lastTimestamp: asString,
  eventTime: asString,
});

/** An Event of core/v1 or events.k8s.io/v1 in the core form (SIGNALS.md §2.1: support both). */
export function narrowEvent(raw: unknown): Event {
  const event = asObject(raw);
  const series = asObject(event['series']);
  return narrowCoreEvent({
    ...event,
    reportingComponent:
      asString(event['reportingComponent']) ??
      asString(event['reportingController']) ??
      asObject(event['source'] ?? event['deprecatedSource'])['component'],
    message: narrowMessage(asString(event['reason']) ?? '', asString(event['message']) ?? asString(event['note'])),
    involvedObject: event['involvedObject'] ?? event['regarding'],
    count: asNumber(event['count']) ?? asNumber(event['deprecatedCount']) ?? series['count'],
    firstTimestamp: event['firstTimestamp'] ?? event['deprecatedFirstTimestamp'],
    lastTimestamp: event['lastTimestamp'] ?? event['deprecatedLastTimestamp'] ?? series['lastObservedTime'],
  });
}

/** A probe's message quotes the application's answer; kept is which probe it was and whether the port was closed. */
function narrowMessage(reason: string, message: string | undefined): string | undefined {
  if (message === undefined) return undefined;
  if (reason === 'Unhealthy') return probeWords.filter((word) => message.includes(word)).join(' ') || undefined;
  return readMessages.has(reason) ? message : undefined;
}

const probeWords = ['Readiness', 'Liveness', 'Startup', 'connection refused'];

/** From the tenth within ten minutes on Events that are alike are one, whose message is the newest's (SIGNALS.md §2.1). */
const prefix = '(combined from similar events): ';

export const isMerged = ({ message }: { readonly message: string }): boolean => message.startsWith(prefix);

/** The message as the newest of them was written. */
export const newestMessage = (event: { readonly message: string }): string =>
  isMerged(event) ? event.message.slice(prefix.length) : event.message;
