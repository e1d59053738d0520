/** A real Prometheus scrapes watches of played days: the dashboard shows something everywhere, and each alert fires. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Loopback } from '../../src/demo/loopback.ts';
import { systemClock } from '../../src/run/clock.ts';
import type { Pretending } from '../cli/helpers/in-process.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import { hasPrometheus } from '../helpers/machines-prometheus.ts';
import { serving } from '../helpers/serving.ts';
import type { Fault } from '../sim/faults/fault.ts';
import { alertRules, panels } from './helpers/deployed.ts';
import { watchUntil } from './helpers/watching.ts';

interface Day {
  recording: string;
  faults?: Fault[];
  /** What happens besides the recording. */
  happens?(server: Loopback): void;
  clock?: Pretending['clock'];
}

const quiet = ['rollout-25', 'scale-to-zero-40'];
const days: Day[] = [
  ...quiet.map((name) => ({ recording: `second/${name}` })),
  // Watches of four shards see a killed pod of the same workload each.
  ...Array.from({ length: 4 }, () => ({ recording: 'sigkill-after-grace', happens: deleteItsPod })),
  { recording: 'graceful-exit', happens: runOutOfMemory },
  { recording: 'prestop-sleep', happens: loseEndpoints },
  { recording: 'exit-143', happens: getStuck, clock: impatient() },
  { recording: 'finalizer', happens: deleteItsPod, faults: [{ kind: 'down', afterMs: 8000, forMs: 600_000 }] },
];

it.skipIf(!hasPrometheus)('shows every panel and fires every alert (skipped without one on the PATH)', async () => {
  let stop = (): void => {};
  const until = new Promise<void>((resolve) => (stop = resolve));
  const targets: string[] = [];
  const watches = days.map((day) => watchDay(day, until, (target) => targets.push(target)));
  await eventually(() => targets.length === days.length);
  const prometheus = await startPrometheus(targets);
  try {
    expect(lintOf(await (await fetch(`http://${targets[0]}/metrics`)).text())).toBe('');
    // Rates exist only for a while: each panel must have had data once.
    const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, filledIn(expr)] as const));
    const empty = new Map(queries.map(([title, expr]) => [expr, title]));
    const alerts = new Set(alertRules.groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? [])));
    const troubled = new Set<string>();
    await eventually(async () => {
      for (const expr of empty.keys()) if (await prometheus.hasData(expr)) empty.delete(expr);
      for (const { name, namespace } of await prometheus.alerts()) {
        alerts.delete(name);
        troubled.add(namespace);
      }
      const counted = quiet.map((namespace) => `sum(podexit_exits_total{namespace="${namespace}",outcome="graceful"})`);
      const exits = await Promise.all(counted.map(prometheus.value));
      return empty.size === 0 && alerts.size === 1 && exits.join() === '25,40';
    }).catch(() => {});
    expect([...empty.values()], 'panels without data').toEqual([]);
    expect([...alerts], 'alerts that did not fire while watches ran').toEqual(['PodexitWatchDown']);
    expect(await prometheus.value('sum(podexit_exits_total{namespace="rollout-25"})')).toBe(25);
    expect(await prometheus.value('sum(podexit_exits_total{namespace="scale-to-zero-40"})')).toBe(40);
    expect(quiet.filter((namespace) => troubled.has(namespace))).toEqual([]);
    stop();
    await Promise.all(watches);
    await eventually(async () => (await prometheus.alerts()).some(({ name }) => name === 'PodexitWatchDown'));
  } finally {
    prometheus.stop();
    stop();
    await Promise.all(watches);
  }
});

const watchDay = (day: Day, until: Promise<void>, onServed: (target: string) => void): Promise<unknown> =>
  serving(
    day.recording,
    { attachDelayMs: 4000, scenario: loadRecording(day.recording), faults: day.faults ?? [] },
    async ({ flags, server }) => {
      let target: string | undefined;
      day.happens?.(server);
      await watchUntil([...flags, '-o', 'ndjson', '--metrics', '127.0.0.1:0'], () => false, {
        ...(day.clock && { clock: day.clock }),
        until,
        onStderr(text) {
          const [, served] = /metrics at http:\/\/([\d.:]+)\//.exec(text) ?? [];
          if (served !== undefined && target === undefined) onServed((target = served));
        },
      });
    },
  );

