/** The health of a run's streams, so that it ends neither before they have delivered everything nor long after. */
import { setMaxListeners } from 'node:events';
import type { Health } from '../kube/watch-position.ts';
import type { StreamName } from '../model/observation.ts';
import type { Clock } from './clock.ts';

export interface StreamHealth {
  /** `at` (client ms): the stream covers changes from then on. `waitingFor` receives why its state has not arrived. */
  open(
    stream: StreamName,
    at: number,
    more?: {
      onAlive?: ((isSo: boolean) => void) | undefined;
      waitingFor?: ((reason: string) => void) | undefined;
      isNeeded?: boolean;
    },
  ): Health;
  /** The stream has ended for good: refused, or given up. */
  close(health: Health): void;
  /** Asks every stream to confirm that it has delivered everything. */
  doubt(): void;
  /** Marks a stream as lost if it was last sure before `silentSince` (client ms). */
  lose(stream: StreamName, silentSince: number): void;
  /** The open streams; a name repeats if it has several connections. */
  names(): StreamName[];
  /** Streams that have no connection or answer now, and since when (client ms). */
  lost(): { stream: StreamName; since: number }[];
  /** Whether a stream is lost, or has reconnected and still has to catch up: this takes longer than an answer. */
  isComingBack(): boolean;
  /**
   * Streams that may have undelivered changes, and since when (client ms): the lost streams, and the needed ones that
   * were asked whether they have delivered everything and have not confirmed it.
   */
  unsure(): { stream: StreamName; since: number }[];
  /** Whether all needed streams have delivered everything and are connected. */
  areComplete(): boolean;
}

/** The streams that outcome, containers and most findings rest on. A run waits at its end only for these. */
export const neededStreams: ReadonlySet<StreamName> = new Set(['pod', 'events', 'endpointslices']);

interface StreamState {
  stream: StreamName;
  isNeeded: boolean;
  sureAt: number;
  lostSince: number | undefined;
  /** It was lost, and has not delivered everything since. */
  wasLost: boolean;
  whole: boolean;
}

/** `onChange` is called when a stream has delivered everything, reconnects or closes. */
export function createStreamHealth(onChange: () => void): StreamHealth {
  const states = new Map<Health, StreamState>();
  const doubt = new AbortController();
  setMaxListeners(0, doubt.signal);
  return {
    open(stream, at, { onAlive, waitingFor, isNeeded = neededStreams.has(stream) } = {}) {
      const one: StreamState = { stream, isNeeded, sureAt: at, lostSince: undefined, wasLost: false, whole: false };
      const health: Health = {
        doubted: doubt.signal,
        waitingFor,
        lost: (since) => {
          // The last loss may have begun earlier than it seemed.
          one.lostSince = Math.min(one.lostSince ?? Infinity, since);
          one.wasLost = true;
          onAlive?.(false);
        },
        flows: () => {
          one.lostSince = undefined;
          onAlive?.(true);
          onChange();
        },
        sure: (at) => void (one.sureAt = at),
        whole: () => {
          one.whole = true;
          one.wasLost = false;
          onChange();
        },
      };
      states.set(health, one);
      return health;
    },
    close: (health) => void (states.delete(health) && onChange()),
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
    areComplete: () => [...states.values()].every((one) => !one.isNeeded || (one.whole && one.lostSince === undefined)),
  };
}

/** Waits until every expected stream is open. More streams may be added during the wait. */
export interface Gate {
  expect(stream: string): void;
  open(stream: string): void;
  /** The expected streams that are not open yet. */
  shut(): string[];
  /** Resolves with the streams that are still shut after `ms`, or on abort. */
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
