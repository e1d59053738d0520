/** What --timeout gives to a command, from its start: one budget, whatever the command does with it. */
import type { PodexitError } from '../errors.ts';
import type { Clock } from './clock.ts';

export interface Deadline {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** Client ms at which it is; undefined: never. */
  readonly until: number | undefined;
  /** Waits for a person, whose time does not count. */
  pauseWhile<T>(work: () => Promise<T>): Promise<T>;
  cancel(): void;
}

/** `timeoutMs` null: never. */
export function createDeadline(clock: Clock, timeoutMs: number | null): Deadline {
  const over = new AbortController();
  let until = timeoutMs === null ? undefined : clock.now() + timeoutMs;
  let cancelled = false;
  let cancel = (): void => {};
  const arm = (): void => {
    if (until !== undefined && !cancelled) cancel = clock.setTimeout(() => over.abort(), until - clock.now());
  };
  arm();
  return {
    signal: over.signal,
    get until() {
      return until;
    },
    async pauseWhile(work) {
      cancel();
      const since = clock.now();
      try {
        return await work();
      } finally {
        if (until !== undefined) until += clock.now() - since;
        arm();
      }
    },
    cancel: () => {
      cancelled = true;
      cancel();
    },
  };
}

/** Throws `late()` where the time is over first; requests that go on end with their connection. */
export async function unlessLate<T>({ signal }: Deadline, work: Promise<T>, late: () => PodexitError): Promise<T> {
  let unsubscribe = (): void => {};
  const over = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(late());
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    unsubscribe = () => signal.removeEventListener('abort', giveUp);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    unsubscribe();
  }
}
