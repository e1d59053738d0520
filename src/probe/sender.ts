/** Sends the requests of one probe at a fixed rate, and waits for their results: timeouts, standstills, and how many wait at once. */
import type { Cancel, ProbeClient } from './client.ts';
import { resultOfError, timedOut, type Result, type Settled, type Tally } from './result.ts';

interface SenderOptions {
  client: ProbeClient;
  timeoutMs: number;
  /** Every second request uses the kept connection if it is free. */
  hasKept: boolean;
  /** Client clock, ms. */
  now(): number;
  tally: Tally;
  /** Of this process, as its schedule finds out. */
  standstill(): Standstill | undefined;
  onSettled(settled: Settled): void;
}

/** Open requests; each holds a socket. */
const maxWaiting = 2000;

export function createSender(options: SenderOptions) {
  const { client, timeoutMs, hasKept, now, tally, standstill, onSettled } = options;
  const waiting = new Set<() => void>();
  const idleWaiters: (() => void)[] = [];
  const wake = (): void => idleWaiters.splice(0).forEach((resolve) => resolve());
  let [turn, skipped] = [0, 0];
  /** Client ms: the end of the last standstill of each kind. */
  const until: Record<Standstill, number> = { busy: -Infinity, asleep: -Infinity };
  const isOwn = (result: Result, sentAt: number): boolean =>
    kinds.some((kind) => isDoubtful(result, kind) && (sentAt <= until[kind] || standstill() === kind));

  function send(): number | undefined {
    if (client.resent > skipped) {
      skipped += 1;
      return undefined;
    }
    if (waiting.size >= maxWaiting) {
      tally.miss('too-many-waiting', 1);
      return undefined;
    }
    turn += 1;
    const connection = hasKept && turn % 2 === 0 && client.isKeptFree ? 'kept' : 'new';
    const [sentAt, started] = [now(), performance.now()];
    let cancel: Cancel = () => undefined;
    const settle = (result: Result, answeredAt = performance.now()): void => {
      if (!waiting.delete(abort)) return;
      stopTimer();
      const judged: Result = isOwn(result, sentAt)
        ? { kind: 'not-measured', reason: 'standstill', said: result.said }
        : result;
      const used = connection === 'kept' ? client.lastKept : 'new';
      onSettled({ connection: used, result: judged, sentAt, settledAt: now(), latencyMs: answeredAt - started });
      if (waiting.size === 0) wake();
    };
    const stopTimer = startTimer(timeoutMs, () => settle(timedOut(cancel())));
    const abort = (): void => {
      stopTimer();
      cancel();
    };
    waiting.add(abort);
    try {
      cancel = client.send(connection, settle);
    } catch (error) {
      settle(resultOfError(error as NodeJS.ErrnoException));
    }
    return sentAt;
  }

  return {
    /** Sends the next request. Returns when, as it will be counted; undefined if it is skipped. */
    send,
    /** This process, or its machine, stood still until now. */
    stoodStill(kind: Standstill, missed: number): void {
      until[kind] = now();
      client.forgetKept();
      if (missed > 0) tally.miss('standstill', missed);
    },
    /** Resolves when no request is open. */
    idle: () => new Promise<void>((resolve) => (waiting.size === 0 ? resolve() : void idleWaiters.push(resolve))),
    /** Cancels the open requests without counting them. */
    abort(): void {
      waiting.forEach((cancelRequest) => cancelRequest());
      waiting.clear();
      wake();
    },
  };
}

const kinds = ['busy', 'asleep'] as const;

/**
 * Whether a standstill may have caused this failure. It has not if the target itself spoke, no matter who listened: an
 * answer, the API server's statement that it reached no backend, a refused or reset connection. But while a machine
 * sleeps, connections break by themselves; while only the process waits, the system keeps them.
 */
const isDoubtful = (result: Result, standstill: Standstill): boolean =>
  result.kind === 'failed' &&
  !result.isAnswer &&
  result.status === undefined &&
  (standstill === 'asleep' || result.failure === 'timeout' || result.failure === 'dns');

