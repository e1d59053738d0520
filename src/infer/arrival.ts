/**
 * What an arrival shows, in client ms: a change of the API was written no later than it arrived, and normally not long before;
 * and where evidence may be missing: stretches of streams and clocks, and Events. Pure.
 */
import { millisecondsOf } from '../model/assumptions.ts';
import { offsetAt, withDates } from '../model/clock.ts';
import type { Gap, StreamName } from '../model/observation.ts';
import { resumesAt } from '../model/reduce/gaps.ts';
import type { GapReport } from '../model/report.ts';
import { second, type Span } from '../model/span.ts';
import { isRefused, lostSince, type Fact, type Seen, type Trace } from '../model/trace.ts';
import type { PodNetwork } from './pod-network.ts';
import type { Estimate } from './estimate.ts';

/** At most the delivery lag before; after a cut, since then; in the first state that was seen, at any time before. */
export function writtenAt(trace: Trace, { seq, at }: Fact<unknown>, stream: StreamName): Span {
  const isOldNews = stream === 'pod' && trace.deletion?.underWay === true && seq === trace.deletion.seenSeq;
  return { lo: isOldNews ? -Infinity : deliverableSince(trace, stream, at) - deliveryLagOf(trace), hi: at + 1 };
}

/** A change of the API as a moment of the network. */
export interface ApiChange {
  readonly fact: Seen;
  /** Client ms. */
  readonly written: Span;
  readonly after?: readonly string[];
  /** Its timestamp, by the API server's clock or another one. */
  readonly stamp?: Span | undefined;
  readonly clock?: 'node' | 'api';
}

/** Constrains when a change was written: by its arrival, then by its causes and its timestamp. */
export function constrainChange(network: PodNetwork, name: string, change: ApiChange): void {
  const { fact, written, after = [], stamp, clock = 'api' } = change;
  const evidence = [fact.seq];
  network.within(name, { client: written }, { because: 'delivery-lag', evidence });
  for (const cause of after) network.follows(cause, name, {}, { because: 'an effect follows its cause' });
  if (stamp) network.stamp(clock, name, stamp, { because: 'the timestamp of the write', evidence });
}

/** Since when (client ms) a change may have waited for its stream: `at` or, after a cut or in a gap, since that. */
export function deliverableSince(trace: Trace, stream: StreamName, at: number): number {
  const hidden = trace.gaps.filter(({ value }) => value.stream === stream && hides(value, at));
  const since = resumesAt(trace, stream, at).map(({ value }) => value.since);
  return Math.min(at, ...since, ...hidden.map(({ value }) => value.from));
}

/** Whether a change that arrives in a gap, or by the list that ends it, may be older. Each log is its own stream. */
const hides = ({ stream, from, to = Infinity }: Gap, at: number): boolean =>
  at === to || (stream !== 'logs' && from <= at && at < to);

/** The longest time (ms) that a change takes on a live stream: `delivery-lag`, or more if server stamps prove that. */
export function deliveryLagOf({ clocks, delays: { longest } }: Trace): number {
  if (!longest) return assumedLagMs;
  const { lo, hi } = offsetAt(withDates(clocks.api, clocks.dates), longest.at);
  const [min, max] = [longest.value + lo, longest.value + second + hi];
  return min > assumedLagMs && min <= maxLagMs ? Math.min(max, maxLagMs) : assumedLagMs;
}

const assumedLagMs = millisecondsOf('delivery-lag');
const maxLagMs = 15_000;

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
export function streamGaps(trace: Trace): GapReport<number>[] {
  const gaps = trace.gaps.map(({ value: { stream, from, to, cause } }) => gapIn(stream, cause, from, to));
  const broken = brokenLogs(trace).map(({ at }) => gapIn('logs', 'disconnected', at));
  const refused = trace.refused.map(({ value, at }) => gapIn(value.stream, 'refused', at));
  return [...gaps, ...broken, ...lateChanges(trace), ...refused];
}

const gapIn = (
  stream: StreamName,
  cause: GapReport<number>['cause'],
  from: number,
  to?: number,
): GapReport<number> => ({
  resource: resourceOf[stream] ?? stream,
  from,
  to,
  cause,
});

/** Clocks that were set, or may have been: nothing is dated by them. */
export const clockGaps = ({ unusable: { api, node } }: PodNetwork): GapReport<number>[] => [
  ...(api ? [{ resource: 'clock of the API server', from: api.lo, to: api.hi, cause: 'clock-stepped' as const }] : []),
  ...(node ? [{ resource: 'clock of the node', from: node.lo, to: node.hi, cause: 'clock-stepped' as const }] : []),
];

/** Stretches of over a second in which nothing was lost, but changes arrived late, as the connection or the server was down. */
const lateChanges = (trace: Trace): GapReport<number>[] =>
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
 * (trap 32), or the kubelet merged ten similar ones, or had used up the pod's 25: three for each start, and Pulling (§2.1).
 */
export function killingsUnwritten(trace: Trace): boolean {
  const killings = trace.events.filter(({ reason }) => reason === 'Killing');
  const countOf = (reasons: RegExp): number =>
    trace.events.reduce((sum, { reason, count }) => sum + (reasons.test(reason) ? count : 0), 0);
  const isUsedUp = 3 * countOf(/^Started$/) + countOf(/^(Pulling|Killing)$/) >= 24;
  return trace.namespaceEnding !== undefined || isRefused(trace, 'events') || isUsedUp || killings.some(isMerged);
}

/** Whether a Warning may be missing: failed probes use up the limit of 25 for a pod's Warnings (SIGNALS.md §2.1). */
export const warningsMissing = ({ namespaceEnding, events }: Trace): boolean =>
  namespaceEnding !== undefined || events.some(({ reason, count }) => reason === 'Unhealthy' && count >= 12);

/** From the tenth similar Event in ten minutes on, Events are merged; the newest message is kept (SIGNALS.md §2.1). */
const mergedPrefix = '(combined from similar events): ';

const isMerged = ({ message }: { readonly message: string }): boolean => message.startsWith(mergedPrefix);

/** The original message of the newest merged Event. */
export const newestMessage = (event: { readonly message: string }): string =>
  isMerged(event) ? event.message.slice(mergedPrefix.length) : event.message;
