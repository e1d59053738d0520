/** What `--timeout` leaves: no timer, and exit code 3 for what is missing by then. More is in sessions/time-budget.yaml. */
import { expect, it } from 'vitest';
import type { Clock } from '../../src/output/ports.ts';
import { systemClock } from '../../src/run/clock.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

/** The system clock, and the durations (ms) of its pending timers. */
function countingClock() {
  const pending = new Map<object, number>();
  const clock: Clock = {
    now: systemClock.now,
    setTimeout: (callback, ms) => {
      const key = {};
      pending.set(key, ms);
      const cancel = systemClock.setTimeout(() => {
        pending.delete(key);
        callback();
      }, ms);
      return () => {
        pending.delete(key);
        cancel();
      };
    },
  };
  return { clock, pending: () => [...pending.values()] };
}

it.each([['--wait=false'], ['--dry-run=server']])(
  '%s leaves no timer of --timeout if the server refuses the DELETE',
  (word) =>
    serving('exit-143', { faults: [{ kind: 'status', verb: 'delete', code: 403 }] }, async ({ server, flags }) => {
      const { clock, pending } = countingClock();
      const ran = await runMain([server.pod, word, '--timeout=10m', ...flags], { clock });
      expect(ran.code).toBe(1);
      expect(pending().filter((ms) => ms > 300_000)).toEqual([]);
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
  return servingPatiently('rolling-update', { attachDelayMs: 1500, scenario: stuck }, async ({ flags }) => {
    const ran = await runMain(['deploy/checkout', '--all-terminating', '--timeout=9s', '-o', 'json', ...flags]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ summary: { pods: 1, outcomes: { graceful: 1 }, exitCode: 3 } });
    expect(ran.stderr).toContain('podexit: gave up at --timeout: deployment/checkout had not rolled out\n');
    expect(ran.code).toBe(3);
  });
});
