/** What is missing at `--timeout` is reported with exit code 3, so no pipeline continues after half a rollout. */
import { expect, it } from 'vitest';
import { loadRecording } from '../demo/helpers/load.ts';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

it.concurrent('a pod without a replacement at --timeout exits 3', () =>
  serving('exit-143', {}, async ({ server, flags }) => {
    const ran = await runMain([server.pod, '--wait-replacement', '--timeout=5s', '-o', 'json', ...flags]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ verdict: { outcome: 'graceful', exitCode: 0 } });
    expect(ran.stderr).toContain(`pod "${server.pod}" is gone, but no replacement of it was seen by --timeout\n`);
    expect(ran.code).toBe(3);
  }),
);

it.concurrent('a replacement that is ready in time exits 0', () =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    const ran = await runMain([server.pod, '--wait-replacement', '--timeout=20s', '-o', 'json', ...flags]);
    expect(ran.stderr).not.toContain('is gone, but');
    expect(ran.code).toBe(0);
  }),
);

it.concurrent('a rollout that is stuck after its first pod exits 3', () => {
  const scenario = loadRecording('rolling-update');
  // Without this state the Deployment never has all replicas updated, so its rollout does not complete.
  type Printed = {
    event?: { object?: { kind?: string; status?: { observedGeneration?: number; replicas?: number } } };
  };
  const isDone = ({ event }: Printed): boolean =>
    event?.object?.kind === 'Deployment' &&
    event.object.status?.observedGeneration === 2 &&
    event.object.status.replicas === 1;
  const stuck = { ...scenario, rows: scenario.rows.filter((row) => !isDone(row as Printed)) };
  return serving('rolling-update', { attachDelayMs: 1500, scenario: stuck }, async ({ flags }) => {
    const ran = await runMain(['deploy/checkout', '--all-terminating', '--timeout=9s', '-o', 'json', ...flags]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ summary: { pods: 1, outcomes: { graceful: 1 }, exitCode: 3 } });
    expect(ran.stderr).toContain('podexit: gave up at --timeout: deployment/checkout had not rolled out\n');
    expect(ran.code).toBe(3);
  });
});
