/** When a run gives up: after --timeout, or by default 120 s after the grace must have run out. */
import type { Trace } from '../model/trace.ts';
import type { Clock } from './clock.ts';

export interface TimeLimit {
  /** Counts from now, with the grace as far as it is known (s). Only the default asks for one. */
  byGrace(seconds: number): void;
  /** A deletion that has begun knows its grace better than the pod's spec. */
  follow(trace: Trace): void;
  cancel(): void;
}

interface Limited {
  readonly clock: Clock;
  /** ms from the start of the run; null: never; `by-grace`: effective grace + 120 s. */
  readonly timeoutMs: number | null | 'by-grace';
  /** Client ms at which an explicit limit is reached, where it began before the run. */
  readonly until?: number | undefined;
}

const beyondGrace = 120_000;

/** `over` is called once. An explicit limit counts from here on, also while nothing answers yet. */
export function createTimeLimit({ clock, timeoutMs, until }: Limited, over: () => void): TimeLimit {
  let cancel = (): void => {};
  let followed = false;
  let cancelled = false;
  const arm = (ms: number): void => {
    cancel();
    if (!cancelled) cancel = clock.setTimeout(over, ms);
  };
  if (typeof timeoutMs === 'number') arm(until === undefined ? timeoutMs : Math.max(0, until - clock.now()));
  const byGrace = (seconds: number): void => {
    if (timeoutMs === 'by-grace') arm(seconds * 1000 + beyondGrace);
  };
  return {
    byGrace,
    follow: ({ deletion }) => {
      const seconds = deletion?.first.value.metadata.deletionGracePeriodSeconds;
      if (followed || seconds === undefined) return;
      followed = true;
      byGrace(seconds);
    },
    cancel: () => {
      cancelled = true;
      cancel();
    },
  };
}
