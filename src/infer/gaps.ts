/** Where evidence may be missing: stretches (client ms) of streams and clocks, and Events. Pure. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { StreamName } from '../model/observation.ts';
import { isMerged } from '../model/observe/event.ts';
import { second, type Span } from '../model/span.ts';
import { isRefused, lostSince, type Fact, type Trace } from '../model/trace.ts';
import { deliveryLagOf } from './arrival.ts';
import type { Estimate } from './estimate.ts';
import type { PodNetwork } from './pod-network.ts';
import type { TimelineGap } from './timeline.ts';

/** The resource that a Role has to grant for a stream of another name. */
const resourceOf: Partial<Record<StreamName, string>> = {
  pod: 'pods',
  logs: 'pods/log',
  node: 'nodes',
  'node-events': 'events (nodes)',
  lease: 'leases',
  owner: 'owners',
  'owner-events': 'events (owners)',
  siblings: 'pods (siblings)',
  namespace: 'namespaces',
};

/** The stretches in which streams may have missed changes. */
export function streamGaps(trace: Trace): TimelineGap[] {
  const gaps = trace.gaps.map(({ value: { stream, from, to, cause } }) => gapIn(stream, cause, from, to));
  const broken = brokenLogs(trace).map(({ at }) => gapIn('logs', 'disconnected', at));
  const refused = trace.refused.map(({ value, at }) => gapIn(value.stream, 'refused', at));
  return [...gaps, ...broken, ...lateChanges(trace), ...refused];
}

const gapIn = (stream: StreamName, cause: TimelineGap['cause'], from: number, to?: number): TimelineGap => ({
  resource: resourceOf[stream] ?? stream,
  from,
  to,
  cause,
});

/** Clocks that were set, or may have been: nothing is dated by them. */
export const clockGaps = ({ unusable: { api, node } }: PodNetwork): TimelineGap[] => [
  ...(api ? [{ resource: 'clock of the API server', from: api.lo, to: api.hi, cause: 'clock-stepped' as const }] : []),
  ...(node ? [{ resource: 'clock of the node', from: node.lo, to: node.hi, cause: 'clock-stepped' as const }] : []),
];

/** Stretches of over a second in which nothing was lost, but changes arrived late, as the connection or the server was down. */
const lateChanges = (trace: Trace): TimelineGap[] =>
  trace.resumes
    .filter(({ value, at }) => value.late && (value.until ?? at) - value.since > second)
    .map(({ value, at }) => gapIn(value.stream, 'late', value.since, value.until ?? at));

/** The ends of logs that broke off before the pod was gone. */
export const brokenLogs = ({ containers, gone }: Trace): Fact<unknown>[] =>
  [...containers.values()].flatMap(({ log: { ended } }) =>
    ended && !ended.value.clean && ended.at < (gone?.at ?? Infinity) ? [ended] : [],
  );

/** Whether lines of a container's log may be missing in a stretch of client time. */
export const hasLogGap = ({ gaps }: Trace, name: string, { lo, hi }: Span): boolean =>
  gaps.some(
    ({ value: { stream, container = name, from, to = Infinity } }) =>
      stream === 'logs' && container === name && to > lo && from < hi,
  );

/**
 * Whether a Killing may be missing, so that its absence proves nothing: it was not written, or the stream was lost before it
 * could arrive. The kubelet writes all at once (SIGNALS.md §2 S3). `ended`: the exit of its container, if known.
 */
export function killingsMissing(trace: Trace, ended?: Estimate): boolean {
  const { gone, events, deletion, requests } = trace;
  const since = Math.min(deletion?.seenAt ?? Infinity, ...requests.map(({ sent }) => sent.at));
  const killedAt = events.find(({ reason, at }) => reason === 'Killing' && at >= since)?.at ?? Infinity;
  const due = Math.min(
    killedAt,
    gone?.at ?? Infinity,
    (ended?.client.hi ?? Infinity) + millisecondsOf('event-lag') + deliveryLagOf(trace),
  );
  return killingsUnwritten(trace) || lostSince(trace, 'events') < due;
}

/**
 * Whether a Killing may be missing without a gap: we may not read Events, a terminating namespace accepts no new ones
 * (trap 32), or the kubelet merged ten similar ones (SIGNALS.md §2.1).
 */
export const killingsUnwritten = (trace: Trace): boolean =>
  trace.namespaceEnding !== undefined ||
  isRefused(trace, 'events') ||
  trace.events.some((event) => event.reason === 'Killing' && isMerged(event));

/** Whether a Warning may be missing: failed probes use up the limit of 25 for a pod's Warnings (SIGNALS.md §2.1). */
export const warningsMissing = ({ namespaceEnding, events }: Trace): boolean =>
  namespaceEnding !== undefined || events.some(({ reason, count }) => reason === 'Unhealthy' && count >= 12);
