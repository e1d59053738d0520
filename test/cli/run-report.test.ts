/** `run` in reports: how the report was made, without secrets of the command line. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { ExitReport, RunReport } from '../../src/model/report.ts';
import { renderHtml } from '../../src/output/html/page.ts';
import { hostileText, reportNamed } from '../output/helpers/reports.ts';
import { faultsBy } from '../helpers/schemas.ts';
import { unseenIn } from '../output/helpers/unseen.ts';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

const secret = 'canary-0123456789';
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown;

describe.concurrent('the report of one pod', () => {
  it('describes its run in every document, and so does its replay', () =>
    serving('exit-143', {}, async ({ server, flags, folder }) => {
      const [yaml, html, recording] = ['run.yaml', 'run.html', 'run.ndjson'].map((name) => join(folder, name));
      const words = [server.pod, ...flags, '--timeout=90s', '--report', yaml!, '--report', html!];
      const ran = await runMain([...words, '-o', 'json', '--record', recording!]);
      const report = JSON.parse(ran.stdout) as ExitReport;
      expect(report.run).toEqual({
        command:
          `kubectl podexit ${server.pod} --timeout=90s --record --output=json ` +
          `--report --report --namespace=${server.namespace} --kubeconfig`,
        version: '0.0.0-test',
        context: 'loopback',
        startedAt: time,
        image: { app: expect.stringContaining('/') as unknown },
      });
      expect(faultsBy('exit-report', report)).toEqual([]);
      expect((parse(readFileSync(yaml!, 'utf8')) as ExitReport).run).toEqual(report.run);
      const page = readFileSync(html!, 'utf8');
      expect(page).toContain('<dt>context</dt><dd>loopback</dd>');
      expect(page).toContain(`<dt>image</dt><dd>app ${report.run?.image?.['app']}</dd>`);
      const replayed = await runMain(['replay', recording!, '-o', 'ndjson']);
      const last = JSON.parse(replayed.stdout.trimEnd().split('\n').at(-1) ?? '') as { report: ExitReport };
      expect(last.report.run).toEqual(report.run);
    }));

  it('contains no secret from a flag, and neither does its recording', async () => {
    const asked: string[] = [];
    const backend = createServer((request, response) => void (asked.push(request.url ?? ''), response.end())).listen(0);
    const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/?key=${secret}`;
    const secrets = ['--token', secret, '--as', secret, '--probe-header', `X-Key: ${secret}`, '--probe', url];
    try {
      await serving('exit-143', {}, async ({ server, flags, folder }) => {
        const file = join(folder, 'run.ndjson');
        const ran = await runMain([server.pod, ...flags, ...secrets, '-o', 'json', '--record', file]);
        expect(asked).toContain(`/?key=${secret}`);
        const { run } = JSON.parse(ran.stdout) as ExitReport;
        expect(run?.command).toMatch(/ --probe .*--probe-header .*--token .*--as$/);
        expect(ran.stdout + ran.stderr + readFileSync(file, 'utf8')).not.toContain(secret);
      });
    } finally {
      backend.close();
    }
  });

  it('escapes a hostile context and image', () => {
    const report = reportNamed('exit-143');
    const { pod } = report.timeline;
    const containers = pod.spec.containers.map((one) => ({ ...one, image: hostileText }));
    const run = { command: '', version: '', context: hostileText, startedAt: '' };
    const timeline = { ...report.timeline, pod: { ...pod, spec: { ...pod.spec, containers } } };
    const page = renderHtml({ ...report, timeline, run });
    expect(page).toContain('<dt>context</dt>');
    expect(page.match(/<(img|b a)/g)).toBeNull();
    expect(unseenIn(page)).toEqual([]);
  });
});

it.concurrent('the report of a rollout describes the run once for all pods, without the command after --', () =>
  serving('rolling-update', { attachDelayMs: 2500 }, async ({ flags, folder }) => {
    const file = join(folder, 'run.ndjson');
    const command = [process.execPath, '-e', '0', secret];
    const words = ['rollout', 'deploy/checkout', '-o', 'json', '--record', file, ...flags, '--', ...command];
    const ran = await runMain(words);
    const { run, exits } = JSON.parse(ran.stdout) as { run: RunReport; exits: ExitReport[] };
    expect(faultsBy('rollout-report', JSON.parse(ran.stdout))).toEqual([]);
    const { image, ...same } = exits[0]?.run ?? {};
    expect(run).toEqual(same);
    expect(Object.keys(image ?? {})).not.toEqual([]);
    expect(run.command).toMatch(/^kubectl podexit rollout deploy\/checkout .*--output=json/);
    expect(ran.stdout + readFileSync(file, 'utf8')).not.toContain(secret);
    const page = await runMain(['replay', file, '-o', 'html']);
    expect(page.stdout).toContain('<dt>context</dt><dd>loopback</dd>');
    expect(page.stdout).toContain('<dt>image</dt>');
  }),
);
