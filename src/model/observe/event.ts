import { narrowMetadata } from './metadata.ts';
import { asNumber, asObject, asString, asText, constant, shape } from './read.ts';

/** Reasons whose message has a fixed form that rules parse (SIGNALS.md §2.2). Other messages may quote anything. */
export const reasonsWithMessage: ReadonlySet<string> = new Set([
  'Killing',
  'FailedKillPod',
  'Preempted',
  'Preempting',
  'TaintManagerEviction',
  'DeviceTaintManagerEviction',
  'SuccessfulDelete',
  'ScalingReplicaSet',
  'SuccessfulRescale',
  'NodeNotReady',
  'NodeReady',
  'Starting',
  'Shutdown',
  'Rebooted',
  'DeadlineExceeded',
  'Evicted',
  'Disrupted',
  'DisruptionTerminating',
]);

export type Event = ReturnType<typeof narrowEvent>;

/** Reads an Event of core/v1 or events.k8s.io/v1 in the core form (SIGNALS.md §2.1: support both). */
export const narrowEvent = shape({
  kind: constant('Event'),
  metadata: narrowMetadata,
  reason: asText,
  type: asString,
  reportingComponent: (own, { reportingController, source, deprecatedSource }) =>
    asString(own) ?? asString(reportingController) ?? asString(asObject(source ?? deprecatedSource)['component']),
  /** Kept only for these reasons; for probes, only the words of `probeWords`. */
  message: (own, { reason, note }) => narrowMessage(asText(reason), asString(own) ?? asString(note)),
  involvedObject: (own, { regarding }) =>
    shape({ kind: asText, name: asText, uid: asString, fieldPath: asString })(own ?? regarding),
  count: (own, { deprecatedCount, series }) =>
    asNumber(own) ?? asNumber(deprecatedCount) ?? asNumber(asObject(series)['count']) ?? 1,
  firstTimestamp: (own, { deprecatedFirstTimestamp }) => asString(own ?? deprecatedFirstTimestamp),
  lastTimestamp: (own, { deprecatedLastTimestamp, series }) =>
    asString(own ?? deprecatedLastTimestamp ?? asObject(series)['lastObservedTime']),
  eventTime: asString,
});

/** The words that name what refused to create a pod (apiserver: resourcequota, webhook). */
export const refusalIn = (message: string | undefined): string | undefined =>
  /(exceeded|failed) quota: [\w.-]+|admission webhook "[\w.-]+" denied/.exec(message ?? '')?.[0];

/** A probe's message quotes the application's answer: only the kind of probe and a refused connection are kept. */
function narrowMessage(reason: string, message: string | undefined): string | undefined {
  if (message === undefined) return undefined;
  if (reason === 'FailedCreate') return refusalIn(message);
  if (reason === 'Unhealthy') return probeWords.filter((word) => message.includes(word)).join(' ') || undefined;
  return reasonsWithMessage.has(reason) ? message : undefined;
}

const probeWords = ['Readiness', 'Liveness', 'Startup', 'errored', 'connection refused'];

/** From the tenth similar Event in ten minutes on, Events are merged; the newest message is kept (SIGNALS.md §2.1). */
const mergedPrefix = '(combined from similar events): ';

export const isMerged = ({ message }: { readonly message: string }): boolean => message.startsWith(mergedPrefix);

/** The original message of the newest merged Event. */
export const newestMessage = (event: { readonly message: string }): string =>
  isMerged(event) ? event.message.slice(mergedPrefix.length) : event.message;
