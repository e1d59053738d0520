/** Leaving early: a signal ends with the report so far, a second one at once, a closed stdout quietly. */
import { PodexitError } from '../errors.ts';
import type { Interrupted } from '../model/observation.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import type { Ports } from './ports.ts';

/** The first signal interrupts, a second one leaves at once, and a closed stdout interrupts too. Returns how to stop listening. */
export function leaveOnSignals(ports: Ports, interrupt: (signal: Interrupted['signal']) => void): () => void {
  let isInterrupted = false;
  const first = (signal: Interrupted['signal']): void => {
    isInterrupted = true;
    interrupt(signal);
  };
  // `| head` has seen enough: no reader is left.
  void ports.stdout.closed.then(() => void (isInterrupted || first('SIGPIPE')));
  return ports.onSignal((signal) => (isInterrupted ? ports.leave(signalCodes[signal]) : first(signal)));
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
