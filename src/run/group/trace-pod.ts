/** Traces the pods of a command. One pod is found, its deletion is asked about, and it is traced to its report. */
import { PodexitError } from '../../errors.ts';
import type { Interrupted } from '../../model/observation.ts';
import { exitCodes, signalCodes } from '../../verdict/exit-code.ts';
import { openStage } from '../../output/stage.ts';
import { openOnDeletion } from '../audience.ts';
import { confirmDelete } from '../choosing/confirm-delete.ts';
import { afterInput } from '../clock.ts';
import { fateOf, unlessInterrupted } from '../ending/leaving.ts';
import type { TraceOptions } from '../options.ts';
import { sayingThrough, warnOn, type Ports } from '../ports.ts';
import type { Stage } from '../../output/view.ts';
import { exitCodeIfIgnored, inSession, type Session } from '../session.ts';
import { firstTrace } from '../traces/traces.ts';
import { tracesOfLog } from '../traces/traces-of-log.ts';
import { groupOfOne, type FoundPod, type Subject } from './group.ts';
import { runLive } from './run-live.ts';

/** Returns the exit code; of several pods the worst. Throws PodexitError if the pods cannot be traced. */
export async function tracePods(options: TraceOptions, ports: Ports): Promise<number> {
  if (options.pods === 'all') return (await import('./trace-several.ts')).traceSeveral(options, ports);
  return inSession(options, ports, async (session, one) => {
    if (one.pods === 'one') return tracePod(session, one);
    const subject = await (await import('./next-pod.ts')).nextPod(session, one);
    return traceToReport(session, subject, one);
  }).catch((error: unknown) => exitCodeIfIgnored(error, options));
}

type OnePodOptions = Extract<TraceOptions, { pods: 'one' }>;

async function tracePod(session: Session, options: OnePodOptions): Promise<number> {
  const found = await unlessInterrupted(session.ports, (left) => findPod(session, options, left));
  // The answer applies to the pod in the question, not to a later pod of the same name.
  const [pod] = await confirmDelete(session, options, [found]);
  if (!pod) return 0;
  if (!options.once) return traceToReport(session, { group: groupOfOne(session.cluster.namespace, pod) }, options);
  const { deleteOnce } = await import('../deleting/delete-once.ts');
  return deleteOnce(session, pod, { ...options, ...options.once });
}

/** A pod's name needs no request, and not the code that chooses a pod. Throws what resolveTarget throws. */
async function findPod(session: Session, { target, pick }: OnePodOptions, left: AbortSignal): Promise<FoundPod> {
  if (target.kind === 'pod') return { name: target.name };
  return (await import('../choosing/choose-pod.ts')).resolveTarget(session, { target, pick, left });
}

/** Traces one pod to its end. Returns the exit code. */
async function traceToReport(session: Session, subject: Subject, options: TraceOptions): Promise<number> {
  const { cluster, ports: terminal } = session;
  const { group } = subject;
  const stage = await stageFor(options, terminal);
  const ports = sayingThrough(stage.say, terminal);
  const warn = warnOn(ports);
  const traces = tracesOfLog(subject.wants);
  try {
    return await runLive({ ...session, ports }, options, {
      ...subject,
      traces,
      logText: options.logText || options.format.kind === 'live',
      audience: stage,
      onTrace: ({ gone }) => void (gone && afterInput(() => void loadFinish().catch(() => undefined))),
      onSignal(signal, live) {
        const trace = firstTrace(traces);
        const name = group.isOne ? group.named?.[0]?.name : trace?.pod?.value.metadata.name;
        if (name !== undefined && signal !== 'SIGPIPE')
          warn(`${signal}: ${fateOf(live.progressOf(trace), { ...cluster, name })}`);
      },
      async end({ isRecorded, interruptedBy }) {
        const trace = firstTrace(traces);
        if (!trace) return withoutPod(interruptedBy, subject);
        const { finish, incompleteRecordingCode, missingReplacementText } = await loadFinish();
        const notReplaced = missingReplacementText(trace);
        if (notReplaced !== undefined) warn(notReplaced);
        const codes = [isRecorded ? 0 : incompleteRecordingCode, notReplaced === undefined ? 0 : exitCodes.stuck];
        return finish(trace, options, stage, terminal, codes);
      },
    });
  } finally {
    subject.close?.();
    stage.close();
  }
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
