export type Variables = Readonly<Record<string, string | undefined>>;

/** What this folder needs from the process. The caller passes it in, so that nothing here is global. */
export interface Env {
  variables: Variables;
  /** Where an exec credential plugin writes to the user. */
  stderr: { write(text: string): void };
  /** Whether a plugin can prompt the user. */
  stdinIsTty: boolean;
  platform: string;
  /** Client clock: whole milliseconds since the epoch, rounded down, monotonic. */
  now(): number;
  /** Calls back once after `ms`; returns a function that cancels it. */
  setTimeout(callback: () => void, ms: number): () => void;
  /** In [0, 1). */
  random(): number;
  /** Prints the message if `-v` is at least `level`. Never receives a secret. */
  log(level: number, message: string): void;
}

/** Waits `ms`, or until the signal aborts; true if it did not abort. */
export async function delay(env: Env, ms: number, signal?: AbortSignal): Promise<boolean> {
  if (ms > 0 && !signal?.aborted) await within(env, new Promise(() => {}), ms, signal);
  return !signal?.aborted;
}

/**
 * Waits for the promise, but at most `ms` if given: undefined if the time passed or the signal aborted first. Called for each
 * chunk of each stream, so it creates no signal of its own: an abort costs more than all other work for a line.
 */
export function within<T>(
  env: Env,
  promise: Promise<T>,
  ms: number | undefined,
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
    const cancel = ms === undefined ? () => {} : env.setTimeout(giveUp, ms);
    // Not AbortSignal.any: a signal that lives as long as the trace would keep one dependent signal for each chunk.
    signal?.addEventListener('abort', giveUp, { once: true });
    void promise.then((value) => resolve({ value }), reject).finally(stop);
    // Even then, a promise that has already settled counts.
    if (signal?.aborted) void Promise.resolve().then(giveUp);
  });
}

/** Throws `reason()` if the signal is aborted first. Open requests end with their connection. */
export async function unlessAborted<T>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  reason: () => Error,
): Promise<T> {
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(reason());
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true, signal: settled.signal });
  });
  try {
    return await Promise.race([work(signal), aborted]);
  } finally {
    settled.abort();
  }
}
