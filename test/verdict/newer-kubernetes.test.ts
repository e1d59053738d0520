/**
 * What newer versions of Kubernetes and runtimes changed about exits, each with its version and source. Elsewhere: exec
 * readiness probes that are cancelled (test/infer/cases/signs.yaml), RestartAllContainers (test/advice/why-events.test.ts),
 * and what runtimes report (test/infer/cases/stop-signals.yaml).
 */
import { expect, it } from 'vitest';
import { refusedDelete } from '../../src/kube/refused.ts';

it.each([
  ['since 1.37, by its cause', '', [{ reason: 'DisruptionBudgetNegativeAllowedDisruptions', message: '' }]],
  ['before 1.37, by its text', 'pdb disruptions allowed is negative', []],
  ['with too many disrupted pods', 'DisruptedPods map too big - too many evictions not confirmed', []],
])('blames the controller of a budget whose status is invalid, %s (kubernetes#138003)', (_, message, causes) => {
  const cluster = { server: 'https://x', contextName: 'x', clean: (text: string) => text };
  const refusal = { status: 403, reason: 'Forbidden', message, causes, isPage: false };
  const error = refusedDelete(cluster, { namespace: 'shop', name: 'web-0', evict: true }, refusal);
  expect(error.code).toBe('evict.disruption-budget');
  expect(error.hint).toContain('kube-controller-manager');
});
