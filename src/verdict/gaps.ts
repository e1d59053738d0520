/** What a report says that may be missing: stretches in which a stream, or a clock, tells less than all. Pure. */
import { stepsOf } from '../model/clock.ts';
import type { Gap, StreamName } from '../model/observation.ts';
import type { ExitReport } from '../model/report.ts';
import { printTime } from '../model/stamps.ts';
import type { Exit } from '../infer/conclusions.ts';
import type { Fact, Trace } from '../model/trace.ts';
import { brokenLogs } from './broken-logs.ts';

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

/** What the streams may have missed: stretches of client time, by resource. */
export function gapsOf(trace: Trace): ExitReport['gaps'] {
  const refused = trace.refused.map(({ value, at }) => ({
    resource: resourceOf[value.stream],
    from: printTime(at, 'earlier'),
    cause: 'refused' as const,
  }));
  const gaps = joined(trace.gaps).map((value) => ({
    resource: resourceOf[value.stream],
    from: printTime(value.from, 'earlier'),
    ...(value.to === undefined ? {} : { to: printTime(value.to, 'later') }),
    cause: value.cause,
  }));
  const broken = brokenLogs(trace).map(({ ended }) => ({
    resource: resourceOf.logs,
    from: printTime(ended.at, 'earlier'),
    cause: 'disconnected' as const,
  }));
  return [...gaps, ...broken, ...lateNews(trace), ...refused];
}

/** What a clock showed before it was set says nothing of what it showed after; instants near the step are wider. */
export function clockGaps(exit: Exit | undefined): ExitReport['gaps'] {
  if (!exit) return [];
  const clocks = { 'clock of the API server': exit.deletion.api, 'clock of the node': exit.kubelet.clock };
  return Object.entries(clocks).flatMap(([resource, clock]) => [
    ...stepsOf(clock).map(({ lo, hi }) => ({
      resource,
      from: printTime(lo, 'earlier'),
      to: printTime(hi, 'later'),
      cause: 'clock-stepped' as const,
    })),
    ...(clock.doubt
      ? [{ resource, from: printTime(clock.doubt.at, 'earlier'), cause: 'clock-doubtful' as const }]
      : []),
  ]);
}

/** A gap that begins where the one before it ended is the same one: history was lost again and again. */
function joined(gaps: readonly Fact<Gap>[]): Gap[] {
  const told: Gap[] = [];
  const lastOf = new Map<string, number>();
  for (const { value } of gaps) {
    const lane = `${value.stream}/${value.container ?? ''}`;
    const index = lastOf.get(lane) ?? -1;
    const last = told[index];
    if (last === undefined || last.cause !== value.cause || last.to !== value.from) {
      lastOf.set(lane, told.push(value) - 1);
      continue;
    }
    const { to: _until, ...open } = last;
    told[index] = value.to === undefined ? open : { ...open, to: value.to };
  }
  return told;
}

/** Shorter, nobody would miss it: news is late by as much on any day. */
const worthTelling = 1000;

/** Nothing is missing, but what came then is dated less well: the connection had been dead, or the server away. */
const lateNews = (trace: Trace): ExitReport['gaps'] =>
  trace.resumes
    .filter(({ value, at }) => value.late && (value.until ?? at) - value.since > worthTelling)
    .map(({ value, at }) => ({
      resource: resourceOf[value.stream],
      from: printTime(value.since, 'earlier'),
      to: printTime(value.until ?? at, 'later'),
      cause: 'late' as const,
    }));
