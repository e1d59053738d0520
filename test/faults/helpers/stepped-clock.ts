import type { Clock } from '../../../src/output/ports.ts';

export interface SteppedClock extends Clock {
  /** Runs the clock until the promise settles, one timer at a time, whenever both sides of the sockets are idle. */
  runUntil(done: Promise<unknown>): Promise<void>;
}

/** After this many event loop turns in which nothing reads the clock, the loopback interface is idle. */
const idleTurns = 40;
/** Real ms: no operation of a test takes this long. */
const hangs = 600_000;

/**
 * Time for one run and its server: it stands still while anything happens (code that handles bytes reads the clock) and
 * jumps to the next timer when nothing does. Many of these clocks run side by side in one process.
 */
export function createSteppedClock(start: number): SteppedClock {
  const timers = new Set<{ due: number; run: () => void }>();
  let now = start;
  let looks = 0;

  function leap(): void {
    const due = Math.min(...[...timers].map((timer) => timer.due));
    if (!Number.isFinite(due)) return;
    now = Math.max(now, due);
    for (const timer of [...timers]) if (timer.due <= due && timers.delete(timer)) timer.run();
  }

  return {
    now: () => {
      looks += 1;
      return Math.floor(now);
    },
    setTimeout: (run, ms) => {
      looks += 1;
      const timer = { due: now + Math.max(0, ms), run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async runUntil(done) {
      let isDone = false;
      const finish = (): void => void (isDone = true);
      void done.then(finish, finish);
      const began = performance.now();
      while (!isDone) {
        await idle(() => looks);
        if (!isDone) leap();
        if (performance.now() - began > hangs) throw new Error(`still running at +${(now - start) / 1000} s`);
      }
    },
  };
}

async function idle(looks: () => number): Promise<void> {
  let seen = looks();
  for (let turns = 0; turns < idleTurns; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (looks() === seen) continue;
    seen = looks();
    turns = -1;
  }
}
