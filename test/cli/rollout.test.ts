/** `--all-terminating` and `rollout`: one report for each pod that a rollout terminates, and a summary at the end. */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reportFile } from '../../src/output/formats.ts';
import { fileOfPod, isForEachPod } from '../../src/output/report-files.ts';
import { isRolledOut } from '../../src/run/progress/progress.ts';
import { commandOf } from '../../src/run/progress/start.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { worstCode } from '../../src/verdict/policy.ts';
import type { Report } from '../../src/verdict/report.ts';
import { rolloutNumbers, summaryOf, type RolloutSummary } from '../../src/verdict/rollout.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import { casesIn } from '../helpers/case-file.ts';
import { withTwins } from '../helpers/twins.ts';
import { runMain } from './helpers/in-process.ts';

describe.concurrent('a recorded rollout', () => {
  it.skipIf(!existsSync('/dev/full'))('a recording that could not be written exits 1, as for a single pod', () =>
    servingPatiently('rolling-update', { attachDelayMs: 1500 }, async ({ flags, folder }) => {
      symlinkSync('/dev/full', join(folder, 'run.ndjson'));
      const words = ['-l', 'app=checkout', '--all-terminating', `--record=${join(folder, 'run.ndjson')}`, ...flags];
      const ran = await runMain([...words, '-o', 'json']);
      expect(ran.stderr).toMatch(/ENOSPC/);
      expect(ran.code).toBe(1);
      expect((JSON.parse(ran.stdout) as { exits: ExitReport[] }).exits).toHaveLength(1);
    }),
  );

  it.each([
    ['POD.html', 'web-0.html'],
    ['PODS/POD.junit.xml', 'PODS/web-0.junit.xml'],
  ])('the report file %s of one pod is %s', (file, own) => {
    expect(isForEachPod({ file })).toBe(true);
    expect(fileOfPod(reportFile(file, 'trace'), 'web-0').file).toBe(own);
  });

  it.each(['exit.html', 'POD/exit.html', '/dev/stdout', 'POD-1.html'])('%s is one file for all pods', (file) =>
    expect(isForEachPod({ file })).toBe(false),
  );
});

// Not concurrent: other runs in this process would delay its observations.
it('several pods that terminate together have one report, one each on request, and one recording', async () => {
  const scenario = loadRecording('rolling-update');
  const pod = scenario.rows.find((row) => row.type === 'log-open')?.pod ?? '';
  const names = [pod, ...['twin1', 'twin2'].map((suffix) => pod.replace(/[^-]+$/, suffix))].sort();
  const twins = withTwins(scenario, pod, ['twin1', 'twin2']);
  await servingPatiently('rolling-update', { attachDelayMs: 1500, scenario: twins }, async ({ flags, folder }) => {
    const files = ['run.json', 'pods/POD.json'].map((file) => `--report=${join(folder, file)}`);
    const record = `--record=${join(folder, 'run.ndjson')}`;
    const ran = await runMain(['-l', 'app=checkout', '--all-terminating', '-o', 'json', record, ...files, ...flags]);
    expect(readFileSync(join(folder, 'run.json'), 'utf8')).toBe(ran.stdout);
    const printed = JSON.parse(ran.stdout) as { exits: ExitReport[]; summary: RolloutSummary };
    expect(printed.exits.map((item) => item.pod.name).sort()).toEqual(names);
    expect(printed.summary).toMatchObject({ pods: 3, outcomes: { graceful: 3 }, killed: [], exitCode: 0 });
    for (const name of names) {
      expect(ran.stderr).toContain(`podexit: ${name}: is terminating\n`);
      const item = printed.exits.find((one) => one.pod.name === name);
      expect(item?.containers).toMatchObject([{ name: 'app', outcome: 'completed', exit: { code: 0 } }]);
      expect(JSON.parse(readFileSync(join(folder, 'pods', `${name}.json`), 'utf8'))).toEqual(item);
      const replayed = await runMain(['replay', join(folder, 'run.ndjson'), name, '-o', 'json']);
      expect(JSON.parse(replayed.stdout)).toEqual(item);
    }
  });
});

