/** Leaving early: a signal ends with the report so far, a second one at once, a closed stdout quietly. */
import { PodexitError } from '../errors.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import type { DeletionProgress, Left } from './deletion-progress.ts';
import { fateOf } from './deletion-progress.ts';
import type { Live } from './live-run.ts';
import type { Ports } from './ports.ts';

/** Returns how to stop listening. */
export function leaveOnSignals(
  ports: Ports,
  live: { interrupt: Live['interrupt']; deletionProgress(): DeletionProgress },
  warn: (message: string) => void,
  /** Undefined: none is known yet. */
  pod: () => Left | undefined,
): () => void {
  let interrupted = false;
  const stop = ports.onSignal((signal) => {
    if (interrupted) return ports.leave(signalCodes[signal]);
    interrupted = true;
    const left = pod();
    if (left) warn(`${signal}: ${fateOf(live.deletionProgress(), left)}`);
    live.interrupt(signal);
  });
  // `| head` has seen enough: no reader is left.
  void ports.stdout.closed.then(() => live.interrupt('SIGPIPE'));
  return stop;
}

/**
 * Work that shows nothing before its end. Throws `run.left` on a signal, and aborts `left`: a question is no longer asked then.
 * Requests that go on end with their connection. `fate`: of what was to be deleted, by then.
 */
export async function unlessLeft<T>(
  ports: Pick<Ports, 'onSignal'>,
  work: (left: AbortSignal) => Promise<T>,
  fate = (): string => 'Nothing was deleted.',
): Promise<T> {
  const leaving = new AbortController();
  let unsubscribe = (): void => {};
  const left = new Promise<never>((_, reject) => {
    unsubscribe = ports.onSignal((signal) => {
      const exitCode = signalCodes[signal];
      reject(new PodexitError('run.left', `${signal}: interrupted`, fate(), { exitCode }));
      leaving.abort();
    });
  });
  try {
    return await Promise.race([work(leaving.signal), left]);
  } finally {
    unsubscribe();
  }
}
