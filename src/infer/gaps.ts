/** Where evidence may be missing: stretches in which a stream, or a clock, says less than usual. Times in ms, client's clock. Pure. */
import type { Gap, StreamName } from '../model/observation.ts';
import type { Fact, Trace } from '../model/trace.ts';
import type { Stage } from './stage.ts';
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
export function clockGaps(stage: Stage): TimelineGap[] {
  const clocks = [
    ['api', 'clock of the API server'],
    ['node', 'clock of the node'],
  ] as const;
  return clocks.flatMap(([clock, resource]) => {
    const { doubt } = stage.stepped[clock] ?? {};
    return [
      ...stage.stepsOf(clock).map(({ lo, hi }) => ({ resource, from: lo, to: hi, cause: 'clock-stepped' as const })),
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
