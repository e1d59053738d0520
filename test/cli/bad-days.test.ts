/** Bad input and failing clusters: one clear sentence names the object and the next step; exit 1, no stack trace. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import type { Printed } from './helpers/in-process.ts';
import { runMain } from './helpers/in-process.ts';

const scratch = (): string => mkdtempSync(join(tmpdir(), 'podexit-'));

function fileWith(text: string): string {
  const file = join(scratch(), 'file');
  writeFileSync(file, text);
  return file;
}

/** Checks what all refusals have in common. */
function refused(ran: Pick<Printed, 'stderr'> & { code: number | null }, sentence: RegExp): void {
  expect(ran.stderr).toMatch(sentence);
  expect(ran.stderr).not.toMatch(/^\s+at /m);
  expect(ran.stderr).not.toContain('unexpected error');
  expect(ran.code).toBe(1);
}

describe.concurrent('the cluster refuses', () => {
  it('a credential plugin that never ends or cannot be started', async () => {
    const withPlugin = (command: string, args: string[]): string =>
      fileWith(
        JSON.stringify({
          clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:9' } }],
          users: [{ name: 'u', user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command, args } } }],
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'x',
        }),
      );
    const began = performance.now();
    const endless = [process.execPath, ['-e', 'setInterval(() => {}, 1000)']] as const;
    const kubeconfig = withPlugin(endless[0], [...endless[1]]);
    refused(await runMain(['web', '--kubeconfig', kubeconfig, '--timeout=1s']), /could not be read within 1 s/);
    // A plugin has a minute.
    expect(performance.now() - began).toBeLessThan(50_000);
    refused(await runMain(['web', '--kubeconfig', withPlugin('', [])]), /cannot be started/);
  });
});

it('a recording that was cut in the middle of its last line: that is reported, and the rest is shown', async () => {
  const whole = readFileSync(recordingFile('graceful-exit'), 'utf8');
  const ran = await runMain(['replay', fileWith(whole.slice(0, whole.length - 40)), '-o', 'json']);
  expect(ran.stderr).toMatch(/was cut in line \d+: the report covers what was recorded until then/);
  expect((JSON.parse(ran.stdout) as { kind: string }).kind).toBe('ExitReport');
});

describe.concurrent('the pod’s watch is refused after the DELETE', () => {
  it.each([
    ['the permission was revoked', 403],
    ['the credentials expired', 401],
    ['the server no longer has the resource', 404],
  ])('%s: the report covers what was seen', (_, code) =>
    servingPatiently(
      'prestop-sleep',
      {
        faults: [
          { kind: 'drop', afterMs: 1000, resource: 'pods' },
          { kind: 'status', code, resource: 'pods', verb: 'watch', afterMs: 1000 },
          { kind: 'status', code, resource: 'pods', verb: 'list', afterMs: 1000 },
        ],
      },
      async ({ server, flags }) => {
        const ran = await runMain([server.pod, ...flags, '-o', 'json', '--timeout', '20s']);
        const report = JSON.parse(ran.stdout) as ExitReport;
        expect(report.kind).toBe('ExitReport');
        expect(report.marks.map(({ name }) => name)).toEqual(expect.arrayContaining(['accepted', 'stopping']));
        expect(report.verdict.outcome).toBe('unknown');
        expect(report.gaps.map(({ resource }) => resource)).toContain('pods');
        expect(ran.stderr).toContain('it is still terminating, and the report covers what was observed so far');
        expect(ran.code).toBe(4);
        expect(server.deletesAccepted).toBe(1);
      },
    ),
  );
});
