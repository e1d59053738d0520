/** When a command gives up: at --timeout, by default after 60 s without its pod, then 120 s after its grace. */
import { asObject, type JsonObject } from '../model/observe/read.ts';
import type { Trace } from '../model/trace.ts';
import type { Clock } from './clock.ts';
import type { PodexitError } from '../errors.ts';

export interface TimeLimit {
  /** Restarts the default limit from now, with the grace period known so far (s). */
  byGrace(seconds: number): void;
  /** Uses the grace period of the deletion, which is more exact than that of the pod's spec. */
  follow(trace: Trace): void;
  cancel(): void;
}

interface TimeLimitOptions {
  readonly clock: Clock;
  /** ms from the start of the run; null: never; `by-grace`: effective grace + 120 s. */
  readonly timeoutMs: number | null | 'by-grace';
  /** Client ms at which an explicit limit ends, if it began before the run. */
  readonly until?: number | undefined;
}

/** How long after its grace period a deletion may take. */
const beyondGraceSeconds = 120;
/** How long the default limit waits for the pod to be read. */
export const defaultReadSeconds = 60;
/** Kubernetes' default grace period. */
const defaultGraceSeconds = 30;

/** Calls `over` once. The limit starts now, even if no answer has arrived yet. */
export function createTimeLimit({ clock, timeoutMs, until }: TimeLimitOptions, over: () => void): TimeLimit {
  let cancel = (): void => {};
  let isDeletionGraceKnown = false;
  let cancelled = false;
  const arm = (ms: number): void => {
    cancel();
    if (!cancelled) cancel = clock.setTimeout(over, ms);
  };
  if (typeof timeoutMs === 'number') arm(until === undefined ? timeoutMs : Math.max(0, until - clock.now()));
  let isGraceKnown = false;
  if (timeoutMs === 'by-grace') arm(defaultReadSeconds * 1000);
  const byGrace = (seconds: number): void => {
    isGraceKnown = true;
    if (timeoutMs === 'by-grace') arm((seconds + beyondGraceSeconds) * 1000);
  };
  return {
    byGrace,
    follow: ({ deletion, pod }) => {
      if (pod && !isGraceKnown) byGrace(pod.value.spec.terminationGracePeriodSeconds ?? defaultGraceSeconds);
      const seconds = deletion?.first.value.metadata.deletionGracePeriodSeconds;
      if (isDeletionGraceKnown || seconds === undefined) return;
      isDeletionGraceKnown = true;
      byGrace(seconds);
    },
    cancel: () => {
      cancelled = true;
      cancel();
    },
  };
}

export interface WaitingLimit {
  /** Aborted when the limit is reached. */
  readonly signal: AbortSignal;
  /** For messages: how long no pod has terminated, and what the limit consists of. */
  text(): string;
  /** The pods have been listed. */
  listed(): void;
  /** A pod of the workload was seen: the largest grace period counts. */
  podSeen(pod: JsonObject): void;
  /** Stops the limit while a command runs, until `restart`. */
  pause(): void;
  /** Restarts the limit from now: a pod or the command has ended. */
  restart(): void;
  cancel(): void;
}

interface WaitOptions {
  readonly clock: Clock;
  /** Absent: the default limit applies; any other value turns it off. */
  readonly timeoutMs?: number | null | undefined;
  readonly stdout: { readonly isTty: boolean };
}

/**
 * The default --timeout for a workload: 60 s until its pods have been listed, then its largest grace period and 120 s,
 * from the start or from the last pod's end. It never ends while `isBusy`.
 */
export function createWaitingLimit({ clock, timeoutMs, stdout }: WaitOptions, isBusy = () => false): WaitingLimit {
  const over = new AbortController();
  let grace: number | undefined;
  let since = clock.now();
  let cancel = (): void => {};
  let isOn = timeoutMs === undefined && !stdout.isTty;
  let areListed = false;
  let isPaused = false;
  const seconds = (): number => (areListed ? (grace ?? defaultGraceSeconds) + beyondGraceSeconds : defaultReadSeconds);
  const arm = (): void => {
    cancel();
    const left = since + seconds() * 1000 - clock.now();
    if (isOn && !isPaused) cancel = clock.setTimeout(() => void (isBusy() || over.abort()), Math.max(0, left));
  };
  const listed = (): void => {
    if (areListed) return;
    areListed = true;
    arm();
  };
  arm();
  return {
    signal: over.signal,
    text: () =>
      areListed
        ? `${seconds()} s (the longest grace period, ${grace ?? defaultGraceSeconds} s, plus ${beyondGraceSeconds} s)`
        : `${defaultReadSeconds} s, as the pods could not be listed`,
    listed,
    podSeen(pod) {
      const own = asObject(pod['spec'])['terminationGracePeriodSeconds'];
      const known = typeof own === 'number' ? own : defaultGraceSeconds;
      listed();
      if (grace !== undefined && known <= grace) return;
      grace = known;
      arm();
    },
    pause() {
      isPaused = true;
      cancel();
    },
    restart() {
      isPaused = false;
      since = clock.now();
      arm();
    },
    cancel() {
      isOn = false;
      cancel();
    },
  };
}

export interface Deadline {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** Client ms of the deadline; undefined: none. */
  readonly until: number | undefined;
  /** Pauses the deadline during `work`, which waits for a person. */
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

/** Throws `late()` if the deadline comes first. Open requests end with their connection. */
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
