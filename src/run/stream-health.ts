/** How the streams of a run are doing, so that it ends neither before they have delivered everything nor long after. */
import { setMaxListeners } from 'node:events';
import type { Health } from '../kube/watch-position.ts';
import type { StreamName } from '../model/observation.ts';
import type { Clock } from './clock.ts';

export interface StreamHealth {
  /** `at` (client ms): what came earlier is not its to deliver. `onAlive` is called as it dies and lives again, `waitingFor` as its state is not given. */
  open(
    stream: StreamName,
    at: number,
    more?: {
      onAlive?: ((isSo: boolean) => void) | undefined;
      waitingFor?: ((reason: string) => void) | undefined;
      isNeeded?: boolean;
    },
  ): Health;
  /** The stream is over for good: refused, or given up. */
  close(health: Health): void;
  /** Asks every stream whether it has delivered everything, until it answers. */
  doubt(): void;
  /** Takes a stream as lost that has not been sure of anything since `silentSince` (client ms). */
  lose(stream: StreamName, silentSince: number): void;
  /** The streams that are not over; of several connections of one stream each. */
  names(): StreamName[];
  /** Streams without a connection or an answer now, and since when (client ms). */
  lost(): { stream: StreamName; since: number }[];
  /** Whether one is lost, or has come back and owes what it missed: that takes longer than an answer. */
  isComingBack(): boolean;
  /**
   * Streams that may have kept something back, and since when (client ms): the lost ones, and of those that a report leans on
   * most the ones that were asked whether they delivered everything, and have not confirmed it.
   */
  unsure(): { stream: StreamName; since: number }[];
  /** Whether all that a report leans on most has been delivered, and none is without a connection. */
  areWhole(): boolean;
}

/** The streams that outcome, containers and most findings rest on; the end of a run waits for no other. */
export const needed: ReadonlySet<StreamName> = new Set(['pod', 'events', 'endpointslices']);

interface StreamState {
  stream: StreamName;
  isNeeded: boolean;
  sureAt: number;
  lostSince: number | undefined;
  /** Lost at some time since it was last whole. */
  wasLost: boolean;
  whole: boolean;
}

/** `changed` is called whenever a stream is whole or flows again. */
export function createStreamHealth(changed: () => void): StreamHealth {
  const states = new Map<Health, StreamState>();
  const doubt = new AbortController();
  setMaxListeners(0, doubt.signal);
  return {
    open(stream, at, { onAlive, waitingFor, isNeeded = needed.has(stream) } = {}) {
      const one: StreamState = { stream, isNeeded, sureAt: at, lostSince: undefined, wasLost: false, whole: false };
      const health: Health = {
        doubted: doubt.signal,
        waitingFor,
        lost: (since) => {
          // What was taken for its end may turn out to have been behind.
          one.lostSince = Math.min(one.lostSince ?? Infinity, since);
          one.wasLost = true;
          onAlive?.(false);
        },
        flows: () => {
          one.lostSince = undefined;
          onAlive?.(true);
          changed();
        },
        sure: (at) => void (one.sureAt = at),
        whole: () => {
          one.whole = true;
          one.wasLost = false;
          changed();
        },
      };
      states.set(health, one);
      return health;
    },
    close: (health) => void (states.delete(health) && changed()),
    doubt: () => doubt.abort(),
    lose: (stream, silentSince) =>
      states.forEach((one) => {
        if (one.stream === stream && one.sureAt < silentSince) one.lostSince ??= one.sureAt;
      }),
    names: () => [...states.values()].map(({ stream }) => stream),
    lost: () =>
      [...states.values()].flatMap(({ stream, lostSince }) =>
        lostSince === undefined ? [] : [{ stream, since: lostSince }],
      ),
    isComingBack: () =>
      [...states.values()].some((one) => one.lostSince !== undefined || (one.isNeeded && one.wasLost)),
    unsure: () =>
      [...states.values()].flatMap((one) => {
        const owesAnswer = doubt.signal.aborted && one.isNeeded && !one.whole;
        const since = one.lostSince ?? (owesAnswer ? one.sureAt : undefined);
        return since === undefined ? [] : [{ stream: one.stream, since }];
      }),
    areWhole: () => [...states.values()].every((one) => !one.isNeeded || (one.whole && one.lostSince === undefined)),
  };
}

/** Waits until every expected stream is open. More may be expected while the wait is on. */
export interface Gate {
  expect(stream: string): void;
  open(stream: string): void;
  /** The streams that are expected, and not open yet. */
  shut(): string[];
  /** The streams that are still shut when `ms` have passed (or the signal aborts). */
  wait(clock: Clock, ms: number, signal: AbortSignal): Promise<string[]>;
}

export function createGate(): Gate {
  const shut = new Set<string>();
  const opened = new Set<string>();
  let check = (): void => {};
  return {
    expect: (stream) => void (opened.has(stream) ? undefined : shut.add(stream)),
    open: (stream) => {
      shut.delete(stream);
      opened.add(stream);
      check();
    },
    shut: () => [...shut],
    wait: (clock, ms, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          check = () => {};
          cancel();
          signal.removeEventListener('abort', done);
          resolve([...shut]);
        };
        const cancel = clock.setTimeout(done, ms);
        signal.addEventListener('abort', done, { once: true });
        check = () => void (shut.size === 0 && done());
        check();
      }),
  };
}
