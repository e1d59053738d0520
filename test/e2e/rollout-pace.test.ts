/**
 * Rollouts of 25 pods on the cluster of KUBECONFIG, alternately with and without podexit, which must not slow them by
 * more than 5 %. Prints the seconds from the restart until the last old pod is gone.
 *
 *     PODEXIT_E2E_PACE=1 npx vitest run test/e2e/rollout-pace.test.ts
 *
 * Run it alone on a machine without other load. Needs kubectl and the built command. PODEXIT_E2E_IMAGE (busybox) must
 * have a shell. PODEXIT_E2E_PULL is its pull policy.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podexit } from '../helpers/built.ts';
import { environment, image, kubectl, newNamespace, pause, pull } from '../helpers/cluster.ts';

const namespace = newNamespace();
const replicas = 25;
const atMost = 1.05;
/** The order evens out the advantage of a warm machine. w: with podexit, n: without. */
const order = ['n', 'w', 'w', 'n', 'n', 'w', 'w', 'n'] as const;

describe.runIf(process.env['PODEXIT_E2E_PACE'] === '1')('on a real cluster', () => {
  beforeAll(() => {
    kubectl(['create', 'namespace', namespace]);
    kubectl(['apply', '-n', namespace, '-f', '-'], JSON.stringify(deployment()));
    kubectl(['rollout', 'status', 'deployment/paced', '-n', namespace, '--timeout=180s']);
  }, 240_000);

  afterAll(() => void kubectl(['delete', 'namespace', namespace, '--wait=false']), 60_000);

  it('a rollout of 25 pods is not slower with podexit', async () => {
    const seconds = { w: [] as number[], n: [] as number[] };
    for (const turn of order) {
      await pause(4000);
      const watching = turn === 'w' ? watch() : undefined;
      if (watching) await pause(3000);
      seconds[turn].push(await restarted());
      const ran = await watching;
      if (ran) expect(ran.code, ran.stderr).toBe(0);
    }
    const ratio = median(seconds.w) / median(seconds.n);
    const line = ({ w, n }: typeof seconds) => `watched ${w.join(' ')} s, not watched ${n.join(' ')} s`;
    process.stdout.write(`rollout of ${replicas} pods: ${line(seconds)}, ratio of the medians ${ratio.toFixed(2)}\n`);
    expect(ratio).toBeLessThanOrEqual(atMost);
  }, 600_000);
});

const watch = () =>
  podexit(['rollout', 'deployment/paced', '-n', namespace, '-o', 'json', '--timeout', '180s'], environment);

/** Restarts the Deployment. Returns the seconds until the last old pod is gone, to a tenth. */
async function restarted(): Promise<number> {
  const old = new Set(uids());
  const began = performance.now();
  kubectl(['rollout', 'restart', 'deployment/paced', '-n', namespace]);
  while (uids().some((uid) => old.has(uid))) await pause(500);
  return Math.round((performance.now() - began) / 100) / 10;
}

const uids = (): string[] =>
  kubectl(['get', 'pods', '-n', namespace, '-o', 'jsonpath={.items[*].metadata.uid}']).split(' ').filter(Boolean);

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[sorted.length / 2 - 1] ?? NaN) + (sorted[sorted.length / 2] ?? NaN)) / 2;
}

const deployment = () => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'paced' },
  spec: {
    replicas,
    selector: { matchLabels: { scenario: 'paced' } },
    template: {
      metadata: { labels: { scenario: 'paced' } },
      spec: {
        terminationGracePeriodSeconds: 20,
        containers: [
          {
            name: 'app',
            image,
            imagePullPolicy: pull,
            command: ['sh', '-c', "trap 'sleep 2; exit 0' TERM; while :; do sleep 0.2; done"],
          },
        ],
      },
    },
  },
});
