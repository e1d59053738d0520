/**
 * Whole workloads on the cluster of KUBECONFIG: rollouts of a Deployment and of a StatefulSet, a scale-down to zero,
 * and a drain that a PodDisruptionBudget delays. Every pod is reported once, with the right trigger, and no evidence is
 * lost.
 *
 *     PODEXIT_E2E=1 npx vitest run test/e2e/rollouts.test.ts
 *
 * Needs kubectl and the built command. PODEXIT_E2E_IMAGE (busybox) must have a shell. PODEXIT_E2E_PULL is its pull
 * policy. The test of the drain cordons the node of a pod, and uncordons it at the end.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExitReport, TriggerKind } from '../../src/model/report.ts';
import { podexit } from '../helpers/built.ts';
import { environment, isWanted, kubectl, newNamespace, readManifest } from '../helpers/cluster.ts';

const namespace = newNamespace();
const names = ['deployment/restarted', 'statefulset/ordered', 'deployment/emptied', 'deployment/guarded'];

interface Story {
  readonly target: string;
  /** Arguments of `kubectl podexit rollout TARGET`; `-n NAMESPACE` is added. */
  readonly words: readonly string[];
  readonly pods: number;
  readonly trigger: TriggerKind;
}

describe.runIf(isWanted)('on a real cluster', () => {
  beforeAll(() => {
    kubectl(['create', 'namespace', namespace]);
    kubectl(['apply', '-n', namespace, '-f', '-'], manifest());
    for (const name of names) kubectl(['rollout', 'status', name, '-n', namespace, '--timeout=180s']);
  }, 300_000);

  afterAll(() => void kubectl(['delete', 'namespace', namespace, '--wait=false']), 60_000);

  const stories: Story[] = [
    { target: 'deployment/restarted', words: ['--restart'], pods: 4, trigger: 'rollout' },
    { target: 'statefulset/ordered', words: ['--restart'], pods: 3, trigger: 'rollout' },
    {
      target: 'deployment/emptied',
      words: ['--', 'kubectl', 'scale', 'deployment/emptied', '-n', namespace, '--replicas=0'],
      pods: 5,
      trigger: 'scale-down',
    },
  ];

  it.each(stories)(
    '$target: every pod is reported once, and the trigger is $trigger',
    async ({ target, words, pods, trigger }) => {
      const report = await rolloutOf(['rollout', target, '-n', namespace, ...before(words)]);
      expect(new Set(report.exits.map(({ pod }) => pod.uid)).size).toBe(pods);
      expect(report.exits).toHaveLength(pods);
      expectGraceful(report.exits);
      expect(new Set(report.exits.map((exit) => exit.trigger.kind))).toEqual(new Set([trigger]));
    },
    240_000,
  );

  it('a drain waits for the pod that a PodDisruptionBudget protects, and the report names the budget', async () => {
    const selector = 'scenario=guarded';
    const node = kubectl(['get', 'pods', '-n', namespace, '-l', selector, '-o', 'jsonpath={.items[0].spec.nodeName}']);
    const drain = ['kubectl', 'drain', node, '--pod-selector', selector, '--force', '--timeout=120s'];
    const back = setTimeout(() => kubectl(['uncordon', node]), 12_000);
    try {
      const report = await rolloutOf([`node/${node}`, ...before(['--', ...drain])]);
      const own = report.exits.filter(({ pod }) => pod.namespace === namespace);
      expect(own).toHaveLength(2);
      expectGraceful(own);
      expect(new Set(own.map((exit) => exit.trigger.kind))).toEqual(new Set(['eviction-api']));
      expect(report.stderr).toContain('guarded');
    } finally {
      clearTimeout(back);
      kubectl(['uncordon', node]);
    }
  }, 240_000);
});

/** The flags of podexit come before the command. */
const before = (words: readonly string[]): string[] => ['-o', 'json', '--timeout', '180s', ...words];

async function rolloutOf(words: readonly string[]): Promise<{ exits: ExitReport[]; stderr: string }> {
  const ran = await podexit(words, environment);
  expect(ran.stdout, ran.stderr).toContain('"kind": "RolloutReport"');
  expect(ran.code, ran.stderr).toBe(0);
  const { exits } = JSON.parse(ran.stdout.slice(ran.stdout.indexOf('{'))) as { exits: ExitReport[] };
  return { exits, stderr: ran.stderr };
}

function expectGraceful(exits: readonly ExitReport[]): void {
  expect(exits.map(({ verdict }) => verdict.outcome)).toEqual(exits.map(() => 'graceful'));
  expect(exits.flatMap(({ verdict }) => verdict.findings.filter(({ code }) => code === 'evidence-lost'))).toEqual([]);
}

const manifest = (): string => readManifest(new URL('./rollouts/workloads.yaml', import.meta.url));
