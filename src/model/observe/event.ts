import { narrowMetadata } from './metadata.ts';
import { asNumber, asObject, asString, constant, shape, textOr } from './read.ts';

/** Reasons whose message has a fixed form that rules parse (SIGNALS.md §2.2). Other messages may quote anything. */
export const reasonsWithMessage: ReadonlySet<string> = new Set([
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
  /** Kept only for these reasons; for probes, only the words of `probeWords`. */
  message: asString,
  involvedObject: shape({ kind: textOr(''), name: textOr(''), uid: asString, fieldPath: asString }),
  count: (raw) => asNumber(raw) ?? 1,
  firstTimestamp: asString,
  lastTimestamp: asString,
  eventTime: asString,
});

/** Converts an Event of core/v1 or events.k8s.io/v1 to the core form (SIGNALS.md §2.1: support both). */
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

/** A probe's message quotes the application's answer: only the kind of probe and a refused connection are kept. */
function narrowMessage(reason: string, message: string | undefined): string | undefined {
  if (message === undefined) return undefined;
  if (reason === 'Unhealthy') return probeWords.filter((word) => message.includes(word)).join(' ') || undefined;
  return reasonsWithMessage.has(reason) ? message : undefined;
}

const probeWords = ['Readiness', 'Liveness', 'Startup', 'connection refused'];

/** From the tenth similar Event in ten minutes on, Events are merged; the newest message is kept (SIGNALS.md §2.1). */
const mergedPrefix = '(combined from similar events): ';

export const isMerged = ({ message }: { readonly message: string }): boolean => message.startsWith(mergedPrefix);

/** The original message of the newest merged Event. */
export const newestMessage = (event: { readonly message: string }): string =>
  isMerged(event) ? event.message.slice(mergedPrefix.length) : event.message;
