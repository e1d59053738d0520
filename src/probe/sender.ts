/** The requests of one probe between their sending and their end: time limits, standstills, and how many wait at once. */
import type { Cancel, ProbeClient } from './client.ts';
import { resultOfError, timedOut, type Result } from './result.ts';
import { standstillMs, type Standstill } from './schedule.ts';
import type { Settled, Tally } from './tally.ts';

interface SenderOptions {
  client: ProbeClient;
  timeoutMs: number;
  /** Every second request goes over the kept connection while that is free. */
  hasKept: boolean;
  /** Client clock, ms. */
  now(): number;
  tally: Tally;
  /** See schedule.ts. */
  standstill(): Standstill | undefined;
  onSettled(settled: Settled): void;
}

/** Requests that wait for their answers: each holds a socket. */
const mostWaiting = 2000;

export type Sender = ReturnType<typeof createSender>;

export function createSender(options: SenderOptions) {
  const { client, timeoutMs, hasKept, now, tally, onSettled } = options;
  const [waiting, idlers] = [new Set<() => void>(), [] as (() => void)[]];
  const wake = (): void => idlers.splice(0).forEach((resolve) => resolve());
  let [turn, skipped] = [0, 0];
  const pauses = createPauses(options);

  function send(): boolean {
    if (client.resent > skipped) {
      skipped += 1;
      return false;
    }
    if (waiting.size >= mostWaiting) {
      tally.miss('too-many-waiting', 1);
      return false;
    }
    turn += 1;
    const connection = hasKept && turn % 2 === 0 && client.isKeptFree ? 'kept' : 'new';
    const [sentAt, started] = [now(), performance.now()];
    let cancel: Cancel = () => undefined;
    const settle = (result: Result, answeredAt = performance.now()): void => {
      if (!waiting.delete(abort)) return;
      stopTimer();
      const settledAt = now();
      onSettled({
        connection,
        result: pauses.fairly(result, sentAt),
        sentAt,
        settledAt,
        latencyMs: answeredAt - started,
      });
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
    return true;
  }

  return {
    /** Sends the next request; false: it is not sent. */
    send,
    /** This process, or its machine, stood still until now. */
    stoodStill(kind: Standstill, missed: number): void {
      pauses.ended(kind);
      client.forgetKept();
      if (missed > 0) tally.miss('standstill', missed);
    },
    /** Resolves when nothing is on its way any more. */
    idle: () => new Promise<void>((resolve) => (waiting.size === 0 ? resolve() : void idlers.push(resolve))),
    /** Gives up what is on its way, uncounted. */
    abort(): void {
      waiting.forEach((one) => one());
      waiting.clear();
      wake();
    },
  };
}

/** When this process stood still, and what that means for a result. */
function createPauses({ now, standstill }: Pick<SenderOptions, 'now' | 'standstill'>) {
  /** Client ms at which the last one of each kind ended. */
  const until: Record<Standstill, number> = { busy: -Infinity, asleep: -Infinity };
  return {
    ended: (kind: Standstill): void => void (until[kind] = now()),
    fairly(result: Result, sentAt: number): Result {
      if (result.kind !== 'failed') return result;
      const current = standstill();
      const isOwn = (['busy', 'asleep'] as const).some(
        (kind) => (sentAt <= until[kind] || current === kind) && isDoubtful(result, kind),
      );
      return isOwn ? { kind: 'not-measured', reason: 'standstill', said: result.said } : result;
    },
  };
}

/**
 * What the target said itself, and so did not depend on who was listening, is a failure whatever this process did meanwhile: an
 * answer, an API server's word that it reached nobody, a connection that was refused or reset. While a machine sleeps connections
 * break by themselves; while a process waits for its turn the system keeps them.
 */
const isDoubtful = (result: Extract<Result, { kind: 'failed' }>, standstill: Standstill): boolean =>
  !result.isAnswer &&
  result.status === undefined &&
  (standstill === 'asleep' || result.failure === 'timeout' || result.failure === 'dns');

/** An answer may have come while this process did not run: it is read before the request is given up. Returns how to stop it. */
function startTimer(ms: number, giveUp: () => void): () => void {
  const started = performance.now();
  let timer = setTimeout(() => {
    if (performance.now() - started - ms <= lateMs) giveUp();
    else timer = setTimeout(giveUp, standstillMs);
  }, ms);
  return () => clearTimeout(timer);
}

/** ms that a timer may be late on a busy machine without that meaning anything. */
const lateMs = 20;
