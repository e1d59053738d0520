/** `recommend` and `compare` on generated reports with known quantiles, and on recordings. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { histogramOf, quantilesOf } from '../../src/advice/history/recommend.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { faultsBy } from '../helpers/schemas.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(scratch, { recursive: true }));

interface Made {
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

let count = 0;
function rollout(exits: Made[]): string {
  const file = join(scratch, `${(count += 1)}.json`);
  writeFileSync(file, JSON.stringify({ apiVersion: 'podexit/v1', kind: 'RolloutReport', exits: exits.map(exit) }));
  return file;
}

const hundred = Array.from({ length: 100 }, (_, at) => ({ drain: (at + 1) / 10 }));

interface Recommended {
  summary: string;
  workloads: {
    drain: Record<string, number>;
    grace: Record<string, unknown>;
    warnings: string[];
    killed: { share: number };
  }[];
}

async function recommend(...words: string[]): Promise<{ code: number; report: Recommended }> {
  const { code, stdout } = await runMain(['recommend', ...words, '-o', 'json']);
  expect(faultsBy('recommend-report', JSON.parse(stdout))).toEqual([]);
  return { code, report: JSON.parse(stdout) as Recommended };
}

describe('recommend', () => {
  it('has the quantiles of a hundred exits of 0.1s to 10s', async () => {
    const { code, report } = await recommend(rollout(hundred));
    expect(code).toBe(0);
    expect(report.workloads[0]?.drain).toEqual({ p50: 5, p90: 9, p99: 9.9, max: 10 });
  });

  it.each([
    ['web-754699c75f', 'Deployment/web'],
    ['web-frontend', 'ReplicaSet/web-frontend'],
  ])('of the ReplicaSet %s is for %s', async (workload, title) => {
    const { report } = await recommend(rollout(hundred.map((one) => ({ ...one, kind: 'ReplicaSet', workload }))));
    expect(report.summary).toMatch(new RegExp(`^${title}:`));
  });

  it('lowers a grace period that is longer than all exits need', async () => {
    const { report } = await recommend(rollout(hundred));
    expect(report.workloads[0]?.grace).toEqual({
      currentSeconds: 30,
      recommendedSeconds: 15,
      direction: 'lower',
      safeFor: 100,
    });
    expect(report.summary).toBe(
      'StatefulSet/web: terminationGracePeriodSeconds 30 → 15 is safe for 100 of 100 exits (p99 9.9s)',
    );
  });

  it('raises a grace period that some exits exceed', async () => {
    const exits = [...hundred.map((one) => ({ ...one, grace: 10 })), { drain: 10, grace: 10, killed: true }];
    const { code, report } = await recommend(rollout(exits), '--fail-on', 'raise');
    expect(code).toBe(5);
    expect(report.workloads[0]?.grace).toMatchObject({
      currentSeconds: 10,
      direction: 'raise',
      recommendedSeconds: 15,
    });
    expect(report.workloads[0]?.killed.share).toBeCloseTo(1 / 101);
  });

  it('raises no grace period that leaves a quarter more today, only to round it up', async () => {
    const { report } = await recommend(rollout(hundred.slice(0, 40).map((one) => ({ ...one, grace: 8 }))));
    expect(report.workloads[0]?.grace).toMatchObject({ recommendedSeconds: 5, direction: 'lower' });
    const slower = await recommend(rollout(hundred.slice(0, 44).map((one) => ({ ...one, grace: 8 }))));
    expect(slower.report.workloads[0]?.grace).toMatchObject({ recommendedSeconds: 8, direction: 'keep' });
  });

  it('keeps the grace period of an app that ignores its stop signal', async () => {
    const ignoring = { drain: 30, killed: true, codes: ['no-signal-handling'] };
    const { report } = await recommend(rollout([...hundred.slice(0, 10), ignoring]));
    expect(report.workloads[0]?.grace).toMatchObject({ direction: 'not-by-grace', recommendedSeconds: 30 });
    expect(report.summary).toContain('1 of 1 killed exits showed no reaction to their stop signal');
  });

  it('raises nothing for kills that a shorter grace period caused', async () => {
    const short = { drain: 10, grace: 10, killed: true };
    const { report } = await recommend(rollout([...hundred.map((one) => ({ ...one, grace: 60 })), short]));
    expect(report.workloads[0]?.grace).toMatchObject({ direction: 'keep', recommendedSeconds: 60, safeFor: 100 });
    expect(report.workloads[0]?.warnings).toEqual(['the exits had different grace periods: 10s, 60s']);
  });

  it('warns about a mixture of namespaces', async () => {
    const { report } = await recommend(rollout([...hundred, { drain: 20, namespace: 'staging' }]));
    expect(report.workloads[0]?.warnings).toEqual(['the exits are from different namespaces: shop, staging']);
  });

  it('warns about a mixture of versions', async () => {
    const { report } = await recommend(rollout([...hundred, { drain: 1, image: 'app:2' }]));
    expect(report.workloads[0]?.warnings).toEqual([
      'a mixture of 2 versions: an older one may need another grace period',
    ]);
  });

  it('refuses fewer than 10 exits, and names the workload', async () => {
    const { code, stderr } = await runMain(['recommend', rollout(hundred.slice(0, 9))]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/StatefulSet\/web: 9 exits; a recommendation needs 10/);
  });

  it('draws a histogram in the terminal, and prints the same card in Markdown and in HTML', async () => {
    const file = rollout(hundred);
    const { stdout } = await runMain(['recommend', file]);
    expect(stdout).toMatch(/0–1s {2}█+ 9\n/);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/30 → 15 is safe for 100 of 100 exits/);
    expect((await runMain(['recommend', file, '-o', 'markdown'])).stdout).toMatch(
      /^\*\*StatefulSet\/web: .*\*\*\n\n```\nStatefulSet\/web {2}100 exits[\s\S]*0–1s {2}█+ 9\n[\s\S]*```\n$/,
    );
    expect((await runMain(['recommend', file, '-o', 'html'])).stdout).toMatch(
      /^<!doctype html>[\s\S]*<pre>StatefulSet\/web {2}100 exits[\s\S]*0–1s {2}█+ 9\n[\s\S]*<\/pre>/,
    );
  });
});

async function compare(before: string, after: string, ...words: string[]) {
  const { code, stdout } = await runMain(['compare', before, after, '-o', 'json', ...words]);
  const report = JSON.parse(stdout) as { change: string; summary: string; findings: object; worse: string[] };
  expect(faultsBy('compare-report', report)).toEqual([]);
  return { code, report };
}

describe('compare', () => {
  const slow = { drain: 6, killed: true, codes: ['killed-at-grace', 'drain-race'] };
  const fast = { drain: 2, codes: ['drain-race'] };

  it('lists the fixed findings and those that are left', async () => {
    const { code, report } = await compare(rollout([slow]), rollout([fast]), '--fail-on', 'worse');
    expect(code).toBe(0);
    expect(report).toMatchObject({
      change: 'better',
      findings: { fixed: ['killed-at-grace'], new: [], left: ['drain-race'] },
    });
  });

  it('exits 5 with --fail-on=worse if something got worse', async () => {
    const [before, after] = [rollout([fast]), rollout([slow])];
    expect((await compare(before, after)).code).toBe(0);
    expect((await compare(before, after, '--fail-on=worse')).code).toBe(5);
  });

  it('reports no difference within the noise', async () => {
    const { report } = await compare(rollout([{ drain: 3 }]), rollout([{ drain: 3.4 }]));
    expect(report).toMatchObject({ change: 'same', summary: 'no proven difference' });
  });

  describe('with several exits, reports no difference that may be chance', () => {
    const many = (count: number, one: (at: number) => Made): Made[] =>
      Array.from({ length: count }, (_, at) => one(at));
    const killedFirst = (killed: number) => (at: number) => ({ drain: 3, killed: at < killed });
    const foundFirst = (found: number) => (at: number) => ({ drain: 3, codes: at < found ? ['drain-race'] : [] });
    it.each<[string, Made[], Made[], string]>([
      ['2 and 1 of 20 killed', many(20, killedFirst(2)), many(20, killedFirst(1)), 'same'],
      ['15 and 1 of 20 killed', many(20, killedFirst(15)), many(20, killedFirst(1)), 'better'],
      ['3 and 0 of 3 killed', many(3, killedFirst(3)), many(3, killedFirst(0)), 'better'],
      ['a finding in 0 and 1 of 20', many(20, foundFirst(0)), many(20, foundFirst(1)), 'same'],
      ['a finding in 0 of 1 and 3 of 20', many(1, foundFirst(0)), many(20, foundFirst(3)), 'same'],
      ['a finding in 0 and 20 of 20', many(20, foundFirst(0)), many(20, foundFirst(20)), 'worse'],
      [
        '20 and 40 of 2,000 requests lost',
        many(20, () => ({ drain: 3, lost: 1 })),
        many(20, () => ({ drain: 3, lost: 2 })),
        'same',
      ],
      [
        '40 and 0 of 2,000 requests lost',
        many(20, () => ({ drain: 3, lost: 2 })),
        many(20, () => ({ drain: 3, lost: 0 })),
        'better',
      ],
      [
        '20 and 24 of 2,000 requests lost',
        many(20, () => ({ drain: 3, lost: 1 })),
        many(20, (at) => ({ drain: 3, lost: at < 4 ? 2 : 1 })),
        'same',
      ],
      [
        'drains of 1s to 9s, with another median',
        many(9, (at) => ({ drain: at + 1 })),
        many(9, (at) => ({ drain: at < 4 ? at + 1 : at + 3 })),
        'same',
      ],
      [
        'drains of 1s to 2s, and of 6s to 7s',
        many(9, (at) => ({ drain: 1 + at / 8 })),
        many(9, (at) => ({ drain: 6 + at / 8 })),
        'worse',
      ],
      ['one exit within the range of 9', [{ drain: 8 }], many(9, (at) => ({ drain: at + 1 })), 'same'],
    ])('%s', async (_title, before, after, change) => {
      const { report } = await compare(rollout(before), rollout(after));
      expect(report.change).toBe(change);
    });

    it('and says which findings are on one side only', async () => {
      const { report } = await compare(rollout(many(20, foundFirst(1))), rollout(many(20, foundFirst(0))));
      expect(report).toMatchObject({
        findings: { fixed: [], new: [], left: [] },
        warnings: ['findings of one side only, which may be chance: drain-race: 1 of 20 → 0 of 20'],
      });
    });
  });

  it('counts the requests of a rollout once, and calls no loss fixed that was not measured again', async () => {
    const before = rollout([1, 2, 3].map(() => ({ drain: 3, lost: 10, codes: ['requests-lost'] })));
    const document = JSON.parse(readFileSync(before, 'utf8')) as object;
    writeFileSync(before, JSON.stringify({ ...document, probes: [{ sent: 100, failed: 12 }] }));
    const { report } = await compare(before, rollout([1, 2, 3].map(() => ({ drain: 3 }))));
    expect(report).toMatchObject({
      before: { requests: { sent: 100, failed: 12 } },
      findings: { fixed: [] },
      warnings: expect.arrayContaining(['requests were measured before, but not after']) as string[],
    });
  });

  it('compares the lost requests with the sent ones', async () => {
    const { report } = await compare(rollout([{ drain: 3, lost: 0 }]), rollout([{ drain: 3, lost: 4 }]));
    expect(report.worse).toEqual(['requests lost: 0 of 100 → 4 of 100']);
  });

  it('reads recordings too, and lists the lengths of both sides', async () => {
    const words = ['compare', recordingFile('sigkill-after-grace'), recordingFile('graceful-exit')];
    const { code, stdout } = await runMain(words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^better\n[\s\S]* before +after\n +after SIGTERM +6\.0s +2\.9–3\.2s\n/);
    expect(stdout).toMatch(/killed: 1 of 1 → 0 of 1/);
    expect((await runMain([...words, '-o', 'markdown'])).stdout).toMatch(
      /^\*\*better: .*\*\*\n\n```\nbetter\n[\s\S]* before +after\n/,
    );
  });

  it('a missing file causes one clear error', async () => {
    const { code, stderr } = await runMain(['compare', '/nowhere.json', rollout([fast])]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/\/nowhere\.json does not exist/);
  });
});

it('quantiles use the nearest rank, and a histogram counts every value', () => {
  expect(quantilesOf([4, 1, 3, 2])).toEqual({ p50: 2, p90: 4, p99: 4, max: 4 });
  expect(quantilesOf([])).toBeUndefined();
  for (const values of [[0], [0.3, 12, 7.7], hundred.map(({ drain }) => drain)]) {
    const buckets = histogramOf(values);
    expect(buckets.reduce((sum, one) => sum + one.count, 0)).toBe(values.length);
    expect(buckets.length).toBeLessThanOrEqual(13);
  }
});
