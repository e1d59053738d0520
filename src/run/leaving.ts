/** Leaving early: a signal ends with the report so far, a second one at once, a closed stdout quietly. */
import { PodexitError } from '../errors.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import type { HowFar, Left } from './how-far.ts';
import { fateOf } from './how-far.ts';
import type { Live } from './live-run.ts';
import type { Ports } from './ports.ts';

/** Returns how to stop listening. */
export function leaveOnSignals(
  ports: Ports,
  live: { interrupt: Live['interrupt']; howFar(): HowFar },
  warn: (message: string) => void,
  /** Undefined: none is known yet. */
  pod: () => Left | undefined,
): () => void {
  let interrupted = false;
  const stop = ports.onSignal((signal) => {
    if (interrupted) return ports.leave(signalCodes[signal]);
    interrupted = true;
    const left = pod();
    if (left) warn(`${signal}: ${fateOf(live.howFar(), left)}`);
    live.interrupt(signal);
  });
  // `| head` has seen enough: nobody is left to be told.
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
  let deaf = (): void => {};
  const left = new Promise<never>((_, reject) => {
    deaf = ports.onSignal((signal) => {
      const exitCode = signalCodes[signal];
      reject(new PodexitError('run.left', `${signal}: podexit was told to leave`, fate(), { exitCode }));
      leaving.abort();
    });
  });
  try {
    return await Promise.race([work(leaving.signal), left]);
  } finally {
    deaf();
  }
}
