/** What the cluster room takes from the process around it: given by the caller, so that nothing here is global. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  /** Where an exec credential plugin speaks to the person. */
  stderr: { write(text: string): void };
  /** Whether a plugin may ask the person something. */
  stdinIsTty: boolean;
  /** Client clock: whole milliseconds since the epoch, rounded down, monotonic. */
  now(): number;
  /** Waits; when the signal aborts it may resolve or reject, both are understood. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
  /** `-v=N`: told only where N >= level. Never receives a secret. */
  log(level: number, message: string): void;
}

/** Waits for as long as the signal lives; true when the time has passed. */
export async function passed(surroundings: Surroundings, ms: number, signal?: AbortSignal): Promise<boolean> {
  if (ms > 0 && !signal?.aborted) await surroundings.sleep(ms, signal).catch(ignoreAbort);
  return !signal?.aborted;
}

/** The first of a promise and a time: `undefined` when the time passed (or the signal aborted) before it settled. */
export async function within<T>(
  surroundings: Surroundings,
  promise: Promise<T>,
  ms: number,
  signal?: AbortSignal,
): Promise<{ value: T } | undefined> {
  const timer = new AbortController();
  const stop = () => timer.abort();
  // Not AbortSignal.any: a signal that lives as long as the trace would keep one dependant for each line.
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    return await Promise.race([
      promise.then((value) => ({ value })),
      surroundings.sleep(ms, timer.signal).then(() => undefined, ignoreAbort),
    ]);
  } finally {
    signal?.removeEventListener('abort', stop);
    timer.abort();
  }
}

/** A time that many promises can be raced against, at the cost of one timer. */
export interface Alarm {
  /** Client clock, ms. */
  at: number;
  rung: Promise<undefined>;
  stop(): void;
}

export function setAlarm(surroundings: Surroundings, at: number): Alarm {
  const timer = new AbortController();
  const rung = surroundings
    .sleep(Math.max(0, at - surroundings.now()), timer.signal)
    .then(() => undefined, ignoreAbort);
  return { at, rung, stop: () => timer.abort() };
}

function ignoreAbort(): undefined {
  return undefined;
}
