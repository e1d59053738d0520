/**
 * Where evidence may be missing: stretches in which a stream, or a clock, says less than usual (ms, client's clock); and whether Events
 * of the kubelet may be missing: only where none can be does their absence prove anything. Pure.
 */
import { millisecondsOf } from '../model/assumptions.ts';
import type { Gap, StreamName } from '../model/observation.ts';
import { isMerged } from '../model/observe/event.ts';
import type { Fact, Trace } from '../model/trace.ts';
import { deliveryLagOf } from './arrival.ts';
import type { Estimate } from './estimate.ts';
import type { PodNetwork } from './pod-network.ts';
import type { TimelineGap } from './timeline.ts';

/** Streams by the name of the resource that an operator would grant. */
const resourceOf: Record<StreamName, string> = {
  pod: 'pods',
  pods: 'pods',
  services: 'services',
  endpointslices: 'endpointslices',
  events: 'events',
  logs: 'pods/log',
  node: 'nodes',
  'node-events': 'events (nodes)',
  lease: 'leases',
  owner: 'owners',
  'owner-events': 'events (owners)',
  siblings: 'pods (siblings)',
  namespace: 'namespaces',
};

/** What the streams may have missed, by resource. */
export function streamGaps(trace: Trace): TimelineGap[] {
  const gaps = joined(trace.gaps).map(({ stream, from, to, cause }) => ({
    resource: resourceOf[stream],
    from,
    to,
    cause,
  }));
  const broken = brokenLogs(trace).map(({ ended }) => ({
    resource: resourceOf.logs,
    from: ended.at,
    cause: 'disconnected' as const,
  }));
  const refused = trace.refused.map(({ value, at }) => ({
    resource: resourceOf[value.stream],
    from: at,
    cause: 'refused' as const,
  }));
  return [...gaps, ...broken, ...lateChanges(trace), ...refused];
}

/** What a clock showed before it was set says nothing of what it showed after; instants near the step are wider. */
export function clockGaps(network: PodNetwork): TimelineGap[] {
  const clocks = [
    ['api', 'clock of the API server'],
    ['node', 'clock of the node'],
  ] as const;
  return clocks.flatMap(([clock, resource]) => {
    const { doubt } = network.stepped[clock] ?? {};
    return [
      ...network.stepsOf(clock).map(({ lo, hi }) => ({ resource, from: lo, to: hi, cause: 'clock-stepped' as const })),
      ...(doubt ? [{ resource, from: doubt.at, cause: 'clock-doubtful' as const }] : []),
    ];
  });
}

/** A gap that begins where the one before it ended is the same one: history was lost again and again. */
function joined(gaps: readonly Fact<Gap>[]): Gap[] {
  const all: Gap[] = [];
  const lastOf = new Map<string, number>();
  for (const { value } of gaps) {
    const key = `${value.stream}/${value.container ?? ''}`;
    const index = lastOf.get(key) ?? -1;
    const last = all[index];
    if (last === undefined || last.cause !== value.cause || last.to !== value.from) {
      lastOf.set(key, all.push(value) - 1);
      continue;
    }
    const { to: _until, ...open } = last;
    all[index] = value.to === undefined ? open : { ...open, to: value.to };
  }
  return all;
}

/** ms. Shorter delays happen on any day. */
const worthListing = 1000;

/** Nothing is missing, but what came then is dated less well: the connection had been dead, or the server away. */
const lateChanges = (trace: Trace): TimelineGap[] =>
  trace.resumes
    .filter(({ value, at }) => value.late && (value.until ?? at) - value.since > worthListing)
    .map(({ value, at }) => ({
      resource: resourceOf[value.stream],
      from: value.since,
      to: value.until ?? at,
      cause: 'late' as const,
    }));

export interface BrokenLog {
  readonly container: string;
  /** The last that was received. */
  readonly ended: Fact<{ readonly clean: boolean }>;
}

export const brokenLogs = ({ containers, gone }: Trace): BrokenLog[] =>
  [...containers].flatMap(([container, { log }]) => {
    const { ended } = log;
    return ended && !ended.value.clean && ended.at < (gone?.at ?? Infinity) ? [{ container, ended }] : [];
  });

/** Events may not be read, or are not made any more (SIGNALS.md trap 32). */
const isClosed = ({ refused, namespaceEnding }: Trace): boolean =>
  namespaceEnding !== undefined || refused.some(({ value }) => value.stream === 'events');

/**
 * The stream of them was lost before the Killings of this deletion could come, and never came back: a list that closes a gap has
 * them all. The kubelet writes those of all containers at once when it begins (SIGNALS.md §2 S3): where one arrived before the
 * loss, the others would have been. `by`: client ms before which they were written.
 */
function isLost(trace: Trace, by: number): boolean {
  const { gaps, gone, events, deletion, requests } = trace;
  const began = Math.min(deletion?.seenAt ?? Infinity, ...requests.map(({ sent }) => sent.at));
  const killedAt = events.find(({ reason, at }) => reason === 'Killing' && at >= began)?.at ?? Infinity;
  const due = Math.min(killedAt, gone?.at ?? Infinity, by + millisecondsOf('event-lag') + deliveryLagOf(trace));
  return gaps.some(({ value: { stream, from, to } }) => stream === 'events' && to === undefined && from < due);
}

/**
 * The absence of a Killing proves nothing. `ended`: the end of the container whose Killing it is, where that is known: it was
 * written before.
 */
export const killingsMissing = (trace: Trace, ended?: Estimate): boolean =>
  killingsUnwritten(trace) || isLost(trace, ended?.client.hi ?? Infinity);

/**
 * Nor would it on a stream that is whole: of those that are alike ten become one, which names the first, and none is made any
 * more once a pod has spent what the kubelet allows it (SIGNALS.md §2.1).
 */
export const killingsUnwritten = (trace: Trace): boolean =>
  isClosed(trace) || isSpent(trace.normals) || areKillingsMerged(trace);

/** The same of a Warning. */
export const warningsMissing = ({ namespaceEnding, warnings }: Trace): boolean =>
  namespaceEnding !== undefined || isSpent(warnings);

const areKillingsMerged = ({ events }: Trace): boolean =>
  events.some((event) => event.reason === 'Killing' && isMerged(event));

const isSpent = (counts: ReadonlyMap<string, number>): boolean =>
  [...counts.values()].reduce((sum, count) => sum + count, 0) >= fewest;

/**
 * The filter starts with 25 of a type and gives one back every 5 min. What is older than an hour is not listed any more (the
 * TTL): if that had spent everything, 12 have come back since.
 */
const fewest = 12;
