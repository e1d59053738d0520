/** Pastes every patch of the cards into a shell. kubectl sends it, and the demo's API server merges it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startLoopback } from '../../src/demo/loopback.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import { hasKubectl } from '../helpers/machines-kubectl.ts';
import { allNames, secondSeriesNames, tracedPodsOf } from '../helpers/recordings.ts';

const firstOf = async (name: string) => (await tracedPodsOf(name)).slice(0, 1).map(({ report }) => ({ name, report }));
const reports = (await Promise.all(allNames.map(firstOf))).flat();
const patched = reports.flatMap(({ name, report }) =>
  report.answer.fix.map(({ command, patch }) => ({ name, command, patch })),
);

it('proposes a patch for many recordings', () => {
  expect(new Set(patched.map(({ name }) => name)).size).toBeGreaterThan(5);
});

describe.skipIf(!hasKubectl)('with the machine’s own kubectl (skipped without one on the PATH)', () => {
  it.each(patched)(
    'kubectl sends the fix of $name, and the object then contains it',
    async ({ name, command, patch }) => {
      const series = secondSeriesNames.includes(name) ? 'second/' : '';
      const server = await startLoopback({ scenario: loadRecording(`${series}${name}`) });
      const folder = mkdtempSync(join(tmpdir(), 'pasted-'));
      const kubeconfig = join(folder, 'config');
      writeFileSync(kubeconfig, server.kubeconfig());
      const pasted = `${command} --dry-run=server -o json --cache-dir ${join(folder, 'cache')}`;
      try {
        const env = { ...process.env, KUBECONFIG: kubeconfig };
        const { stdout } = await promisify(execFile)('sh', ['-c', pasted], { env });
        expect(JSON.parse(stdout)).toMatchObject(asMatched(patch) as object);
      } finally {
        await server.close();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});

/** A matcher for the patched object, because containers are merged by name into the existing ones. */
const asMatched = (value: unknown): unknown => {
  if (Array.isArray(value))
    return expect.arrayContaining(value.map((one) => expect.objectContaining(one as object) as unknown));
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(known.map(([key, one]) => [key, asMatched(one)]));
};

it('never proposes only a longer grace period for an app that ignores SIGTERM', () => {
  const ignoring = reports.filter(({ report }) =>
    report.verdict.findings.some(({ code }) => code === 'no-signal-handling'),
  );
  expect(ignoring.length).toBeGreaterThan(2);
  for (const { report } of ignoring) {
    expect(report.answer.advice[0]).toMatch(/trap|handler/);
    for (const { patch } of report.answer.fix) expect(JSON.stringify(patch)).toContain('preStop');
  }
});

it('never proposes a surge for a StatefulSet or a bare pod', () => {
  const bare = reports.filter(({ report }) => report.timeline.workload?.kind !== 'Deployment');
  for (const { report } of bare) {
    expect(JSON.stringify(report.answer.fix)).not.toMatch(/maxSurge|replicas/);
    expect(report.verdict.findings.map(({ advice }) => advice).join('\n')).not.toMatch(/surge|maxUnavailable/i);
  }
});
