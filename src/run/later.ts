/**
 * What no DELETE waits for and no mark needs at once, one after the other: a DELETE is followed by more news within some
 * 50 ms than in the seconds after it, and each answer to a question of ours would make that news late.
 */
import type { Clock } from './clock.ts';

export interface Later {
  /** Does the work in its turn. */
  add(work: () => void): void;
  /** The DELETE has been sent. */
  start(): void;
  /** Does all that is left, and from now on each work when it is added: there is no burst, or no time any more. */
  hurry(): void;
}

/** ms from the DELETE: longer than the API server and the controllers take to tell what it sets off. */
const burst = 200;
/** ms between two works. */
const pause = 50;

/** Nothing is done once `signal` is aborted. */
export function createLater(clock: Clock, signal: AbortSignal): Later {
  const waiting: (() => void)[] = [];
  let turn: 'not-begun' | 'one-by-one' | 'at-once' = 'not-begun';
  let cancelTimer: (() => void) | undefined;
  const next = (ms: number): void => {
    cancelTimer = clock.setTimeout(() => {
      cancelTimer = undefined;
      waiting.shift()?.();
      if (!cancelTimer && waiting.length > 0) next(pause);
    }, ms);
  };
  const stop = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
  };
  signal.addEventListener('abort', stop, { once: true });
  return {
    add(work) {
      if (signal.aborted) return;
      if (turn === 'at-once') return work();
      waiting.push(work);
      if (turn === 'one-by-one' && !cancelTimer) next(pause);
    },
    start() {
      if (turn !== 'not-begun' || signal.aborted) return;
      turn = 'one-by-one';
      next(burst);
    },
    hurry() {
      if (turn === 'at-once' || signal.aborted) return;
      turn = 'at-once';
      stop();
      waiting.splice(0).forEach((work) => work());
    },
  };
}
