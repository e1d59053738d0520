/** Environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** What this folder needs of the process: passed in by the caller, so that nothing here is global. */
export interface Env {
  /** As in process.env. */
  variables: Variables;
  /** Where an exec credential plugin writes to the user. */
  stderr: { write(text: string): void };
  /** Whether a plugin can prompt the user. */
  stdinIsTty: boolean;
  /** As in process.platform. */
  platform: string;
  /** Client clock: whole milliseconds since the epoch, rounded down, monotonic. */
  now(): number;
  /** Calls back once after `ms`; returns how to cancel it. */
  setTimeout(callback: () => void, ms: number): () => void;
  /** In [0, 1). */
  random(): number;
  /** `-v=N`: shown only where N >= level. Never receives a secret. */
  log(level: number, message: string): void;
}

/** Waits for as long as the signal lives; true when the time has passed. */
export async function delay(env: Env, ms: number, signal?: AbortSignal): Promise<boolean> {
  if (ms > 0 && !signal?.aborted)
    await new Promise<void>((resolve) => {
      const done = (): void => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = env.setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    });
  return !signal?.aborted;
}

/**
 * The first of a promise and a time: `undefined` when the time passed (or the signal aborted) before it settled. Asked for
 * each chunk of each stream, so it makes no signal of its own: an abort costs more than all else that is done for a line.
 */
export function within<T>(
  env: Env,
  promise: Promise<T>,
  ms: number,
  signal?: AbortSignal,
): Promise<{ value: T } | undefined> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel();
      signal?.removeEventListener('abort', giveUp);
    };
    const giveUp = (): void => {
      stop();
      resolve(undefined);
    };
    const cancel = env.setTimeout(giveUp, ms);
    // Not AbortSignal.any: a signal that lives as long as the trace would keep one dependant for each chunk.
    signal?.addEventListener('abort', giveUp, { once: true });
    promise.then(
      (value) => {
        stop();
        resolve({ value });
      },
      (error: Error) => {
        stop();
        reject(error);
      },
    );
    // A promise that has settled already still counts.
    if (signal?.aborted) void Promise.resolve().then(giveUp);
  });
}

/** A time that many promises can be raced against, at the cost of one timer. */
export interface Alarm {
  /** Client clock, ms. */
  at: number;
  /** Never settles once it was stopped. */
  rung: Promise<undefined>;
  stop(): void;
}

export function setAlarm(env: Env, at: number): Alarm {
  let stop = (): void => {};
  const rung = new Promise<undefined>((resolve) => {
    stop = env.setTimeout(() => resolve(undefined), Math.max(0, at - env.now()));
  });
  return { at, rung, stop };
}
