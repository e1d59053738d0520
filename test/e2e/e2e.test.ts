/**
 * The built command against the cluster of KUBECONFIG, in its own namespace, which is removed at the end: `npm run
 * test:e2e` with PODEXIT_E2E=1. Needs kubectl. PODEXIT_E2E_IMAGE (busybox) must have a shell; PODEXIT_E2E_PULL is its
 * pull policy (IfNotPresent).
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExitReport, FindingCode, Outcome } from '../../src/model/report.ts';
import { podexit } from '../helpers/built.ts';

interface Expected {
  outcome: Outcome;
  exitCode: number;
  /** Container outcomes, if they are certain on any cluster. */
  containers?: Record<string, string>;
  findings?: FindingCode[];
  /** Arguments of the command after the pod. */
  words?: string[];
  /** The state of the pod before the command runs. */
  when?: 'ready' | 'succeeded' | 'pending';
}

/** To add a scenario, add a manifest and a row. */
const table: Record<string, Expected> = {
  graceful: { outcome: 'graceful', exitCode: 0, containers: { app: 'completed' } },
  'ignores-sigterm': {
    outcome: 'killed',
    exitCode: 2,
    containers: { app: 'killed' },
    findings: ['killed-at-grace', 'no-signal-handling'],
  },
  'exit-143': { outcome: 'graceful', exitCode: 0, containers: { app: 'signalled' } },
  'exit-1': { outcome: 'failed', exitCode: 2, containers: { app: 'failed' }, findings: ['exit-nonzero'] },
  'prestop-sleep': { outcome: 'graceful', exitCode: 0, containers: { app: 'completed' } },
  'prestop-exceeds-grace': { outcome: 'overran', exitCode: 2, findings: ['prestop-cut-off'] },
  'prestop-fails': { outcome: 'graceful', exitCode: 0, findings: ['prestop-failed'] },
  finalizer: { outcome: 'stuck', exitCode: 3, findings: ['finalizer-held'], words: ['--timeout', '12s'] },
  force: {
    outcome: 'forced',
    exitCode: 2,
    containers: { app: 'abandoned' },
    findings: ['force-deleted'],
    words: ['--force'],
  },
  pending: { outcome: 'removed', exitCode: 0, when: 'pending' },
  completed: { outcome: 'removed', exitCode: 0, containers: { app: 'not-running' }, when: 'succeeded' },
  'multi-container': { outcome: 'killed', exitCode: 2, containers: { app: 'completed', legacy: 'killed' } },
  'native-sidecar': { outcome: 'graceful', exitCode: 0, containers: { app: 'completed', proxy: 'completed' } },
  deployment: { outcome: 'graceful', exitCode: 0, containers: { app: 'completed' } },
};

const isWanted = process.env['PODEXIT_E2E'] === '1';
const image = process.env['PODEXIT_E2E_IMAGE'] ?? 'busybox';
const pull = process.env['PODEXIT_E2E_PULL'] ?? 'IfNotPresent';
const namespace = `podexit-e2e-${randomBytes(4).toString('hex')}`;

if (!isWanted) process.stdout.write('e2e: skipped; PODEXIT_E2E=1 runs it against the cluster of KUBECONFIG\n');

describe.runIf(isWanted)('on a real cluster', () => {
  beforeAll(() => {
    kubectl(['create', 'namespace', namespace]);
    for (const name of Object.keys(table)) kubectl(['apply', '-n', namespace, '-f', '-'], manifest(name));
  }, 60_000);

  afterAll(() => {
    // A namespace is not removed while one of its pods has a finalizer.
    kubectl(
      ['patch', 'pod', 'finalizer', '-n', namespace, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'],
      '',
      true,
    );
    kubectl(['delete', 'namespace', namespace, '--wait=false'], '', true);
  }, 60_000);

  it.each(Object.entries(table))(
    '%s',
    async (name, expected) => {
      await waitFor(name, expected.when ?? 'ready');
      const pod =
        kubectl(['get', 'pods', '-n', namespace, '-l', `scenario=${name}`, '-o', 'name']).split('\n')[0] ?? '';
      const words = [pod, '-n', namespace, '-o', 'json', '--timeout', '120s', ...(expected.words ?? [])];
      const ran = await podexit(words, { KUBECONFIG: process.env['KUBECONFIG'] ?? '' });
      expect(ran.stdout, ran.stderr).toMatch(/^\{/);
      const report = JSON.parse(ran.stdout) as ExitReport;
      const { outcome, findings } = report.verdict;
      expect({ outcome, exitCode: ran.code }).toEqual({ outcome: expected.outcome, exitCode: expected.exitCode });
      const ends = Object.fromEntries(report.containers.map((one) => [one.name, one.outcome]));
      expect(ends).toMatchObject(expected.containers ?? {});
      expect(findings.map(({ code }) => code)).toEqual(expect.arrayContaining(expected.findings ?? []));
      expect(report.phases.filter(({ seconds }) => seconds.min < 0)).toEqual([]);
    },
    240_000,
  );
});

function manifest(name: string): string {
  const file = fileURLToPath(new URL(`./manifests/${name}.yaml`, import.meta.url));
  return readFileSync(file, 'utf8').replaceAll('${IMAGE}', image).replaceAll('${PULL}', pull);
}

async function waitFor(name: string, when: NonNullable<Expected['when']>): Promise<void> {
  const conditions = { ready: 'condition=Ready', succeeded: 'jsonpath={.status.phase}=Succeeded' };
  if (when === 'pending') return;
  const of = ['pod', '-n', namespace, '-l', `scenario=${name}`];
  // The pods of a Deployment are created a moment later.
  while (kubectl(['get', ...of, '-o', 'name']) === '') await new Promise((resolve) => setTimeout(resolve, 500));
  kubectl(['wait', ...of, `--for=${conditions[when]}`, '--timeout=180s']);
  // An application that has just been started may not have set its trap yet.
  await new Promise((resolve) => setTimeout(resolve, 1000));
}

function kubectl(words: readonly string[], input = '', forgiving = false): string {
  try {
    return execFileSync('kubectl', words, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] }).trim();
  } catch (error) {
    if (forgiving) return '';
    throw error;
  }
}
