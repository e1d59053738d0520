/** The health of a run's streams, so that it ends neither before they have delivered everything nor long after: one may be
 * lost, or this process suspended. */
import { setMaxListeners } from 'node:events';
import type { Health } from '../../kube/watch-position.ts';
import type { StreamName, RawObservation } from '../../model/observation.ts';
import type { Clock } from '../../output/ports.ts';

/** The streams that outcome, containers and most findings rest on. A run waits at its end only for these. */
const neededStreams: ReadonlySet<StreamName> = new Set(['pod', 'events', 'endpointslices']);

interface StreamState {
  stream: StreamName;
  isNeeded: boolean;
  sureAt: number;
  lostSince: number | undefined;
  /** It was lost, and has not delivered everything since. */
  wasLost: boolean;
  whole: boolean;
}

/** `waitingFor` receives why the stream's state has not arrived. */
interface OpenOptions extends Pick<Health, 'waitingFor' | 'isOver'> {
  onAlive?: ((isAlive: boolean) => void) | undefined;
  isNeeded?: boolean | undefined;
}

export type StreamHealth = ReturnType<typeof createStreamHealth>;

/** `onChange`: a lost stream is back or closed, or a needed one has delivered all or closed; others decide no end. */
export function createStreamHealth(onChange: () => void) {
  const states = new Map<Health, StreamState>();
  const doubt = new AbortController();
  const never = new AbortController().signal;
  setMaxListeners(0, doubt.signal, never);
  const all = (): StreamState[] => [...states.values()];
  return {
    /** `at` (client ms): the stream covers changes from then on. */
    open(stream: StreamName, at: number, options: OpenOptions = {}): Health {
      const { onAlive, waitingFor, isOver, isNeeded = neededStreams.has(stream) } = options;
      const one: StreamState = { stream, isNeeded, sureAt: at, lostSince: undefined, wasLost: false, whole: false };
      const health: Health = {
        doubted: isNeeded ? doubt.signal : never,
        waitingFor,
        isOver,
        lost: (since) => {
          // The last loss may have begun earlier than it seemed.
          one.lostSince = Math.min(one.lostSince ?? Infinity, since);
          one.wasLost = true;
          onAlive?.(false);
        },
        flows: () => {
          onAlive?.(true);
          if (one.lostSince === undefined) return;
          one.lostSince = undefined;
          onChange();
        },
        sure: (at) => void (one.sureAt = at),
        whole: () => {
          one.whole = true;
          one.wasLost = false;
          if (isNeeded) onChange();
        },
      };
      states.set(health, one);
      return health;
    },
    /** The stream has ended for good: refused, or given up. */
    close(health: Health): void {
      const one = states.get(health);
      if (states.delete(health) && (one?.isNeeded || one?.lostSince !== undefined)) onChange();
    },
    /** Asks the needed streams, on which the end depends, to confirm that they have delivered everything. */
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
     * Streams that may have undelivered changes, and since when (client ms): the lost streams, and the needed ones that
     * were asked whether they have delivered everything and have not confirmed it.
     */
    unsure: (): { stream: StreamName; since: number }[] =>
      all().flatMap(({ stream, lostSince, isNeeded, whole, sureAt }) => {
        const since = lostSince ?? (doubt.signal.aborted && isNeeded && !whole ? sureAt : undefined);
        return since === undefined ? [] : [{ stream, since }];
      }),
    /** Whether all needed streams have delivered everything and are connected. */
    areComplete: (): boolean => all().every((one) => !one.isNeeded || (one.whole && one.lostSince === undefined)),
  };
}

/** A stream that is waited for; each container's log is a stream of its own. */
interface GatedStream {
  stream: StreamName;
  container?: string;
  pod?: string;
}

export type StreamGate = ReturnType<typeof createGate>;

/** Waits until every expected stream is open. More streams may be added during the wait. */
export function createGate() {
  /** By key; undefined: it is open. */
  const streams = new Map<string, GatedStream | undefined>();
  const keyOf = ({ stream, container = '', pod = '' }: GatedStream): string => `${stream}/${pod}/${container}`;
  /** The expected streams that are not open yet. */
  const shut = (): GatedStream[] => [...streams.values()].filter((one) => one !== undefined);
  let check = (): void => {};
  return {
    expect: (one: GatedStream): void => void (streams.has(keyOf(one)) || streams.set(keyOf(one), one)),
    open: (one: GatedStream): void => void (streams.set(keyOf(one), undefined), check()),
    shut,
    allOpen: (): Promise<void> =>
      new Promise((resolve) => {
        check = () => void (shut().length === 0 && resolve());
        check();
      }),
  };
}

const tickMs = 1000;
/** Tolerated lateness of a tick: of a suspension, less than 2 s is added to an arrival (`delivery-lag`, 2.5 s). */
const tolerableDelayMs = 1000;

export type Suspension = ReturnType<typeof watchSuspension>;

/** Notices by late ticks that this process was suspended. `streams`: those whose changes may have had to wait. */
export function watchSuspension(
  clock: Clock,
  streams: () => Iterable<StreamName>,
  deliver: (rawObservation: RawObservation) => void,
) {
  /** Client ms at which the process was last known to run. */
  let awakeAt = clock.now();
  let last: { since: number; at: number } | undefined;
  const resumed = (since: number, at: number): RawObservation[] => {
    last = { since, at };
    return [...new Set(streams())].map((stream) => ({ kind: 'resumed', at, stream, since }));
  };
  /** Call before delivering something that arrived at `at`; returns what must be delivered first. */
  const before = (at: number): RawObservation[] => {
    const since = awakeAt;
    awakeAt = Math.max(awakeAt, at);
    if (at - since > tickMs + tolerableDelayMs) return resumed(since, at);
    // Another stream read this on waking too, a moment before the delivery that noticed the suspension.
    return last && at < last.at && at - last.since > tickMs + tolerableDelayMs ? resumed(last.since, at) : [];
  };
  /** Delivers a suspension that has just ended and that no tick has noticed yet. */
  const notice = (): void => before(clock.now()).forEach(deliver);
  const tick = (): void => {
    notice();
    cancel = clock.setTimeout(tick, tickMs);
  };
  let cancel = clock.setTimeout(tick, tickMs);
  /**
   * ms during which data that arrived while this process was suspended may still be unread, so that nothing must time
   * out: after waking, timers fire first, and a broken connection has to be reopened.
   */
  const unreadMs = (): number => Math.max(0, (last?.at ?? -Infinity) + 5000 - clock.now());
  return { before, notice, unreadMs, cancel: (): void => cancel() };
}
