/** `--timeout` limits everything that a command does, and leaves no timer behind. */
import { expect, it } from 'vitest';
import type { Clock } from '../../src/output/ports.ts';
import { systemClock } from '../../src/run/clock.ts';
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
  serving('rolling-update', { attachDelayMs: 3500 }, async ({ flags }) => {
    const began = performance.now();
    const ran = await runMain(['-l', 'app=checkout', '--attach', '--timeout=5s', '-o', 'json', ...flags]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ verdict: { outcome: 'stuck' } });
    expect(ran.code).toBe(3);
    // With a time each, the run would take 8.5 s.
    expect(performance.now() - began).toBeLessThan(8400);
  }));

it.each([
  ['the confirmation', 'y'],
  ['the choice of a pod', '1'],
])('the time to answer %s does not count towards --timeout', (_, answer) =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    const asks = answer === 'y' ? [server.pod, '-i'] : ['-l', 'app=checkout', '--yes'];
    const ran = await runMain([...asks, '--wait=false', '--timeout=4s', ...flags], {
      answers: [],
      ask: () => new Promise((resolve) => setTimeout(() => resolve(answer), 4500)),
    });
    expect(ran).toMatchObject({ code: 0 });
    expect(server.deletesAccepted).toBe(1);
  }),
);
