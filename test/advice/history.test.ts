/** `recommend` and `compare` on generated reports with known quantiles, and on recordings. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { histogramOf, quantilesOf } from '../../src/advice/history/recommend.ts';
import { parse } from 'yaml';
import { pattern } from '../helpers/case-file.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { faultsBy } from '../helpers/schemas.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podexit-'));

/** Some exits. */
interface Made {
  times?: number;
  /** By how much the drain of each is longer than that of the one before, s. */
  step?: number;
  drain: number;
  hook?: number;
  grace?: number;
  killed?: boolean;
  codes?: string[];
  image?: string;
  lost?: number;
  workload?: string;
  kind?: string;
  namespace?: string;
}

const range = (seconds: number) => ({ min: seconds, max: seconds });

const instant = (seconds: number) => {
  const at = new Date(Date.UTC(2026, 10, 30) + seconds * 1000).toISOString();
  return { earliest: at, latest: at };
};

function exit({
  drain,
  hook = 0,
  grace = 30,
  killed = false,
  codes = [],
  image = 'app:1',
  lost,
  workload = 'web',
  kind = 'StatefulSet',
  namespace = 'shop',
}: Made) {
  return {
    apiVersion: 'podexit/v1',
    kind: 'ExitReport',
    pod: { namespace, name: `${workload}-x`, uid: 'u', owner: { kind, name: workload } },
    grace: { effectiveSeconds: grace },
    totalSeconds: hook + drain + 1,
    marks: [
      { name: 'stopping', at: instant(0) },
      { name: 'exited', at: instant(hook + drain) },
    ],
    containers: [
      {
        name: 'app',
        kind: 'container',
        outcome: killed ? 'killed' : 'completed',
        preStopSeconds: range(hook),
        drainSeconds: range(drain),
      },
    ],
    verdict: {
      outcome: killed ? 'killed' : 'graceful',
      exitCode: killed ? 2 : 0,
      findings: codes.map((code) => ({ code, severity: 'warning', message: code })),
    },
    traffic: lost === undefined ? undefined : { probes: [{ sent: 100, failed: lost }] },
    run: { image: { app: image } },
  };
}

/** All exits of these groups. */
const exitsOf = (groups: readonly Made[]) =>
  groups.flatMap(({ times = 1, step = 0, ...one }) =>
    Array.from({ length: times }, (_, at) =>
      exit({ ...one, drain: Math.round((one.drain + at * step) * 1000) / 1000 }),
    ),
  );

let count = 0;

function rollout(groups: readonly Made[], more: object = {}): string {
  const file = join(scratch, `${(count += 1)}.json`);
  const document = { apiVersion: 'podexit/v1', kind: 'RolloutReport', exits: exitsOf(groups), ...more };
  writeFileSync(file, JSON.stringify(document));
  return file;
}

const hundred: Made[] = [{ times: 100, drain: 0.1, step: 0.1 }];

interface Case {
  exits: Made[];
  before: Made[];
  after: Made[];
  /** Of the rollout before. */
  probes?: object[];
  words?: string;
  code?: number;
  /** Parts of the first workload, or of the report. */
  workload?: object;
  summary?: string;
  report?: object;
  warning?: string;
}

const cases = parse(readFileSync(new URL('history.yaml', import.meta.url), 'utf8')) as Record<
  'recommend' | 'compare',
  Record<string, Case>
>;
const splitWords = (words = ''): string[] => words.split(' ').filter((word) => word !== '');