describe('the summary', () => {
  const report = (name: string, outcome: string, share: number, exitCode = 0): Report =>
    ({
      timeline: {
        pod: { metadata: { name }, spec: {} },
        trigger: { kind: 'unknown', evidence: [] },
        marks: [],
        gaps: [],
        grace: { effectiveSeconds: 10, counted: { min: 10, max: 10 } },
        total: { min: 9900, max: 10_000 + share * 10_000, shown: 10_000 + share * 5000 },
        containers: [
          {
            outcome: outcome === 'killed' ? 'killed' : 'completed',
            graceUsed: { min: 0, max: share * 10_000, shown: share * 5000 },
          },
        ],
      },
      verdict: { outcome, exitCode, findings: [] },
      ledger: [],
      answer: { summary: outcome, fix: [], advice: [], traffic: { judgement: 'not-judged', reason: '', services: [] } },
    }) as never;

  it('names the slowest pod and the killed ones, and has percentiles of the grace used', () => {
    const reports = Array.from({ length: 9 }, (_, index) => report(`p${index}`, 'graceful', 0.1));
    const numbers = rolloutNumbers('deployment/web', [...reports, report('last', 'killed', 1, 2)]);
    expect(summaryOf(numbers)).toMatchObject({
      target: 'deployment/web',
      pods: 10,
      outcomes: { graceful: 9, killed: 1 },
      killed: ['last'],
      slowest: { name: 'last', seconds: { min: 9.9, max: 20 } },
      graceUsed: { p50: 0.1, p90: 0.1, p99: 1, max: 1 },
      exitCode: 2,
    });
  });

  it.each([
    [[], 0],
    [[0, 2, 4], 4],
    [[3, 4], 3],
    [[2, 1, 3], 1],
    [[1, 130], 130],
  ])('has %j with the worst exit code %i', (codes, code) => expect(worstCode(codes)).toBe(code));
});

interface Case {
  kind: string;
  spec?: object;
  status?: object;
  /** `always`: also as long as its controller has not seen the newest spec. */
  is: boolean | 'always';
}

it.each(casesIn<Case>(new URL('rolled-out.yaml', import.meta.url), ['kind', 'spec', 'status', 'is']))(
  '%s',
  (_, { kind, spec = {}, status = {}, is }) => {
    const seen = (observedGeneration: number) =>
      isRolledOut({ kind, metadata: { generation: 4 }, spec, status: { observedGeneration, ...status } });
    expect([seen(4), seen(3)]).toEqual([is !== false, is === 'always']);
  },
);

it('runs kubectl on the same cluster to restart or to set an image', () => {
  const connection = { version: '1', context: 'prod', token: 'secret' };
  const of = (start: Parameters<typeof commandOf>[0]) => commandOf(start, 'deployment/web', 'shop', connection, {});
  expect(of({ kind: 'restart' }).join(' ')).toBe('kubectl rollout restart deployment/web -n shop --context=prod');
  expect(of({ kind: 'image', image: 'app=web:2' }).join(' ')).toBe(
    'kubectl set image deployment/web app=web:2 -n shop --context=prod',
  );
});

it('passes impersonation and TLS settings to kubectl, but no secret', () => {
  const identity = { as: 'ci bot', asGroup: ['ci', 'dev'], insecureSkipTlsVerify: true, tlsServerName: 'api' };
  const secrets = { token: 'secret', username: 'secret', password: 'secret' };
  const words = commandOf({ kind: 'restart' }, 'deployment/web', 'shop', { version: '1', ...identity, ...secrets }, {});
  expect(words.slice(6)).toEqual([
    '--tls-server-name=api',
    '--insecure-skip-tls-verify',
    '--as=ci bot',
    '--as-group=ci',
    '--as-group=dev',
  ]);
});
