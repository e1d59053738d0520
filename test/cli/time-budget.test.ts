/** When a run ends: `--timeout` limits all of it, and what is missing by then is reported with exit code 3. */
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

it('the wait for a deletion and its trace share one --timeout', () =>
  servingPatiently('rolling-update', { attachDelayMs: 3500 }, async ({ flags, clock }) => {
    const began = clock.now();
    const ran = await runMain(['-l', 'app=checkout', '--attach', '--timeout=5s', '-o', 'json', ...flags]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ verdict: { outcome: 'stuck' } });
    expect(ran.code).toBe(3);
    // With a time each, the run would take 8.5 s.
    expect(clock.now() - began).toBeLessThan(8400);
  }));

it.each([
  ['the confirmation', 'y'],
  ['the choice of a pod', '1'],
])('the time to answer %s does not count towards --timeout', (_, answer) =>
  servingPatiently('graceful-exit', {}, async ({ server, flags, pause }) => {
    const asks = answer === 'y' ? [server.pod, '-i'] : ['-l', 'app=checkout', '--yes'];
    const ran = await runMain([...asks, '--wait=false', '--timeout=4s', ...flags], {
      answers: [],
      ask: () => pause(4500).then(() => answer),
    });
    expect(ran).toMatchObject({ code: 0 });
    expect(server.deletesAccepted).toBe(1);
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

it('ends soon after all logs have ended if another client forces the deletion, not at the end of the grace period', () =>
  servingPatiently('second/forced-by-other', {}, async ({ server, flags, clock }) => {
    const began = clock.now();
    const ran = await runMain([server.pod, '-o', 'json', ...flags]);
    const took = (clock.now() - began) / 1000;
    expect(JSON.parse(ran.stdout)).toMatchObject({ verdict: { outcome: 'forced', exitCode: 2 } });
    // In the recording, its log ends 8.35 s after the DELETE, and its grace period has 20 s.
    expect(took).toBeGreaterThan(8.35);
    expect(took).toBeLessThan(20);
  }));
