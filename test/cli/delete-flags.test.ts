/** The flags of kubectl delete mean the same as in kubectl. */
import { describe, expect, it } from 'vitest';
import { json, pod, serve } from '../kube/helpers/api.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import { runMain, pressOnce } from './helpers/in-process.ts';

const budget = (allowed: number) =>
  ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'checkout', namespace: 'graceful-exit', uid: 'b-1' },
    spec: { minAvailable: 2, selector: { matchLabels: { app: 'checkout' } } },
    status: { disruptionsAllowed: allowed, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 },
  }) as never;

it('--dry-run=server sends a dry-run DELETE, and deletes nothing', () =>
  servingPatiently('graceful-exit', {}, async ({ flags, server }) => {
    const ran = await runMain([server.pod, '--dry-run=server', '--now', ...flags]);
    expect(ran.stdout).toMatch(/deleted from graceful-exit namespace \(server dry run\)\n$/);
    const sent = server.requests.find((one) => one.method === 'DELETE');
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ dryRun: ['All'], gracePeriodSeconds: 1 });
    expect(server.deletesAccepted).toBe(0);
  }));

describe.concurrent('--evict', () => {
  it('names the PodDisruptionBudget that refused, and its allowed disruptions', () =>
    servingPatiently('graceful-exit', {}, async ({ flags, server }) => {
      server.write('poddisruptionbudgets', 'ADDED', budget(0));
      const ran = await runMain([server.pod, '--evict', '-o', 'json', ...flags]);
      expect(ran.code).toBe(1);
      expect(JSON.parse(ran.stdout)).toMatchObject({ kind: 'Error', code: 'evict.disruption-budget' });
      expect(ran.stderr).toMatch(
        /PodDisruptionBudget "checkout" allows 0 disruptions now \(2 of 2 pods healthy, 2 required\), and with these settings it never will\nAdd a replica/,
      );
      expect(server.deletesAccepted).toBe(0);
    }));

  it('does not suggest a plain deletion, which ignores budgets, if the budget does not allow it in time', () =>
    servingPatiently('graceful-exit', {}, async ({ flags, server }) => {
      server.write('poddisruptionbudgets', 'ADDED', budget(0));
      const ran = await runMain([server.pod, '--evict', '--retry-evict', '--timeout=6s', ...flags]);
      expect(ran.code).toBe(3);
      expect(ran.stdout).toMatch(/retry with\n +kubectl podexit \S+ -n \S+ .*--evict --retry-evict/);
      expect(ran.stdout).not.toContain('let podexit delete it');
      expect(server.deletesAccepted).toBe(0);
    }));

  it('--retry-evict waits for the budget, and the report counts from the accepted request and says how long it was refused', () =>
    servingPatiently('graceful-exit', {}, async ({ flags, server, pause }) => {
      server.write('poddisruptionbudgets', 'ADDED', budget(0));
      void pause(4000).then(() => server.write('poddisruptionbudgets', 'MODIFIED', budget(1)));
      const ran = await runMain([server.pod, '--evict', '--retry-evict', '-o', 'json', ...flags]);
      expect(ran.stderr).toMatch(/allows 0 disruptions now.*; waiting/);
      const report = JSON.parse(ran.stdout) as { mode: string; marks: { name: string }[]; trigger: { note?: string } };
      expect(report.mode).toBe('evict');
      expect(report.marks.filter((mark) => mark.name === 'requested')).toHaveLength(1);
      expect(report.trigger.note).toMatch(/^first refused for \d+\.\ds by a PodDisruptionBudget$/);
      expect(ran.code).toBe(0);
      expect(server.deletesAccepted).toBe(1);
    }));
});

it.concurrent('an interrupt while an eviction waits for its budget prints that nothing was deleted', () =>
  servingPatiently('graceful-exit', {}, async ({ flags, server }) => {
    server.write('poddisruptionbudgets', 'ADDED', budget(0));
    let stderr = '';
    const ran = await runMain([server.pod, '--evict', '--retry-evict', '-o', 'json', ...flags], {
      onSignal: pressOnce(() => stderr.endsWith('; waiting\n')),
      onStderr: (text) => (stderr += text),
    });
    expect(ran.code).toBe(130);
    expect(ran.stderr).toMatch(/; waiting\n[\s\S]*SIGINT: pod "\S+" was not deleted by this command/);
    expect(server.deletesAccepted).toBe(0);
  }),
);

it('-i asks about the existing pod, and deletes no other pod with its name', async () => {
  let uid = '1';
  const api = await serve(({ method, body }, response) => {
    const now = pod('web', '1', { uid });
    if (method === 'GET') return json(response, 200, now);
    const asked = JSON.parse(body) as { preconditions: { uid: string } };
    json(response, asked.preconditions.uid === uid ? 200 : 409, now);
  });
  const words = ['web', '-i', '--wait=false', '-n', 'shop', '-s', api.url];
  const replaced = await runMain(words, { answers: ['y'], ask: () => ((uid = '2'), Promise.resolve('y')) });
  expect(replaced.code).toBe(1);
  expect(replaced.stderr).toContain('was replaced by another one');
  expect(api.asked.every(({ method }) => method === 'GET')).toBe(true);
  expect(await runMain(words, { answers: ['y'] })).toMatchObject({ code: 0 });
});
