/** Traces one pod: finds it, asks before it is deleted, runs the live source through the main loop, and reports. */
import { PodexitError } from '../../errors.ts';
import type { Pod } from '../../model/kube.ts';
import type { Interrupted } from '../../model/observation.ts';
import { exitCodes, signalCodes } from '../../verdict/exit-code.ts';
import { openStage } from '../../output/stage.ts';
import { openOnDeletion } from '../audience.ts';
import { afterInput } from '../clock.ts';
import { confirmDelete } from '../choosing/confirm-delete.ts';
import { fateOf, leaveOnSignals, unlessInterrupted } from '../ending/leaving.ts';
import { liveOptions, liveSource } from '../streams/live.ts';
import type { Several } from '../streams/live-run.ts';
import type { FoundPod } from '../choosing/pod-checks.ts';
import { sayingThrough, warnOn, type Ports } from '../ports.ts';
import type { Stage } from '../../output/view.ts';
import { run } from '../run.ts';
import { exitCodeIfIgnored, inSession, type Session } from '../session.ts';
import type { Target } from '../choosing/target.ts';
import type { TraceOptions } from '../trace-options.ts';
import { firstTrace } from '../traces/traces.ts';
import { tracesOfLog } from '../traces/traces-of-log.ts';

type OnePodOptions = TraceOptions & { target: Target };

/** Returns the exit code. Throws PodexitError if the pod cannot be traced. */
export const traceOnePod = (options: OnePodOptions, ports: Ports): Promise<number> =>
  inSession(options, ports, choosePodAndTrace).catch((error: unknown) => exitCodeIfIgnored(error, options));

async function choosePodAndTrace(session: Session, options: OnePodOptions): Promise<number> {
  const found = await unlessInterrupted(session.ports, (left) => findPod(session, options, left));
  // The answer applies to the pod in the question, not to a later pod of the same name.
  const pod = await confirmDelete(session, options, found);
  if (!pod) return 0;
  if (!options.once) return traceToReport(session, pod, options);
  const { deleteOnce } = await import('../deleting/delete-once.ts');
  return deleteOnce(session, pod, { ...options, ...options.once });
}

/** A pod's name needs no request, and not the code that chooses a pod. Throws what resolveTarget throws. */
async function findPod(session: Session, { target, pick }: OnePodOptions, left: AbortSignal): Promise<FoundPod> {
  if (target.kind === 'pod') return { name: target.name };
  return (await import('../choosing/choose-pod.ts')).resolveTarget(session, { target, pick, left });
}

/** The one pod of a run: the pod that was found, or the first of several that terminates. */
interface Subject extends FoundPod {
  several?: Several;
  /** Which of several terminating pods is traced. */
  wants?(pod: Pod): boolean;
  /** Any of these signals ends the wait for the pod. */
  cancelOn?: readonly AbortSignal[];
  /** `attach.not-started` (exit 3). */
  notStarted?(): PodexitError;
}

/** Traces one pod to its end. Returns the exit code. */
export async function traceToReport(session: Session, subject: Subject, options: TraceOptions): Promise<number> {
  const { cluster, ports } = session;
  // Before the screen is used: an unwritable file is an error, and nothing has begun.
  const recorder = await recorderOf(options, ports, (message) => warn(message));
  let stage: Stage | undefined;
  const warn = warnOn(sayingThrough((text) => stage?.say(text), ports));
  const { name, uid, several, cancelOn = [] } = subject;
  const traces = tracesOfLog(subject.wants);
  const live = liveSource({ ...liveOptions(session, options), name, uid, several, warn });
  for (const signal of cancelOn) signal.addEventListener('abort', live.finish, { once: true });
  let interruptedBy: Interrupted['signal'] | undefined;
  const stopListening = leaveOnSignals(ports, (signal) => {
    interruptedBy = signal;
    const trace = firstTrace(traces);
    const pod = several ? trace?.pod?.value.metadata.name : name;
    if (pod !== undefined && signal !== 'SIGPIPE')
      warn(`${signal}: ${fateOf(live.progressOf(trace), { ...cluster, name: pod })}`);
    live.interrupt(signal);
  });
  try {
    stage = await stageFor(options, ports);
    await run({
      source: live.source,
      logText: options.logText || options.format.kind === 'live',
      traces,
      record: recorder?.write,
      audience: stage,
      afterInput,
      onTrace: (now, ofPod) => {
        live.onTrace(now, ofPod);
        if (now.gone) afterInput(() => void loadFinish().catch(() => undefined));
      },
    });
    const trace = firstTrace(traces);
    if (!trace) return withoutPod(interruptedBy, subject);
    const { finish, incompleteRecordingCode, missingReplacementText } = await loadFinish();
    const notReplaced = missingReplacementText(trace);
    if (notReplaced !== undefined) warn(notReplaced);
    const codes = [recorder?.failure ? incompleteRecordingCode : 0, notReplaced === undefined ? 0 : exitCodes.stuck];
    return await finish(trace, options, stage, ports, codes);
  } finally {
    live.stop();
    stopListening();
    stage?.close();
    recorder?.close();
  }
}

/** Throws `record.unwritable`. */
async function recorderOf({ record, logText }: TraceOptions, ports: Ports, warn: (message: string) => void) {
  if (record === undefined) return undefined;
  return (await import('../recorder.ts')).recorderFor(record, logText, ports, warn);
}

/** With probes the output opens at once: they are shown from their first request on. */
async function stageFor({ format, look, probes = [] }: TraceOptions, ports: Ports): Promise<Stage> {
  const open = () => openStage(format, look, ports);
  return probes.length > 0 ? await open() : openOnDeletion(open);
}

/** Called first when the pod is gone, while the last facts arrive; loading it earlier would delay marks. */
const loadFinish = () => import('./finish.ts');

/** No pod began to terminate. Throws `run.left` if a signal ended the wait, else the subject's error. */
function withoutPod(signal: Interrupted['signal'] | undefined, { notStarted }: Subject): number {
  if (signal === 'SIGPIPE') return signalCodes.SIGPIPE;
  if (signal)
    throw new PodexitError('run.left', `${signal}: interrupted before a pod terminated`, 'Nothing was deleted.', {
      exitCode: signalCodes[signal],
    });
  throw notStarted?.() ?? new Error('the run has no trace');
}
