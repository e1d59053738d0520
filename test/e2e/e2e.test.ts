/**
 * The built command against the cluster of KUBECONFIG, in its own namespace, which is removed at the end: `npm run
 * test:e2e` with PODEXIT_E2E=1. Needs kubectl. PODEXIT_E2E_IMAGE (busybox) must have a shell; PODEXIT_E2E_PULL is its
 * pull policy (IfNotPresent).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { podexit } from '../helpers/built.ts';
import { environment, isWanted, kubectl, newNamespace } from '../helpers/cluster.ts';
import { conditions, manifest, podOf, table } from './scenarios.ts';

const namespace = newNamespace();

if (!isWanted) process.stdout.write('e2e: skipped; PODEXIT_E2E=1 runs it against the cluster of KUBECONFIG\n');

describe.runIf(isWanted)('on a real cluster', () => {
  beforeAll(() => {
    kubectl(['create', 'namespace', namespace]);
    for (const name of Object.keys(table)) kubectl(['apply', '-n', namespace, '-f', '-'], manifest(name));
  }, 60_000);

  afterAll(() => {
    // A namespace is not removed while one of its pods has a finalizer.
    kubectl(['patch', 'pod', 'finalizer', '-n', namespace, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    kubectl(['delete', 'namespace', namespace, '--wait=false']);
  }, 60_000);

  it.each(Object.entries(table))(
    '%s',
    async (name, expected) => {
      const pod = await podOf(name, namespace, conditions[expected.when ?? 'ready']);
      const words = [pod, '-n', namespace, '-o', 'json', '--timeout', '120s', ...(expected.words ?? [])];
      const ran = await podexit(words, environment);
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
