/** Leaving early: by a signal, at a time limit, or because stdout was closed. */
import { PodexitError } from '../../errors.ts';
import type { Interrupted } from '../../model/observation.ts';
import { signalCodes } from '../../verdict/exit-code.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { unlessAborted } from '../../kube/env.ts';
import type { Ports } from '../ports.ts';
import type { Trace } from '../../model/trace.ts';

/** Interrupts on the first signal or a closed stdout; exits at once on a second signal. Returns how to unsubscribe. */
export function leaveOnSignals(ports: Ports, interrupt: (signal: Interrupted['signal']) => void): () => void {
  let isInterrupted = false;
  const interruptOnce = (signal: Interrupted['signal']): void => {
    isInterrupted = true;
    interrupt(signal);
  };
  // For example `| head`: nobody reads the rest.
  void ports.stdout.closed.then(() => void (isInterrupted || interruptOnce('SIGPIPE')));
  return ports.onSignal((signal) => (isInterrupted ? ports.leave(signalCodes[signal]) : interruptOnce(signal)));
}

/** For work that prints nothing before it ends: on a signal, throws `run.left` with `fate` and aborts `left`. */
export async function unlessInterrupted<T>(
  ports: Pick<Ports, 'onSignal'>,
  work: (left: AbortSignal) => Promise<T>,
  fate = (): string => 'Nothing was deleted.',
): Promise<T> {
  const leaving = new AbortController();
  const unsubscribe = ports.onSignal((signal) => leaving.abort(signal));
  const interrupted = (): PodexitError => leftBy(leaving.signal.reason as Interrupted['signal'], 'interrupted', fate());
  return unlessAborted(leaving.signal, work, interrupted).finally(unsubscribe);
}

/** The error of a run that a signal ended early. */
export const leftBy = (signal: Interrupted['signal'], what: string, fate = 'Nothing was deleted.'): PodexitError =>
  new PodexitError('run.left', `${signal}: ${what}`, fate, { exitCode: signalCodes[signal] });

export type DeletionProgress =
  | 'not-asked'
  /** Flow control rejected every request so far: none was executed. */
  | 'turned-away'
  /** A request was sent, and its result is unknown. */
  | 'asked'
  | 'under-way'
  | 'gone';

/** `requested`: a request was sent, even if the trace does not show it yet. Flow control (429) rejects before it executes. */
export function deletionProgress(trace: Trace | undefined, requested: boolean): DeletionProgress {
  if (trace?.gone) return 'gone';
  const answers = trace?.requests.map(({ answer }) => answer?.value.status) ?? [];
  if (trace?.deletion || answers.some((status) => status !== undefined && status < 300)) return 'under-way';
  if (!requested) return 'not-asked';
  return answers.length > 0 && answers.every((status) => status === 429) ? 'turned-away' : 'asked';
}

/** One sentence about what happens to the pod after we leave, with a command to look at it. */
export function fateOf(
  progress: DeletionProgress,
  { namespace, name, connectionFlags }: Pick<Cluster, 'namespace' | 'connectionFlags'> & { name: string },
): string {
  const look = `look with: kubectl get pod ${name} -n ${namespace}${connectionFlags} -w`;
  const fate = briefFate(progress, `pod "${name}"`);
  return progress === 'not-asked' || progress === 'gone' ? fate : `${fate}; ${look}`;
}

/** The same without the command. */
export const briefFate = (progress: DeletionProgress, pod: string): string =>
  ({
    'not-asked': `${pod} was not deleted by this command`,
    'turned-away': `the API server throttled the delete of ${pod} (429), which is not retried`,
    asked: `the deletion of ${pod} was requested, but it is not known whether the server accepted it`,
    'under-way': `${pod} is still terminating`,
    gone: `${pod} is gone already`,
  })[progress];
