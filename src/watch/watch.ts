/** `watch`: follows every exit of a namespace or a cluster until it is stopped. */
import { PodexitError } from '../errors.ts';
import type { Interrupted, Observation, StreamName } from '../model/observation.ts';
import { reportOf } from '../advice/report.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import type { Report } from '../verdict/report.ts';
import { runLive } from '../run/group/run-live.ts';
import type { Group, GroupListener } from '../run/group/group.ts';
import { sayingThrough, warnOn, type Ports } from '../run/ports.ts';
import { inSession, type Session } from '../run/session.ts';
import { missedText } from '../run/streams/pod-observer.ts';
import { isTerminatingPod, type Watched } from '../run/streams/watched.ts';
import { createTraceReports } from '../run/traces/traces.ts';
import { narrowPod } from '../model/kube.ts';
import type { Trace } from '../model/trace.ts';
import { createContainerEnds } from './container-ends.ts';
import { createGaps } from './gaps.ts';
import { isInShard, watchedGroup } from './group.ts';
import { exitOfPod, gapText, type WatchedExit, type WatchGap } from './lines.ts';
import type { WatchHealth, Metrics, MetricsAddress } from './metrics.ts';
import type { WatchOptions } from './options.ts';
import { createRecordings } from './recordings.ts';
import { createTraceSender } from './send-traces.ts';
import { createServices } from './services.ts';
import { mostRows, type WatchState } from './table.ts';
import { createExitCounts, type PlaceOfExit } from './exit-counts.ts';
import { watchedTraces } from './traces.ts';
import { watchView, type WatchView } from './view.ts';

/** Returns 0 after Ctrl-C or SIGTERM. Throws PodexitError if the pods cannot be watched, or an output cannot be opened. */
export async function watchExits(options: WatchOptions, terminal: Ports): Promise<number> {
  let view: WatchView | undefined;
  const ports = sayingThrough((text) => view?.say?.(text), terminal);
  const watch = createWatch(options, ports);
  const served = options.metrics && (await watch.serve(options.metrics));
  if (served) warnOn(ports)(`metrics at http://${options.metrics?.host ?? 'localhost'}:${served.port}/metrics`);
  try {
    return await inSession(options, ports, async (session, shown) => {
      const group = await watchedGroup(session, options);
      view = watchView(options.format, shown.look, terminal, () => watch.state(group.target));
      return follow(session, shown, { group, watch, view });
    });
  } finally {
    view?.close?.();
    served?.close();
  }
}

type Watch = Awaited<ReturnType<typeof createWatch>>;

/** Everything but stdout that is told about exits: counts, metrics, recordings, traces. */
function createOutputs(options: WatchOptions, ports: Ports, { isUp }: ReturnType<typeof createConnections>) {
  const counts = createExitCounts();
  let metrics: Metrics | undefined;
  const owns = (namespace: string): boolean => !options.shard || isInShard(namespace, options.shard);
  const services = createServices((...noReady) => metrics?.noReady(...noReady), owns);
  const to = (what: Parameters<Metrics['dropped']>[0]) => ({
    warn: warnOn(ports),
    onDropped: (): void => metrics?.dropped(what),
  });
  const recordings = options.recordings && createRecordings(options.recordings, ports, to('recordings'));
  const sendTrace = options.otlp ? createTraceSender(ports, to('traces')) : undefined;
  return {
    counts,
    services,
    recordings,
    /** Serves the counts. Throws `metrics.port`. */
    async serve(address: MetricsAddress, health: () => WatchHealth) {
      const { createMetrics, serveMetrics } = await import('./metrics.ts');
      metrics = createMetrics(ports.version, health);
      const beforeScrape = (): void => void (isUp('endpointslices') && services.countTo(ports.clock.now()));
      return serveMetrics(address, metrics, { isReady: () => health().isReady, beforeScrape });
    },
    exit(exit: WatchedExit): void {
      if (exit.kind === 'pod') sendTrace?.(exit.report);
      counts.exit(exit.kind === 'pod' ? 'exits' : 'containerEnds', exit.place, exit.outcome);
      metrics?.exit(exit);
    },
    unseen(place: PlaceOfExit): void {
      counts.exit('unseen', place, 'unknown');
      metrics?.unseen();
    },
    gap(gap: WatchGap): void {
      counts.add('gaps');
      metrics?.gap(gap);
    },
    dropped(): void {
      counts.add('dropped');
      metrics?.dropped('exits');
    },
  };
}

