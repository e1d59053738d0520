/**
 * Requests during a deletion and a rollout on whatever cluster KUBECONFIG names (see e2e.test.ts): a Deployment without a preStop
 * sleep loses requests, one with it does not.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { podexit } from '../helpers/built.ts';

const isWanted = process.env['PODEXIT_E2E'] === '1';
const namespace = `podexit-e2e-${randomBytes(4).toString('hex')}`;
const folder = fileURLToPath(new URL('./requests/', import.meta.url));
const names = ['without-prestop', 'with-prestop'];

it('has a Deployment and a Service of each name', () => {
  expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.yaml`).sort());
  for (const name of names) {
    const objects = loadAll(manifest(name)) as { kind: string; metadata: { name: string } }[];
    expect(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([
      `Deployment/${name}`,
      `Service/${name}`,
    ]);
  }
});

describe.runIf(isWanted)('on a real cluster', () => {
  beforeAll(() => {
    kubectl(['create', 'namespace', namespace]);
    for (const name of names) kubectl(['apply', '-n', namespace, '-f', '-'], manifest(name));
    for (const name of names) kubectl(['rollout', 'status', `deployment/${name}`, '-n', namespace, '--timeout=180s']);
  }, 240_000);

  afterAll(() => void kubectl(['delete', 'namespace', namespace, '--wait=false']), 60_000);

  const probesOf = (name: string): string[] => [
    ...['--probe', `service/${name}:80/cgi-bin/slow`, '--probe', 'pod:8080/cgi-bin/slow'],
    ...['--probe-rate', '20', '--probe-timeout', '3s'],
  ];
  const run = (words: readonly string[]) =>
    podexit([...words, '-n', namespace, '-o', 'json', '--timeout', '180s'], {
      KUBECONFIG: process.env['KUBECONFIG'] ?? '',
    });

  it.each([
    ['without-prestop', false],
    ['with-prestop', true],
  ])(
    'the deletion of a pod of %s: nothing lost is %s',
    async (name, passed) => {
      const pods = kubectl(['get', 'pods', '-n', namespace, '-l', `scenario=${name}`, '-o', 'name']).split('\n');
      const ran = await run([pods[0] ?? '', ...probesOf(name)]);
      expect(ran.stdout, ran.stderr).toMatch(/^\{/);
      const { gates } = (JSON.parse(ran.stdout) as ExitReport).verdict;
      expect(gates.find((gate) => gate.name === 'max-lost')?.passed, ran.stdout).toBe(passed);
    },
    240_000,
  );

  it.each([
    ['without-prestop', false],
    ['with-prestop', true],
  ])(
    'a rollout of %s: nothing lost is %s',
    async (name, passed) => {
      const traced = run([`deployment/${name}`, '--all-terminating', ...probesOf(name)]);
      await new Promise((resolve) => setTimeout(resolve, 3000));
      kubectl(['rollout', 'restart', `deployment/${name}`, '-n', namespace]);
      const ran = await traced;
      expect(ran.code === 0, ran.stdout + ran.stderr).toBe(passed);
    },
    300_000,
  );
});

function manifest(name: string): string {
  return readFileSync(`${folder}${name}.yaml`, 'utf8')
    .replaceAll('${IMAGE}', process.env['PODEXIT_E2E_IMAGE'] ?? 'busybox')
    .replaceAll('${PULL}', process.env['PODEXIT_E2E_PULL'] ?? 'IfNotPresent');
}

const kubectl = (words: readonly string[], input = ''): string =>
  execFileSync('kubectl', words, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] }).trim();
