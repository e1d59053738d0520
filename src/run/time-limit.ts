/** When a run gives up: after --timeout; by default after 60 s without its pod, then 120 s after the grace must have run out. */
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

/** s; how much longer than the grace a deletion may take. */
export const beyondGraceSeconds = 120;
/** s; how long the default waits for the pod itself. */
export const unreadSeconds = 60;
/** s; what Kubernetes gives a pod that asks for none. */
export const usualGraceSeconds = 30;

/** `over` is called once. It counts from here on, also while nothing answers yet. */
export function createTimeLimit({ clock, timeoutMs, until }: Limited, over: () => void): TimeLimit {
  let cancel = (): void => {};
  let followed = false;
  let cancelled = false;
  const arm = (ms: number): void => {
    cancel();
    if (!cancelled) cancel = clock.setTimeout(over, ms);
  };
  if (typeof timeoutMs === 'number') arm(until === undefined ? timeoutMs : Math.max(0, until - clock.now()));
  let isKnown = false;
  if (timeoutMs === 'by-grace') arm(unreadSeconds * 1000);
  const byGrace = (seconds: number): void => {
    isKnown = true;
    if (timeoutMs === 'by-grace') arm((seconds + beyondGraceSeconds) * 1000);
  };
  return {
    byGrace,
    follow: ({ deletion, pod }) => {
      if (pod && !isKnown) byGrace(pod.value.spec.terminationGracePeriodSeconds ?? usualGraceSeconds);
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
