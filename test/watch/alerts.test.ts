/** The files of deploy/ for Prometheus by promtool: when each alert fires, when it stays silent, and what can be read. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/watch/metrics.ts';
import { alertRules, panels } from './helpers/deployed.ts';

const promtool = (...words: string[]) => spawnSync('promtool', words, { encoding: 'utf8' });
const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
const rules = join(folder, 'rules.json');
writeFileSync(rules, JSON.stringify(alertRules));

const target = 'job="watch",instance="10.0.0.1:9464"';
const exits = (outcome: string): string =>
  `podexit_exits_total{namespace="shop",workload="deployment/web",outcome="${outcome}",trigger="rollout",${target}}`;
const noReady = `podexit_no_ready_endpoint_seconds_total{namespace="shop",service="web",${target}}`;
const lost = `podexit_watch_streams_lost{${target}}`;

/** Values for each minute, in promtool's notation: `_x60` is an hour without any, `4x60` an hour of 4. */
type Series = Record<string, string>;
/** A watch that was started just before and is scraped since then. */
const young: Series = {
  [`podexit_build_info{${target}}`]: '1x120',
  [`process_start_time_seconds{${target}}`]: '0x120',
};
/** A watch that had been running for long when Prometheus began to scrape it, at minute 70. */
const old: Series = {
  [`podexit_build_info{${target}}`]: '_x70 1x50',
  [`process_start_time_seconds{${target}}`]: '_x70 -90000x50',
};

const stories: [what: string, series: Series, firing: string[]][] = [
  [
    'four pods of a workload killed at once, its first ever',
    { ...young, [exits('killed')]: '_x70 4x50' },
    ['PodsKilledAtGrace'],
  ],
  [
    'four more of a workload of which pods were killed before',
    { ...young, [exits('killed')]: '9x70 13x50' },
    ['PodsKilledAtGrace'],
  ],
  ['three killed pods', { ...young, [exits('killed')]: '_x70 3x50' }, []],
  ['a hundred killed pods, more than an hour ago', { ...young, [exits('killed')]: '_x10 100x110' }, []],
  ['a hundred killed pods, before Prometheus scraped', { ...old, [exits('killed')]: '_x70 100x50' }, []],
  [
    'a hundred killed pods, and half an hour without a scrape',
    { ...young, [exits('killed')]: '1 100x10 _x30 100x80', [`podexit_build_info{${target}}`]: '1x11 _x30 1x79' },
    [],
  ],
  ['four containers out of memory', { ...young, [exits('oom')]: '_x70 1 2 3 4x47' }, ['ContainersOutOfMemory']],
  ['one pod that does not go away', { ...young, [exits('stuck')]: '_x70 1x50' }, ['PodsStuckTerminating']],
  ['a Service without a ready endpoint for 20 s', { ...young, [noReady]: '_x85 20x35' }, ['NoReadyEndpoint']],
  ['a Service without a ready endpoint for 5 s', { ...young, [noReady]: '_x85 5x35' }, []],
  ['no watch at all', {}, ['PodexitWatchDown']],
  [
    'one of two watches that stops',
    { ...young, 'podexit_build_info{job="other",instance="10.0.0.2:9464"}': '1x70' },
    ['PodexitWatchDown'],
  ],
  [
    'a watch that is replaced by one at another address',
    { ...young, 'podexit_build_info{job="watch",instance="10.0.0.2:9464"}': '1x90' },
    [],
  ],
  ['hundreds of graceful exits', { ...young, [exits('graceful')]: '0+20x120' }, []],
  ['a watch that has lost a stream for 8 minutes', { ...young, [lost]: '0x81 1x39' }, ['PodexitWatchBlind']],
  ['a watch that has lost a stream for 3 minutes', { ...young, [lost]: '0x86 1x34' }, []],
];

describe.skipIf(promtool('--version').error !== undefined)('promtool (skipped without it on the PATH)', () => {
  it('accepts the rules, and what the panels of the dashboard ask', () => {
    // As Grafana fills in its variables.
    const filledIn = (expr: string): string =>
      expr.replaceAll('$__range_s', '300').replaceAll(/\$__(range|rate_interval)/g, '5m');
    const asked = panels.flatMap(({ targets }) =>
      targets.map(({ expr }) => ({ record: 'panel', expr: filledIn(expr) })),
    );
    const file = join(folder, 'panels.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: asked }] }));
    const { stdout, stderr } = promtool('check', 'rules', '--lint=none', rules, file);
    const counts = [alertRules.groups.flatMap(({ rules }) => rules).length, asked.length];
    expect([...`${stdout}${stderr}`.matchAll(/SUCCESS: (\d+) rules found/g)].map(([, count]) => Number(count))).toEqual(
      counts,
    );
  });

  it('reads the metrics, and finds no fault in their names and types', async () => {
    const health = { open: 0, pods: 0, streams: { up: 0, lost: 0 } };
    const metrics = await createMetrics('0.0.0', () => health).registry.metrics();
    const own = metrics.split('\n').filter((line) => /^(# \w+ )?podexit_/.test(line));
    const input = `${own.join('\n')}\n`;
    expect(spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' }).stderr).toBe('');
  });

  it.each(stories)('%s', (_what, series, firing) => {
    const exp_samples = firing.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }));
    const test = {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [{ expr: 'count by (alertname) (ALERTS{alertstate="firing"})', eval_time: '90m', exp_samples }],
    };
    const file = join(folder, 'test.json');
    writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests: [test] }));
    const { stdout, stderr } = promtool('test', 'rules', file);
    expect(`${stdout}${stderr}`).toMatch(/SUCCESS\s*$/);
  });
});
