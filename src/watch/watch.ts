/** `watch`: follows every exit of a namespace or a cluster until it is stopped. */
import { PodexitError } from '../errors.ts';
import type { Interrupted, Observation, StreamName } from '../model/observation.ts';
import { reportOf } from '../advice/report.ts';
import { signalCodes } from '../verdict/policy.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import { plural } from '../verdict/words.ts';
import type { Report } from '../verdict/report.ts';
import { runLive } from '../run/group/run-live.ts';
import type { Group, GroupListener } from '../run/group/group.ts';
import { sayingThrough, warnOn, type Ports } from '../run/ports.ts';
import { inSession, type Session } from '../run/session.ts';
import { isTerminatingPod, type Watched, namespaceOf, podsTarget } from '../run/streams/watched.ts';
import { createTraceReports } from '../run/ending/trace-end.ts';
import { narrowPod } from '../model/kube.ts';
import type { Trace } from '../model/trace.ts';
import { createContainerEnds } from './container-ends.ts';
import { createGaps, exitOfPod, gapText, type WatchedExit, type WatchListener } from './lines.ts';
import type { MetricsAddress } from './metrics.ts';
import { createRecordings, createExitSender, postEvent, type Send, type RecordingFolder } from './destinations.ts';
import { createServices, createExitCounts, type Droppable } from './counts.ts';
import { mostRows, type WatchState, watchView, type WatchView, type WatchFormat } from './view.ts';
import { watchedTraces } from './traces.ts';
import type { JsonObject } from '../model/observe/read.ts';
import { readGroup } from '../run/choosing/read-group.ts';
import type { LookOptions } from '../output/view.ts';
import type { SeveralTarget } from '../run/choosing/target.ts';
import type { TraceOptions } from '../run/options.ts';

/** Returns 0 after Ctrl-C or SIGTERM. Throws PodexitError if the pods cannot be watched, or an output cannot be opened. */
export async function watchExits(options: WatchOptions, terminal: Ports): Promise<number> {
  let view: WatchView | undefined;
  const ports = sayingThrough((text) => view?.say?.(text), terminal);
  const watch = createWatch(options, ports);
  const served = options.metrics && (await watch.serve(options.metrics));
  if (served) watch.warn(`metrics at ${served.url}`);
  const sendTrace: Send = async (report) =>
    (await import('../export/export-trace.ts')).exportTrace(exitReportOf(report), ports);
  if (options.otlp) watch.senders.push(watch.senderOf('traces', sendTrace));
  try {
    watch.record();
    return await inSession(options, ports, async (session, shown) => {
      const group = await watchedGroup(session, options);
      if (options.emitsEvents)
        watch.senders.push(watch.senderOf('events', postEvent(session.cluster, watch.traces.ownerOf)));
      view = watchView(options.format, shown.look, { ...terminal, dropped: watch.tell.dropped }, () =>
        watch.state(group.target),
      );
      watch.listeners.push(view, ...watch.senders);
      return follow(session, shown, { group, watch, view });
    });
  } finally {
    view?.close?.();
    served?.close();
  }
}

function createWatch(options: WatchOptions, ports: Ports) {
  const warn = warnOn(ports);
  const since = ports.clock.now();
  const counts = createExitCounts();
  const last: WatchedExit[] = [];
  const said = new Set<Droppable>();
  const dropped = (what: Droppable, why?: string): void => {
    if (why !== undefined && !said.has(what)) warn(`some ${what} are left out: ${why}`);
    said.add(what);
  };
  const listeners: WatchListener[] = [
    counts,
    { exit: (exit) => void (last.push(exit) > mostRows.last && last.shift()), dropped },
  ];
  const senders: ReturnType<typeof createExitSender>[] = [];
  const tell = tellAll(listeners);
  const streams = createConnections();
  const services = createServices(tell.noReady, (namespace) => !options.shard || isInShard(namespace, options.shard));
  let recordings: ReturnType<typeof createRecordings> | undefined;
  const observers: { take(o: Observation): void }[] = [services, streams];
  const see = (o: Observation): void => observers.forEach((one) => one.take(o));
  const traces = watchedTraces(options.recordings !== undefined, see, () =>
    tell.dropped('exits', 'too many pods terminate'),
  );
  return {
    ...{ warn, counts, listeners, tell, traces, observers, senders },
    alive: streams.alive,
    senderOf: (what: 'traces' | 'events', send: Send) => createExitSender(what, send, { warn, dropped: tell.dropped }),
    record: () => void (recordings = options.recordings && createRecordings(options.recordings, ports, tell.dropped)),
    /** Serves the counts. Throws `metrics.port`. */
    async serve(address: MetricsAddress) {
      const { createMetrics, serveMetrics } = await import('./metrics.ts');
      const metrics = createMetrics(ports.version, () => ({
        open: traces.terminating(),
        pods: traces.sizes().pods,
        streams: streams.counts(),
      }));
      listeners.push(metrics);
      const beforeScrape = (): void => void (streams.isUp('endpointslices') && services.countTo(ports.clock.now()));
      return serveMetrics(address, metrics, { isReady: () => streams.isUp('pods'), beforeScrape });
    },
    /** The report of an ended trace; it is recorded while its log is still kept. */
    reportOf(trace: Trace): Report | undefined {
      const report = reportOf(trace);
      if (report) recordings?.save(report.timeline.pod, traces.logOf(trace.uid ?? ''));
      return report;
    },
    state: (target: string): WatchState => ({
      ...{ target, since, last },
      exits: counts.numbers().exits,
      terminating: traces.terminating(),
      worst: counts.worst(mostRows.worst),
      services: services.fewestReady(mostRows.services),
    }),
  };
}

