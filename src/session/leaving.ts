/** Leaving early: a signal ends with the report so far, a second one at once, a closed stdout quietly. */
import { signalCodes } from '../verdict/exit-code.ts';
import { fateOf } from './how-far.ts';
import type { Live } from './live.ts';
import type { Ports } from './ports.ts';

/** Returns how to stop listening. */
export function leaveOnSignals(
  ports: Ports,
  live: Pick<Live, 'interrupt' | 'howFar'>,
  warn: (message: string) => void,
  pod: { namespace: string; name: string },
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
