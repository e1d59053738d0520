import type { Stamp } from './container.ts';
import { narrowMetadata, type Metadata } from './metadata.ts';
import { asNumber, asObject, asString, compact } from './read.ts';

/** An Event of either API (core/v1 or events.k8s.io/v1), in the core form. */
export interface Event {
  kind: 'Event';
  metadata: Metadata;
  reason: string;
  type?: string;
  reportingComponent?: string;
  /** Kept only for the reasons whose message has a form that we read; of a probe only what failed. */
  message?: string;
  involvedObject: { kind: string; name: string; uid?: string; fieldPath?: string };
  count: number;
  firstTimestamp?: Stamp;
  lastTimestamp?: Stamp;
  eventTime?: string;
}

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

/** An Event of core/v1 or events.k8s.io/v1 in the core form (SIGNALS.md §2.1: support both). */
export function narrowEvent(raw: unknown): Event {
  const event = asObject(raw);
  const involved = asObject(event['involvedObject'] ?? event['regarding']);
  const series = asObject(event['series']);
  const reason = asString(event['reason']) ?? '';
  return compact<Event>({
    kind: 'Event',
    metadata: narrowMetadata(event['metadata']),
    reason,
    type: asString(event['type']),
    reportingComponent:
      asString(event['reportingComponent']) ??
      asString(event['reportingController']) ??
      asString(asObject(event['source'] ?? event['deprecatedSource'])['component']),
    message: narrowMessage(reason, asString(event['message']) ?? asString(event['note'])),
    involvedObject: compact({
      kind: asString(involved['kind']) ?? '',
      name: asString(involved['name']) ?? '',
      uid: asString(involved['uid']),
      fieldPath: asString(involved['fieldPath']),
    }),
    count: asNumber(event['count']) ?? asNumber(event['deprecatedCount']) ?? asNumber(series['count']) ?? 1,
    firstTimestamp: asString(event['firstTimestamp'] ?? event['deprecatedFirstTimestamp']),
    lastTimestamp: asString(event['lastTimestamp'] ?? event['deprecatedLastTimestamp'] ?? series['lastObservedTime']),
    eventTime: asString(event['eventTime']),
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
