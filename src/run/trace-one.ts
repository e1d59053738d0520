/** One pod through the loop: shown, recorded, and concluded. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import type { Interrupted } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import { forTerminal } from '../render/safe-text.ts';
import { signalCodes, worstCode } from '../verdict/exit-code.ts';
import { openOnDeletion, openStage } from './audience.ts';
import type { Deadline } from './deadline.ts';
import type { FoundPod } from './found-pod.ts';
import { leaveOnSignals } from './leaving.ts';
import { liveSource } from './live.ts';
import type { LiveOptions, Several } from './live-run.ts';
import type { Ports } from './ports.ts';
import { recorderFor } from './recording-file.ts';
import { run } from './run.ts';
import type { ExitOptions } from './trace-options.ts';
import type { Stage } from './stage.ts';
import { createTraces, onePod } from './traces.ts';

/** The one pod of a run: as it was found, or the first that terminates of several. */
export type Subject =
  | { found: FoundPod }
  | {
      next: Several;
      /** Its uid, once there is one. */ uid(): string | undefined;
      /** Ends the waiting. */ over: AbortSignal[];
    };

/** Traces one pod to its end. The exit code. `noneCame` where no pod terminated. */
export async function traceOne(
  cluster: Cluster,
  subject: Subject,
  options: ExitOptions,
  { until }: Deadline,
  ports: Ports,
): Promise<number> {
  // Before the screen is taken: a file that cannot be written is an error, and nothing has begun.
  const recorder = recorderFor(options.record, options.logText, ports, (message) => warn(message));
  let stage: Stage | undefined;
  const warn = (message: string): void => {
    const line = `podexit: ${forTerminal(message, 2000)}\n`;
    if (!stage?.say(line)) ports.stderr.write(line);
  };
  const isNext = 'next' in subject;
  const live = liveSource(liveOptions(cluster, subject, options, until, ports, warn));
  const traces = createTraces(isNext ? ({ metadata }) => metadata.uid === subject.uid() : undefined);
  const traced = (): Trace | undefined => traces.get(isNext ? (subject.uid() ?? '') : onePod);
  if (isNext) finishOn(subject.over, live);
  const leftPod = () => {
    const name = isNext ? traced()?.pod?.value.metadata.name : subject.found.name;
    return name === undefined ? undefined : { ...cluster, name };
  };
  const late = lateParts();
  const left = { by: undefined as Interrupted['signal'] | undefined };
  const stopListening = leaveOnSignals(
    ports,
    {
      interrupt: (signal) => ((left.by = signal), live.interrupt(signal)),
      deletionProgress: () => live.progressOf(isNext ? (subject.uid() ?? '') : onePod),
    },
    warn,
    leftPod,
  );
  try {
    stage = await stageFor(options, ports);
    await run({
      source: live.sightings,
      logText: options.logText,
      traces,
      record: recorder.write,
      audience: stage,
      onTrace: (now, key) => {
        live.onTrace(now, key);
        if (now.gone) late.prepare();
      },
    });
    const trace = traced();
    if (!trace) return withoutPod(left.by);
    const { finish, unreplaced, notReplaced } = await late.loaded();
    const without = unreplaced(trace);
    if (without !== undefined) warn(without);
    const code = await finish(trace, options, stage, ports, recorder.failure !== undefined);
    return worstCode([code, ...(without === undefined ? [] : [notReplaced])]);
  } finally {
    live.stop();
    stopListening();
    stage?.close();
    recorder.close();
  }
}

/** Probes are shown from their first request on. */
async function stageFor({ format, look, probes = [] }: ExitOptions, ports: Ports): Promise<Stage> {
  const open = () => openStage(format, look, ports);
  return probes.length > 0 ? await open() : openOnDeletion(open);
}

/** What concludes and reports a trace: loaded when the pod is gone, while the last facts come in; earlier it would hold marks up. */
function lateParts() {
  const load = async () => {
    const [{ finish }, { unreplaced, notReplaced }] = await Promise.all([
      import('./finish.ts'),
      import('./unreplaced.ts'),
    ]);
    return { finish, unreplaced, notReplaced };
  };
  let parts: ReturnType<typeof load> | undefined;
  return {
    loaded: () => (parts ??= load()),
    /** An error is thrown by `loaded`. */
    prepare: () => void (parts ??= load()).catch(() => undefined),
  };
}

function liveOptions(
  cluster: Cluster,
  subject: Subject,
  options: ExitOptions,
  until: number | undefined,
  { clock, stdout, version }: Ports,
  warn: (message: string) => void,
): LiveOptions {
  const { mode, graceSeconds, insist, waitReplacement, followLogs, retryEvict } = options;
  return {
    cluster,
    clock,
    namespace: cluster.namespace,
    ...('next' in subject ? { name: '', several: subject.next } : subject.found),
    mode,
    graceSeconds,
    insist,
    timeoutMs: options.timeoutMs === undefined ? (stdout.isTty ? null : 'by-grace') : options.timeoutMs,
    until,
    waitReplacement,
    followLogs,
    retryEvict,
    probes: options.probes,
    userAgent: `kubectl-podexit/${version}`,
    warn,
  };
}

function finishOn(signals: readonly AbortSignal[], live: { finish(): void }): void {
  for (const signal of signals) signal.addEventListener('abort', live.finish, { once: true });
}

/** What stands for an exit code where no pod came in time. */
export const noneCame = -1;

/** No pod began to terminate. Throws `run.left` where a signal ended the waiting. */
function withoutPod(signal: Interrupted['signal'] | undefined): number {
  if (signal === 'SIGPIPE') return signalCodes.SIGPIPE;
  if (signal)
    throw new PodexitError('run.left', `${signal}: interrupted before a pod terminated`, 'Nothing was deleted.', {
      exitCode: signalCodes[signal],
    });
  return noneCame;
}
