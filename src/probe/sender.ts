/** Sends the requests of one probe and waits for their results: timeouts, standstills, and how many wait at once. */
import type { Cancel, ProbeClient } from './client.ts';
import { resultOfError, timedOut, type Result } from './result.ts';
import { standstillMs, type Standstill } from './schedule.ts';
import type { Settled, Tally } from './tally.ts';

interface SenderOptions {
  client: ProbeClient;
  timeoutMs: number;
  /** Every second request uses the kept connection if it is free. */
  hasKept: boolean;
  /** Client clock, ms. */
  now(): number;
  tally: Tally;
  /** See schedule.ts. */
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