async function startPrometheus(targets: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const file = (name: string, content: object): string => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    return join(folder, name);
  };
  const config = file('prometheus.json', {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [file('rules.json', alertRules)],
    scrape_configs: [{ job_name: 'podexit', honor_labels: true, static_configs: [{ targets }] }],
  });
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=${address}`],
    { stdio: 'ignore' },
  );
  const ask = async <T>(path: string): Promise<T> =>
    ((await (await fetch(`http://${address}/api/v1/${path}`)).json()) as { data: T }).data;
  const values = async (expr: string): Promise<number[]> => {
    const { result } = await ask<{ result: { value: [number, string] }[] }>(`query?query=${encodeURIComponent(expr)}`);
    return result.map(({ value: [, value] }) => Number(value));
  };
  await eventually(() => values('up').then(({ length }) => length === targets.length));
  return {
    /** At least one number that can be drawn. */
    hasData: (expr: string) => values(expr).then((all) => all.some(Number.isFinite)),
    value: (expr: string) => values(expr).then(([first]) => first),
    async alerts() {
      const { alerts } = await ask<{ alerts: { labels: { alertname: string; namespace?: string } }[] }>('alerts');
      return alerts.map(({ labels: { alertname: name, namespace = '' } }) => ({ name, namespace }));
    },
    stop: () => child.kill(),
  };
}

/** What `promtool check metrics` says against names, help texts and types. */
function lintOf(metrics: string): string {
  const own = metrics.split('\n').filter((line) => /^(# \w+ )?podexit_/.test(line));
  return spawnSync('promtool', ['check', 'metrics'], { input: `${own.join('\n')}\n`, encoding: 'utf8' }).stderr;
}

/** As Grafana fills in its variables for the last 5 minutes. */
const filledIn = (expr: string): string =>
  expr
    .replaceAll('$__range_s', '300')
    .replaceAll('$__range', '5m')
    .replaceAll('$__rate_interval', '30s')
    .replaceAll('$namespace', '.*');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Rejects after 90 s. */
async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const until = Date.now() + 90_000; Date.now() < until; await sleep(1000))
    if (await Promise.resolve(isSo()).catch(() => false)) return;
  throw new Error('it did not become so within 90 s');
}

/** For it, what takes more than 100 s takes 1 s: a stuck pod is given up after 2 minutes. */
function impatient(): Pretending['clock'] {
  return { ...systemClock, setTimeout: (run, ms) => systemClock.setTimeout(run, ms > 100_000 ? 1000 : ms) };
}

const stamp = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');

const pod = (namespace: string, metadata: object, status: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name: 'cache-0', uid: 'uid-of-cache-0', creationTimestamp: stamp(), ...metadata },
  spec: { containers: [{ name: 'cache', image: 'cache' }], nodeName: 'node-1', terminationGracePeriodSeconds: 5 },
  status: { phase: 'Running', ...status },
});

function deleteItsPod({ namespace, pod, url }: Loopback): void {
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}`;
  setTimeout(() => void fetch(`${url}${path}`, { method: 'DELETE' }), 5000).unref();
}

/** A container is started again 6 times. */
function runOutOfMemory({ namespace, write }: Loopback): void {
  const terminated = { exitCode: 137, reason: 'OOMKilled', startedAt: stamp(), finishedAt: stamp() };
  const restarted = (restartCount: number) =>
    pod(
      namespace,
      {},
      {
        containerStatuses: [
          {
            name: 'cache',
            restartCount,
            ready: true,
            state: { running: { startedAt: stamp() } },
            lastState: { terminated },
          },
        ],
      },
    );
  write('pods', 'ADDED', restarted(0));
  for (let restarts = 1; restarts <= 6; restarts++)
    setTimeout(() => write('pods', 'MODIFIED', restarted(restarts)), 5000 + 500 * restarts).unref();
}

/** Its finalizer is never removed. */
function getStuck({ namespace, write }: Loopback): void {
  const status = { containerStatuses: [{ name: 'cache', restartCount: 0, ready: true, state: { running: {} } }] };
  write('pods', 'ADDED', pod(namespace, {}, status));
  const ended = { deletionTimestamp: stamp(), deletionGracePeriodSeconds: 5, finalizers: ['example.com/audit'] };
  setTimeout(() => write('pods', 'MODIFIED', pod(namespace, ended, status)), 5000).unref();
}

/** No endpoint is ready for 15 s. */
function loseEndpoints({ namespace, write }: Loopback): void {
  const slice = (ready: boolean) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace, name: 'cache-1', uid: 'uid-of-cache-1', labels: { 'kubernetes.io/service-name': 'cache' } },
    endpoints: [{ addresses: ['10.0.0.9'], conditions: { ready } }],
  });
  write('endpointslices', 'ADDED', slice(true));
  for (const [ms, ready] of [
    [5000, false],
    [20_000, true],
  ] as const)
    setTimeout(() => write('endpointslices', 'MODIFIED', slice(ready)), ms).unref();
}
