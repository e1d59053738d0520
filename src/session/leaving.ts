/** Leaving early: a signal ends with the report so far, a second one at once, a closed stdout quietly. */
import { signalCodes } from '../verdict/exit-code.ts';
import type { DeletionStage } from './deletion-stage.ts';
import type { Live } from './live.ts';
import type { Ports } from './ports.ts';

interface PodName {
  namespace: string;
  name: string;
}

const words: Record<DeletionStage, (pod: PodName) => string> = {
  'not-asked': ({ name }) => `pod "${name}" was not deleted by this command`,
  'in-doubt': (pod) => `whether the request to delete pod "${pod.name}" was taken is not known yet; ${lookAt(pod)}`,
  'under-way': (pod) => `the deletion of pod "${pod.name}" goes on without us; ${lookAt(pod)}`,
  gone: ({ name }) => `pod "${name}" is gone; what would have been heard of it later is missing`,
};

const lookAt = ({ name, namespace }: PodName): string => `look with: kubectl get pod ${name} -n ${namespace} -w`;

/** Returns how to stop listening. */
export function leaveOnSignals(
  ports: Ports,
  live: Pick<Live, 'interrupt' | 'stage'>,
  warn: (message: string) => void,
  pod: PodName,
): () => void {
  let interrupted = false;
  const stop = ports.onSignal((signal) => {
    if (interrupted) return ports.leave(signalCodes[signal]);
    interrupted = true;
    warn(`${signal}: ${words[live.stage()](pod)}`);
    live.interrupt(signal);
  });
  // `| head` has seen enough: nobody is left to be told.
  void ports.stdout.closed.then(() => live.interrupt('SIGPIPE'));
  return stop;
}
