import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../src/output/ports.ts';

/** What a test runs in this process has this clock, if there is one. */
export const clockOfTest = new AsyncLocalStorage<Clock>();

/**
 * Runs `speed` times as fast as the wall clock, but waits for a late machine: a turn of the event loop counts only for a
 * few ms, and at most until the next timer. So a stall takes no time, and what has arrived is read before a timer runs.
 */
export function patientClock(speed: number, start = Date.now()): Clock {
  const turnMs = Math.max(2, 20 / speed);
  const timers = new Set<{ due: number; run: () => void }>();
  let at = start;
  let ticked = performance.now();
  let ticker: NodeJS.Timeout | undefined;

  const read = (): number => {
    const passed = performance.now() - ticked;
    return Math.min(at + Math.min(passed, ticker ? turnMs : passed) * speed, ...[...timers].map(({ due }) => due));
  };
  const tick = (): void => {
    at = read();
    ticked = performance.now();
    for (const timer of [...timers]) if (timer.due <= at && timers.delete(timer)) timer.run();
    if (timers.size > 0) return;
    clearInterval(ticker);
    ticker = undefined;
  };

  return {
    now: () => Math.floor(read()),
    setTimeout(run, ms) {
      const timer = { due: read() + Math.max(0, ms), run };
      if (!ticker) {
        at = read();
        ticked = performance.now();
        // What has arrived is read before the immediate.
        ticker = setInterval(() => setImmediate(tick), 1);
      }
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
}