describe('recommend', () => {
  it.each(Object.entries(cases.recommend))(
    '%s',
    async (_, { exits, words, code = 0, workload = {}, summary, ...no }) => {
      expect(no).toEqual({});
      const ran = await runMain(['recommend', rollout(exits), ...splitWords(words), '-o', 'json']);
      const report = JSON.parse(ran.stdout) as { summary: string; workloads: object[] };
      expect(faultsBy('recommend-report', report)).toEqual([]);
      expect(ran.code).toBe(code);
      expect(report.workloads[0]).toMatchObject(workload);
      expect(report.summary).toMatch(pattern(summary ?? '.'));
    },
  );

  it('refuses fewer than 10 exits, and names the workload', async () => {
    const { code, stderr } = await runMain(['recommend', rollout([{ times: 9, drain: 0.1 }])]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/StatefulSet\/web: 9 exits; a recommendation needs 10/);
  });

  it('draws a histogram in the terminal, and prints the same card in Markdown', async () => {
    const file = rollout(hundred);
    const { stdout } = await runMain(['recommend', file]);
    expect(stdout).toMatch(/0–1s {2}█+ 9\n/);
    // The upper ends: what the exits used may be less.
    expect(stdout).toMatch(/^ +used +≤5\.0s +≤9\.0s +≤9\.9s +≤10\.0s$/m);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/30 → 15 is safe for 100 of 100 exits/);
    expect((await runMain(['recommend', file, '-o', 'markdown'])).stdout).toMatch(
      /^\*\*StatefulSet\/web: .*\*\*\n\n```\nStatefulSet\/web {2}100 exits[\s\S]*0–1s {2}█+ 9\n[\s\S]*```\n$/,
    );
  });
});

describe('compare', () => {
  it.each(Object.entries(cases.compare))(
    '%s',
    async (_, { before, after, probes, words, code = 0, report: wanted, warning, ...no }) => {
      expect(no).toEqual({});
      const files = [rollout(before, probes && { probes }), rollout(after)];
      const ran = await runMain(['compare', ...files, '-o', 'json', ...splitWords(words)]);
      const report = JSON.parse(ran.stdout) as { warnings?: string[] };
      expect(faultsBy('compare-report', report)).toEqual([]);
      expect(ran.code).toBe(code);
      expect(report).toMatchObject(wanted ?? {});
      if (warning !== undefined) expect(report.warnings).toContain(warning);
    },
  );

  it('reads recordings too, and lists the lengths of both sides', async () => {
    const words = ['compare', recordingFile('sigkill-after-grace'), recordingFile('graceful-exit')];
    const { code, stdout } = await runMain(words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^better\n[\s\S]* before +after\n +after SIGTERM +6\.0s +2\.9–3\.2s\n/);
    expect(stdout).toMatch(/after SIGTERM: 6\.0s → 2\.9–3\.2s/);
    expect(stdout).toMatch(/killed: 1 of 1 → 0 of 1/);
    expect((await runMain([...words, '-o', 'markdown'])).stdout).toMatch(
      /^\*\*better: .*\*\*\n\n```\nbetter\n[\s\S]* before +after\n/,
    );
  });

  it('counts what a recorded rollout lost once, not for each of its pods', async () => {
    const [head = '', began = '', ...rest] = readFileSync(recordingFile('rollout-25'), 'utf8').trimEnd().split('\n');
    const [first, last] = [began, rest.at(-1) ?? ''].map((line) => (JSON.parse(line) as { at: number }).at);
    const probe = { kind: 'probe-started', probe: 0, target: 'http://shop', via: 'url', ratePerSecond: 5 };
    const started = { ...probe, at: first, timeoutMs: 1000, keepalive: false };
    const failures = [{ kind: 'refused', connection: 'new', first: last, last, count: 3 }];
    const counts = { kind: 'probe-counts', probe: 0, at: last, since: first, new: { sent: 40, failed: 3 } };
    const probed = [JSON.stringify(started), ...rest, JSON.stringify({ ...counts, failures, latency: [] })];
    const file = join(scratch, 'probed.ndjson');
    writeFileSync(file, [head, began, ...probed].join('\n'));
    const { stdout } = await runMain(['compare', file, file, '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ before: { exits: 25, requests: { sent: 40, failed: 3 } } });
  });
});

it('quantiles use the nearest rank, and a histogram counts every value', () => {
  expect(quantilesOf([4, 1, 3, 2])).toEqual({ p50: 2, p90: 4, p99: 4, max: 4 });
  expect(quantilesOf([])).toBeUndefined();
  for (const values of [[0], [0.3, 12, 7.7], exitsOf(hundred).map(({ totalSeconds }) => totalSeconds)]) {
    const buckets = histogramOf(values);
    expect(buckets.reduce((sum, one) => sum + one.count, 0)).toBe(values.length);
    expect(buckets.length).toBeLessThanOrEqual(13);
  }
});
