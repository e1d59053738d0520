/** Leaving early: a signal ends with the report so far, a second one at once, a closed stdout quietly. */
import { PodexitError } from '../errors.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import type { Left } from './how-far.ts';
import { fateOf } from './how-far.ts';
import type { Live } from './live.ts';
import type { Ports } from './ports.ts';

/** Returns how to stop listening. */
export function leaveOnSignals(
  ports: Ports,
  live: Pick<Live, 'interrupt' | 'howFar'>,
  warn: (message: string) => void,
  pod: Left,
): () => void {
  let interrupted = false;
  const stop = ports.onSignal((signal) => {
    if (interrupted) return ports.leave(signalCodes[signal]);
    interrupted = true;
    warn(`${signal}: ${fateOf(live.howFar, pod)}`);
    live.interrupt(signal);
  });
  // `| head` has seen enough: nobody is left to be told.
  void ports.stdout.closed.then(() => live.interrupt('SIGPIPE'));
  return stop;
}

/** Work before anything is deleted. Throws `run.left` on a signal; whatever goes on then ends with its connection. */
export async function unlessLeft<T>(ports: Pick<Ports, 'onSignal'>, work: Promise<T>): Promise<T> {
  let deaf = (): void => {};
  const left = new Promise<never>((_, reject) => {
    deaf = ports.onSignal((signal) => {
      const exitCode = signalCodes[signal];
      reject(
        new PodexitError('run.left', `${signal}: podexit was told to leave`, 'Nothing was deleted.', { exitCode }),
      );
    });
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    deaf();
  }
}
