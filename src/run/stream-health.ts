/** The health of a run's streams, so that it ends neither before they have delivered everything nor long after. */
import { setMaxListeners } from 'node:events';
import type { Health } from '../kube/watch-position.ts';
import type { StreamName } from '../model/observation.ts';
import type { Clock } from './clock.ts';

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

/** A stream, and since when (client ms) its changes may be missing. */
interface Uncertain {
  stream: StreamName;
  since: number;
}

interface OpenOptions {
  onAlive?: ((isAlive: boolean) => void) | undefined;
  /** Receives why the stream's state has not arrived. */
  waitingFor?: ((reason: string) => void) | undefined;
  isNeeded?: boolean | undefined;
}

export type StreamHealth = ReturnType<typeof createStreamHealth>;

/** `onChange` is called when a stream has delivered everything, reconnects or closes. */
export function createStreamHealth(onChange: () => void) {
  const states = new Map<Health, StreamState>();
  const doubt = new AbortController();
  setMaxListeners(0, doubt.signal);
  const all = (): StreamState[] => [...states.values()];
  return {
    /** `at` (client ms): the stream covers changes from then on. */
    open(stream: StreamName, at: number, options: OpenOptions = {}): Health {
      const { onAlive, waitingFor, isNeeded = neededStreams.has(stream) } = options;
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
    /** The stream has ended for good: refused, or given up. */
    close: (health: Health): void => void (states.delete(health) && onChange()),
    /** Asks every stream to confirm that it has delivered everything. */
    doubt: (): void => doubt.abort(),
    /** Marks a stream as lost if it was last sure before `silentSince` (client ms). */
    lose(stream: StreamName, silentSince: number): void {
      for (const one of all()) if (one.stream === stream && one.sureAt < silentSince) one.lostSince ??= one.sureAt;
    },
    /** The open streams; a name repeats if it has several connections. */
    names: (): StreamName[] => all().map(({ stream }) => stream),
    /** Whether the stream has no connection or answer now. */
    isLost: (stream: StreamName): boolean => all().some((one) => one.stream === stream && one.lostSince !== undefined),
    /** Whether a stream is lost, or has reconnected and still has to catch up: this takes longer than an answer. */
    isComingBack: (): boolean => all().some((one) => one.lostSince !== undefined || (one.isNeeded && one.wasLost)),
    /**
     * Streams that may have undelivered changes: the lost streams, and the needed ones that were asked whether they
     * have delivered everything and have not confirmed it.
     */
    unsure: (): Uncertain[] =>
      all().flatMap(({ stream, lostSince, isNeeded, whole, sureAt }) => {
        const since = lostSince ?? (doubt.signal.aborted && isNeeded && !whole ? sureAt : undefined);
        return since === undefined ? [] : [{ stream, since }];
      }),
    /** Whether all needed streams have delivered everything and are connected. */
    areComplete: (): boolean => all().every((one) => !one.isNeeded || (one.whole && one.lostSince === undefined)),
  };
}

export type Gate = ReturnType<typeof createGate>;

/** Waits until every expected stream is open. More streams may be added during the wait. */
export function createGate() {
  const shut = new Set<string>();
  const opened = new Set<string>();
  let check = (): void => {};
  return {
    expect: (stream: string): void => void (opened.has(stream) || shut.add(stream)),
    open(stream: string): void {
      shut.delete(stream);
      opened.add(stream);
      check();
    },
    /** The expected streams that are not open yet. */
    shut: (): string[] => [...shut],
    /** Resolves with the streams that are still shut after `ms`, or on abort. */
    wait: (clock: Clock, ms: number, signal: AbortSignal): Promise<string[]> =>
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
