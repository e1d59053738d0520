/**
 * `--metrics`: the counts of a watch for Prometheus, over HTTP. Labels are bounded: the series are at most 2,000, whatever
 * the cluster contains, and further label values become `other`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { PodexitError } from '../errors.ts';
import { graceMs, shareOfGrace } from '../verdict/rule-input.ts';
import type { Droppable } from './counts.ts';
import type { WatchedExit, WatchGap } from './lines.ts';

export interface MetricsAddress {
  /** Absent: every address. */
  readonly host?: string | undefined;
  readonly port: number;
}

const secondsBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];
const shareBuckets = [0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 1, 1.1, 1.5, 2, 5];

interface WatchHealth {
  readonly open: number;
  readonly pods: number;
  readonly streams: { readonly up: number; readonly lost: number };
}

function instruments(registers: Registry[]) {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const exitLabels = ['namespace', 'workload', 'outcome', 'trigger'] as const;
  const serviceLabels = ['namespace', 'service'] as const;
  return {
    exits: counter('podexit_exits_total', 'Exits of pods, and of containers whose pod stayed.', exitLabels),
    noReady: counter('podexit_no_ready_endpoint_seconds_total', 'How long a Service had no ready one.', serviceLabels),
    unseen: counter('podexit_unseen_exits_total', 'Pods that disappeared while nothing could be observed.'),
    dropped: counter('podexit_dropped_total', 'What was left out within bounds.', ['what'] as const),
    gaps: counter('podexit_watch_gaps_total', 'Stretches that were not observed.'),
    gapSeconds: counter('podexit_watch_gap_seconds_total', 'For how long something could not be observed.'),
    phases: histogram('podexit_phase_seconds', 'Phases of exits.', ['phase'] as const, secondsBuckets),
    total: histogram('podexit_exit_seconds', 'From the request until the pod was gone.', [], secondsBuckets),
    used: histogram('podexit_grace_used_ratio', 'Share of the grace period used.', ['namespace'], shareBuckets),
  };
}

function addGauges(registers: Registry[], version: string, health: () => WatchHealth): void {
  const gauge = (name: string, help: string, read: (health: WatchHealth) => number): void =>
    void new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(health()));
      },
    });
  gauge('podexit_terminating_pods', 'Pods that terminate now.', ({ open }) => open);
  gauge('podexit_watched_pods', 'Pods that are remembered.', ({ pods }) => pods);
  gauge('podexit_watch_streams', 'Watches that are connected.', ({ streams }) => streams.up);
  gauge('podexit_watch_streams_lost', 'Watches that are not connected now.', ({ streams }) => streams.lost);
  new Gauge({ name: 'podexit_build_info', help: 'Version.', labelNames: ['version'], registers }).set({ version }, 1);
}

export function createMetrics(version: string, health: () => WatchHealth) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { exits, noReady, unseen, dropped, gaps, gapSeconds, phases, total, used } = instruments([registry]);
  addGauges([registry], version, health);
  const exitLabels = bounded(1000, ['workload', 'namespace']);
  const serviceLabels = bounded(300, ['service', 'namespace']);
  // A histogram has fifteen series for each.
  const namespaceLabels = bounded(15, ['namespace']);
  return {
    exit(exit: WatchedExit): void {
      const { place, outcome, trigger } = exit;
      exits.inc(exitLabels({ ...place, outcome, trigger }));
      if (exit.kind === 'container') return;
      const { timeline } = exit.report;
      if (timeline.total) total.observe(timeline.total.shown / 1000);
      for (const { name, length } of timeline.phases) phases.observe({ phase: name }, length.shown / 1000);
      const shares = timeline.containers.flatMap(({ graceUsed }) =>
        graceUsed && graceMs(timeline) > 0 ? shareOfGrace(timeline, graceUsed).shown : [],
      );
      if (shares.length > 0) used.observe(namespaceLabels({ namespace: place.namespace }), Math.max(...shares));
    },
    noReady: (namespace: string, service: string, ms: number): void =>
      noReady.inc(serviceLabels({ namespace, service }), ms / 1000),
    gap({ from, to }: WatchGap): void {
      gaps.inc();
      gapSeconds.inc((to - from) / 1000);
    },
    unseen: (): void => unseen.inc(),
    dropped: (what: Droppable): void => dropped.inc({ what }),
    registry,
  };
}

/** Returns labels as they are while there are at most `size` combinations; after that these names become `other`. */
function bounded<N extends string>(size: number, names: readonly N[]) {
  const known = new Set<string>();
  return <T extends Record<N, string>>(labels: T): T => {
    const key = JSON.stringify(labels);
    if (known.size < size) known.add(key);
    return known.has(key) ? labels : { ...labels, ...Object.fromEntries(names.map((name) => [name, 'other'])) };
  };
}

/** Serves `/metrics`, `/healthz` (the process runs) and `/readyz` (the pods are watched). Throws `metrics.port`. */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  { registry }: ReturnType<typeof createMetrics>,
  { isReady, beforeScrape }: { isReady: () => boolean; beforeScrape: () => void },
): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    const answer = (status: number, text: string, type = 'text/plain; charset=utf-8'): void =>
      void response.writeHead(status, { 'content-type': type }).end(text);
    const path = request.url?.replace(/\?.*$/, '');
    if (path === '/healthz') return answer(200, 'ok\n');
    if (path === '/readyz') return isReady() ? answer(200, 'ok\n') : answer(503, 'the pods are not watched yet\n');
    if (path !== '/metrics') return answer(404, 'there are /metrics, /healthz and /readyz\n');
    beforeScrape();
    void registry.metrics().then((counts) => answer(200, counts, registry.contentType));
  });
  await once(server.listen(port, host), 'listening').catch((cause: NodeJS.ErrnoException) => {
    throw new PodexitError(
      'metrics.port',
      `cannot serve metrics on ${host ?? ''}:${port} (${cause.code ?? cause.message})`,
      'Choose another one: --metrics [HOST:]PORT. Nothing was watched.',
      { cause },
    );
  });
  return {
    url: `http://${host?.includes(':') ? `[${host}]` : (host ?? 'localhost')}:${(server.address() as AddressInfo).port}/metrics`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
