/** No silent waiting: after a while the user is shown what the run waits for, and again at growing steps. */
import type { Clock } from './clock.ts';

export interface Waiting {
  /** Why it has not come yet, in words: the newest reason is shown. */
  because(reason: string): void;
  /** It has come, or is no longer waited for. */
  over(): void;
}

/** ms until the first message; each further one comes when the waiting has become twice as long. */
const firstMessageMs = 3000;

/** `what` is waited for from now on; `reason` is shown until a better one is known. */
export function sayWaiting(
  { what, reason }: { what: string; reason: string },
  clock: Clock,
  say: (message: string) => void,
): Waiting {
  const since = clock.now();
  let why = reason;
  let isOver = false;
  let cancel = (): void => {};
  const arm = (after: number): void => {
    cancel = clock.setTimeout(
      () => {
        if (isOver) return;
        say(`waiting for ${what} for ${Math.round((clock.now() - since) / 1000)} s: ${why}`);
        arm(after * 2);
      },
      Math.max(0, since + after - clock.now()),
    );
  };
  arm(firstMessageMs);
  return {
    because: (newer) => void (why = newer),
    over: () => {
      isOver = true;
      cancel();
    },
  };
}