/** A late timer waits once more, since an answer may have come that is not read yet. Returns how to stop the timer. */
function startTimer(ms: number, giveUp: () => void): () => void {
  const started = performance.now();
  let timer = setTimeout(() => {
    if (performance.now() - started - ms <= normalLatenessMs) giveUp();
    else timer = setTimeout(giveUp, standstillMs);
  }, ms);
  return () => clearTimeout(timer);
}

/** A timer may be this late on a busy machine without a standstill. */
const normalLatenessMs = 20;

interface ScheduleOptions {
  ratePerSecond: number;
  /** The run's clock, ms: unlike the monotonic clock, it never stops while the machine sleeps. */
  now(): number;
  /** A request is due. */
  send(): void;
  /**
   * This process did not run for at least `standstillMs`. `missed` requests are skipped: a long standstill is not made
   * up for. Called before anything that arrived meanwhile is read.
   */
  onStandstill(kind: Standstill, missed: number): void;
}

/** `busy`: the process waited while its machine received answers. `asleep`: it received none; connections may break. */
export type Standstill = 'busy' | 'asleep';

/** A process that did not run for so long cannot judge what others did meanwhile. */
const standstillMs = 250;
/** A later request is skipped. Others are sent late, at most at twice the rate, since a burst could harm the target. */
const maxLatenessMs = 1000;
/** One tick sends at most twice what is due in this time: on a busy machine ticks are that far apart. */
const catchUpMs = 50;
/** Ticks are never further apart, even if no request is due. */
const maxTickMs = 100;

/**
 * Sends at a fixed rate, whatever happens to the requests (an open model: a slow answer delays no later request, and so
 * hides no latencies or losses). At any moment no more requests were sent than the rate allows since the start, which is now.
 */
export function startSchedule({ ratePerSecond, now, send, onStandstill }: ScheduleOptions) {
  const intervalMs = 1000 / ratePerSecond;
  const start = performance.now();
  let next = 0;
  let expected = start;
  let last = { monotonic: start, client: now() };
  let timer = setTimeout(tick, 0);

  /** ms that the machine slept since the last tick: only the run's clock shows them. */
  const sleptMs = (monotonic: number, client: number): number => client - last.client - (monotonic - last.monotonic);

  function tick(): void {
    const monotonic = performance.now();
    const client = now();
    const late = monotonic - expected;
    const sinceLast = Math.max(monotonic - last.monotonic, 1);
    const slept = sleptMs(monotonic, client);
    last = { monotonic, client };
    const firstDue = Math.ceil((monotonic - maxLatenessMs - start) / intervalMs);
    if (late >= standstillMs || slept >= standstillMs || firstDue > next) {
      const asleep = slept >= standstillMs ? Math.floor(slept / intervalMs) : 0;
      onStandstill(slept >= standstillMs ? 'asleep' : 'busy', Math.max(0, firstDue - next) + asleep);
      next = Math.max(next, firstDue);
    }
    const maxSends = Math.ceil((2 * Math.min(sinceLast, catchUpMs)) / intervalMs);
    for (let sent = 0; sent < maxSends && start + next * intervalMs <= monotonic; sent++) {
      next += 1;
      send();
    }
    const wait = Math.min(start + next * intervalMs - performance.now(), maxTickMs);
    expected = performance.now() + Math.max(wait, 0);
    timer = setTimeout(tick, Math.max(wait, 0));
  }

  return {
    /** A standstill that no tick has noticed yet: after a wake-up, what the system reports comes before any timer. */
    standstill(): Standstill | undefined {
      const [monotonic, client] = [performance.now(), now()];
      if (sleptMs(monotonic, client) >= standstillMs) return 'asleep';
      return client - last.client >= maxTickMs + standstillMs ? 'busy' : undefined;
    },
    stop: (): void => clearTimeout(timer),
  };
}