/** One listener that tells all of these, also those that are added later. */
const tellAll = (all: readonly WatchListener[]): Required<WatchListener> => ({
  exit: (exit) => all.forEach((one) => one.exit?.(exit)),
  unseen: (place) => all.forEach((one) => one.unseen?.(place)),
  gap: (gap) => all.forEach((one) => one.gap?.(gap)),
  dropped: (...what) => all.forEach((one) => one.dropped?.(...what)),
  noReady: (...how) => all.forEach((one) => one.noReady?.(...how)),
});

/** Which of the streams about all pods are connected. Those about one object come and go, and are not counted. */
function createConnections() {
  const up = new Map<string, boolean>();
  return {
    alive({ stream, path, name }: Watched, isAlive: boolean): void {
      if (name === undefined) up.set(`${stream}${path}`, isAlive);
    },
    /** A stream that the server refused is not lost: it never comes back. */
    take(o: Observation): void {
      if (o.kind !== 'refused') return;
      for (const key of up.keys()) if (key.startsWith(`${o.stream}/`) && key.endsWith(`/${o.resource}`)) up.delete(key);
    },
    isUp: (stream: StreamName): boolean => [...up].some(([key, isUp]) => isUp && key.startsWith(`${stream}/`)),
    counts() {
      const connected = [...up.values()].filter(Boolean).length;
      return { up: connected, lost: up.size - connected };
    },
  };
}

async function follow(
  session: Session,
  options: WatchOptions,
  { group, watch, view }: { group: Group; watch: ReturnType<typeof createWatch>; view: WatchView },
): Promise<number> {
  const { counts, tell, traces, warn } = watch;
  const gaps = createGaps(session.ports.clock, (gap) => {
    tell.gap(gap);
    warn(gapText(gap, options.look.timestamps));
  });
  let hasBegun = false;
  watch.observers.push(
    gaps,
    createContainerEnds((end) => tell.exit({ kind: 'container', ...end, place: traces.placeOf(end.pod) })),
    {
      take(o) {
        if (hasBegun || o.kind !== 'listed' || o.stream !== 'pods') return;
        hasBegun = true;
        warn(`watching ${plural(o.objects.length, 'pod')} of ${group.target}; Ctrl-C prints a summary`);
      },
    },
  );
  const reports = createTraceReports(traces, watch.reportOf, (report) => tell.exit(exitOfPod(report)));
  const listener: GroupListener = {
    alive: watch.alive,
    // A pod that was removed at once has a trace: its removal shows how.
    missed(pod, text) {
      if (isTerminatingPod(pod)) return;
      tell.unseen(traces.placeOf(narrowPod(pod)));
      warn(text);
    },
  };
  try {
    return await runLive(
      session,
      { ...options, mode: 'attach', graceSeconds: null, insist: false, waitReplacement: false, logText: false },
      {
        group,
        listener,
        traces,
        audience: { ended: reports.ended },
        end: async ({ interruptedBy }) => Promise.resolve(endedBy(interruptedBy, group)),
      },
    );
  } finally {
    // Also if the permission was taken away, or the token has expired.
    if (hasBegun) {
      gaps.flush();
      view.end(counts.numbers(), traces.keys().length);
    }
    await Promise.all(watch.senders.map(({ end }) => end()));
  }
}

/** The exit code. Throws `watch.ended`. */
function endedBy(signal: Interrupted['signal'] | undefined, { target }: Group): number {
  if (signal) return signal === 'SIGPIPE' ? signalCodes.SIGPIPE : 0;
  throw new PodexitError(
    'watch.ended',
    `the pods of ${target} can no longer be watched`,
    'What was counted until now is above. Start it again once the pods may be watched.',
  );
}

/** Throws what readGroup throws. */
async function watchedGroup(session: Session, options: WatchOptions): Promise<Group> {
  const group = await unsharded(session, options);
  const { shard } = options;
  if (!shard) return group;
  const owns = (pod: JsonObject): boolean => group.owns(pod) && isInShard(namespaceOf(pod) ?? '', shard);
  return { ...group, target: `${group.target}, shard ${shard.index}/${shard.count}`, owns };
}

async function unsharded(session: Session, { target, allNamespaces }: WatchOptions): Promise<Group> {
  const namespace = allNamespaces ? '' : session.cluster.namespace;
  const selector = target?.kind === 'selector' ? target : undefined;
  if (target && !selector) return { ...(await readGroup(session, target)), isEndless: true };
  const where = allNamespaces ? 'all namespaces' : `namespace/${namespace}`;
  return {
    isOne: false,
    isEndless: true,
    target: selector?.labels ? `-l ${selector.labels} in ${where}` : where,
    namespace,
    pods: podsTarget(namespace, { labelSelector: selector?.labels, fieldSelector: selector?.fields }),
    owns: () => true,
  };
}

/** FNV-1a: the same namespace is in the same shard everywhere, and all shards get about as many. */
function isInShard(namespace: string, { index, count }: Shard): boolean {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(namespace)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % count === index - 1;
}

/** A part of the namespaces: the `index`-th of `count`, counted from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

interface WatchOptions extends Pick<TraceOptions, 'connection' | 'verbosity' | 'followLogs' | 'command'> {
  /** Absent: every pod. */
  readonly target?: SeveralTarget | undefined;
  readonly allNamespaces: boolean;
  readonly format: WatchFormat;
  readonly look: LookOptions;
  readonly shard?: Shard | undefined;
  readonly metrics?: MetricsAddress | undefined;
  readonly recordings?: RecordingFolder | undefined;
  /** Send each exit as an OpenTelemetry trace. */
  readonly otlp: boolean;
  /** Post a Kubernetes Event for each exit that was not graceful. */
  readonly emitsEvents: boolean;
}
