/** Traces one pod: it is found, its deletion is asked about, and it is traced to its report. */
import type { Interrupted, Observation } from '../../model/observation.ts';
import type { Trace } from '../../model/trace.ts';
import { exitCodes, signalCodes } from '../../verdict/policy.ts';
import { type Stage } from '../../output/view.ts';
import { openStage } from '../../output/stage.ts';
import { confirmDelete } from '../choosing/confirm-delete.ts';
import { briefFate, fateOf, leftBy, unlessInterrupted } from '../ending/leaving.ts';
import type { TraceOptions } from '../options.ts';
import { sayingThrough, warnOn, type Ports } from '../ports.ts';
import { newestOf, type Step } from '../run.ts';
import { failedCode, inSession, isIgnored, type Session } from '../session.ts';
import { firstTrace, tracesOfLog } from '../traces/traces.ts';
import { groupOfOne, type FoundPod } from './group.ts';
import { runLive, type TracedPod } from './run-live.ts';

/** Returns the exit code. Throws PodexitError if the pod cannot be traced. */
export const traceOnePod = (options: Exclude<TraceOptions, { pods: 'all' }>, ports: Ports): Promise<number> =>
  inSession(options, ports, async (session, one) => {
    if (one.pods === 'one') return tracePod(session, one);
    const { nextPod } = await import('../choosing/choose-pod.ts');
    return traceToReport(session, await nextPod(session, one), one);
  }).catch((error: unknown) => {
    if (!isIgnored(error, options)) throw error;
    return 0;
  });

/** Throws what resolveTarget throws. */
async function tracePod(session: Session, options: Extract<TraceOptions, { pods: 'one' }>): Promise<number> {
  const { target, pick } = options;
  // A pod's name needs no request, and not the code that chooses a pod.
  const found = await unlessInterrupted(session.ports, async (left): Promise<FoundPod> => {
    if (target.kind === 'pod') return { name: target.name };
    return (await import('../choosing/choose-pod.ts')).resolveTarget(session, { target, pick, left });
  });
  // The answer applies to the pod in the question, not to a later pod of the same name.
  const [pod] = await confirmDelete(session, options, [found]);
  if (!pod) return 0;
  if (!options.once) return traceToReport(session, { group: groupOfOne(session.cluster.namespace, pod) }, options);
  const { deleteOnce } = await import('../deleting/delete-once.ts');
  return deleteOnce(session, pod, { ...options, ...options.once });
}

/** Traces one pod to its end. Returns the exit code. */
async function traceToReport(session: Session, subject: TracedPod, options: TraceOptions): Promise<number> {
  const { cluster, ports: terminal } = session;
  const { group } = subject;
  const { format, look, probes = [] } = options;
  const open = (): Promise<Stage> => openStage(format, look, terminal);
  // With probes the output opens at once: they are shown from their first request on.
  const stage = probes.length > 0 ? await open() : openOnDeletion(open);
  const ports = sayingThrough(stage.say, terminal);
  const warn = warnOn(ports);
  const traces = tracesOfLog(subject.wants);
  try {
    return await runLive({ ...session, ports }, options, {
      ...subject,
      traces,
      audience: { step: (...step) => void (stage.step(...step), step[0].gone && loadFinish().catch(() => undefined)) },
      onSignal(signal, live) {
        const trace = firstTrace(traces);
        const name = group.isOne ? group.named?.[0]?.name : trace?.pod?.value.metadata.name;
        if (name === undefined || signal === 'SIGPIPE') return;
        const progress = live.progressOf(trace);
        warn(
          `${signal}: ${look.isDemo ? briefFate(progress, `pod "${name}"`) : fateOf(progress, { ...cluster, name })}`,
        );
      },
      async end({ isRecorded, interruptedBy }) {
        const trace = firstTrace(traces);
        if (!trace) return withoutPod(interruptedBy, subject);
        const { finish, missingReplacementText } = await loadFinish();
        const notReplaced = missingReplacementText(trace);
        if (notReplaced !== undefined) warn(notReplaced);
        const codes = [isRecorded ? 0 : failedCode, notReplaced === undefined ? 0 : exitCodes.stuck];
        return finish(trace, options, stage, terminal, codes);
      },
    });
  } finally {
    subject.close?.();
    stage.close();
  }
}

/** Called first when the pod is gone, while the last facts arrive; loading it earlier would delay marks. */
const loadFinish = () => import('./finish.ts');

/** No pod began to terminate. Throws `run.left` if a signal ended the wait, else the subject's error. */
function withoutPod(signal: Interrupted['signal'] | undefined, { notStarted }: TracedPod): number {
  if (signal === 'SIGPIPE') return signalCodes.SIGPIPE;
  if (signal) throw leftBy(signal, 'interrupted before a pod terminated');
  throw notStarted?.() ?? new Error('the run has no trace');
}

/**
 * Opens the stage when there is something to show, because loading it earlier would delay the DELETE. Until then the
 * run only lists what exists: the newest trace and all log lines are kept, and shown in order once the stage is open.
 */
export function openOnDeletion(open: () => Promise<Stage>): Stage {
  let heldSteps: Step[] = [];
  let stage: Stage | undefined;
  let opening: Promise<Stage> | undefined;
  let isClosed = false;
  const opened = (): Promise<Stage> =>
    (opening ??= open().then((loaded) => {
      stage = loaded;
      if (isClosed) loaded.close();
      else heldSteps.forEach((step) => loaded.step(...step));
      return loaded;
    }));
  return {
    step: (trace, observation, key) => {
      if (stage) return stage.step(trace, observation, key);
      heldSteps = newestOf([...heldSteps, [trace, observation, key]]);
      // `end` throws the error.
      if (isWorthShowing(trace, observation)) void opened().catch(() => undefined);
    },
    end: async (report) => (await opened()).end(report),
    say: (text) => stage?.say(text) ?? false,
    close: () => {
      isClosed = true;
      stage?.close();
    },
  };
}

/** True from the DELETE on: the stage loads while the server handles it, in time for the first marks. */
const isWorthShowing = ({ deletion, began }: Trace, { kind }: Observation): boolean =>
  deletion !== undefined ||
  began?.value.mode !== 'delete' ||
  kind === 'requested' ||
  kind === 'gap' ||
  kind === 'refused';