function createWatch(options: WatchOptions, ports: Ports) {
  const since = ports.clock.now();
  const streams = createConnections();
  const outputs = createOutputs(options, ports, streams);
  const { counts, services, recordings } = outputs;
  const last: WatchedExit[] = [];
  const observers: { take(o: Observation): void }[] = [services, streams];
  const see = (o: Observation): void => observers.forEach((one) => one.take(o));
  const traces = watchedTraces(recordings !== undefined, see, outputs.dropped);
  const health = (): WatchHealth => ({
    open: traces.keys().length,
    pods: traces.sizes().pods,
    isReady: streams.isUp('pods'),
    streams: streams.counts(),
  });
  return {
    ...outputs,
    traces,
    observers,
    alive: streams.alive,
    serve: (address: MetricsAddress) => outputs.serve(address, health),
    take(exit: WatchedExit): void {
      outputs.exit(exit);
      last.push(exit);
      if (last.length > mostRows.last) last.shift();
    },
    /** The report of an ended trace; it is recorded while its log is still kept. */
    reportOf(trace: Trace): Report | undefined {
      const report = reportOf(trace);
      if (report) recordings?.save(report.timeline.pod, traces.logOf(trace.uid ?? ''));
      return report;
    },
    state: (target: string): WatchState => ({
      target,
      since,
      last,
      exits: counts.numbers().exits,
      terminating: traces.keys().length,
      worst: counts.worst(mostRows.worst),
      services: services.fewestReady(mostRows.services),
    }),
  };
}

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
  { group, watch, view }: { group: Group; watch: Watch; view: WatchView },
): Promise<number> {
  const { counts, traces } = watch;
  const warn = warnOn(session.ports);
  const take = (exit: WatchedExit): void => {
    watch.take(exit);
    view.exit(exit);
  };
  const gaps = createGaps(session.ports.clock, (gap) => {
    watch.gap(gap);
    view.gap?.(gap);
    warn(gapText(gap, options.look.timestamps));
  });
  let hasBegun = false;
  watch.observers.push(
    gaps,
    createContainerEnds((end) => take({ kind: 'container', ...end, place: traces.placeOf(end.pod) })),
    { take: (o) => void (hasBegun ||= o.kind === 'listed' && o.stream === 'pods') },
  );
  const reports = createTraceReports(traces, watch.reportOf, (report) => take(exitOfPod(report)));
  const listener: GroupListener = {
    alive: watch.alive,
    // A pod that was removed at once has a trace: its removal shows how.
    missed(pod, why) {
      if (isTerminatingPod(pod)) return;
      watch.unseen(traces.placeOf(narrowPod(pod)));
      warn(missedText(pod, why));
    },
  };
  warn(`watching the pods of ${group.target}; Ctrl-C prints a summary`);
  const deletesNothing = { mode: 'attach', graceSeconds: null, insist: false, waitReplacement: false } as const;
  try {
    return await runLive(
      session,
      { ...options, ...deletesNothing, logText: false },
      {
        group,
        listener,
        traces,
        logText: false,
        audience: { step: (_trace, observation, key) => reports.step(observation, key) },
        end: async ({ interruptedBy }) => Promise.resolve(endedBy(interruptedBy, group)),
      },
    );
  } finally {
    // Also if the permission was taken away, or the token has expired.
    if (hasBegun) {
      gaps.flush();
      view.end(counts.numbers(), traces.keys().length);
    }
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
