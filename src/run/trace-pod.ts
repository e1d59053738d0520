/** Traces one pod of a cluster: connects, runs the live source through the main loop, shows and records the trace. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import { advisingSameCluster, connectCluster, type Ports } from './ports.ts';
import { confirmDelete } from './confirm-delete.ts';
import { createDeadline, createWaitingLimit, type Deadline } from './time-limit.ts';
import { assertOutputs, recorderFor } from './writable.ts';
import { leaveOnSignals, unlessInterrupted, fateOf } from './leaving.ts';
import type { ExitOptions, TraceOptions } from './trace-options.ts';
import { resolveTarget, scopeInTime } from './choose-pod.ts';
import type { SeveralTarget, Target } from './target.ts';
import type { Interrupted } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import { forTerminal } from '../render/safe-text.ts';
import { signalCodes, worstCode } from '../verdict/exit-code.ts';
import { openOnDeletion, openStage } from './audience.ts';
import { afterInput } from './clock.ts';
import type { FoundPod } from './pod-checks.ts';
import { liveOptions, liveSource } from './live.ts';
import type { Several } from './live-run.ts';
import { run, type Stage } from './run.ts';
import { createTraces, onePod } from './traces.ts';
import { missedText } from './several.ts';

/** Returns the exit code. Throws PodexitError if the pod cannot be traced. */
export async function traceOnePod(options: TraceOptions & { target: Target }, ports: Ports): Promise<number> {
  await assertOutputs(options);
  const cluster = await connectCluster(options.connection, ports, options.verbosity);
  const deadline = createDeadline(ports.clock, options.timeoutMs ?? null);
  try {
    return await choosePodAndTrace(cluster, advisingSameCluster(options), deadline, ports);
  } catch (error) {
    // Like kubectl's, --ignore-not-found covers the object, not its namespace or missing permissions, and prints
    // nothing in any -o format: a script sees an empty stdout.
    const missing = error instanceof PodexitError && notFound.has(error.code);
    if (options.ignoreNotFound && missing) return 0;
    throw error;
  } finally {
    deadline.cancel();
    cluster.close();
  }
}

/** `pod.gone`: gone when the DELETE arrived. */
const notFound: ReadonlySet<string> = new Set(['pod.not-found', 'target.no-pods', 'target.not-found', 'pod.gone']);

async function choosePodAndTrace(
  cluster: Cluster,
  options: TraceOptions & { target: Target },
  deadline: Deadline,
  ports: Ports,
): Promise<number> {
  const { target } = options;
  if (target.kind !== 'pod' && options.mode === 'attach' && options.pick === undefined && !options.once)
    return traceNextPod(cluster, { ...options, target }, deadline, ports);
  const found = await unlessInterrupted(ports, (left) => resolveTarget(cluster, { ...options, deadline, left }, ports));
  // The answer applies to the pod in the question, not to a later pod of the same name.
  const pod = await confirmDelete(cluster, options, found, deadline, ports);
  if (!pod) return 0;
  if (!options.once)
    return traceToReport(cluster, { ...pod, key: () => onePod, cancelOn: [] }, options, deadline, ports);
  const { deleteOnce } = await import('./delete-once.ts');
  return deleteOnce({ ...options, ...options.once, ...pod, cluster, deadline }, ports);
}

/** The one pod of a run: the pod that was found, or the first of several that terminates. */
interface Subject extends FoundPod {
  /** Key of the pod's trace; '' until the pod is known. */
  key(): string;
  several?: Several;
  /** Any of these signals ends the wait for the pod. */
  cancelOn: readonly AbortSignal[];
  /** `attach.not-started` (exit 3). */
  notStarted?(): PodexitError;
}

/** Traces one pod to its end. Returns the exit code. */
async function traceToReport(
  cluster: Cluster,
  subject: Subject,
  options: ExitOptions,
  deadline: Deadline,
  ports: Ports,
): Promise<number> {
  // Before the screen is used: an unwritable file is an error, and nothing has begun.
  const recorder = recorderFor(options.record, options.logText, ports, (message) => warn(message));
  let stage: Stage | undefined;
  const warn = (message: string): void => {
    const line = `podexit: ${forTerminal(message, 2000)}\n`;
    if (!stage?.say(line)) ports.stderr.write(line);
  };
  const { name, uid, several, key } = subject;
  const live = liveSource({ ...liveOptions(cluster, options, deadline, ports), name, uid, several, warn });
  const traces = createTraces(({ metadata }) => metadata.uid === key());
  const traced = (): Trace | undefined => traces.get(key());
  for (const signal of subject.cancelOn) signal.addEventListener('abort', live.finish, { once: true });
  let interruptedBy: Interrupted['signal'] | undefined;
  const stopListening = leaveOnSignals(ports, (signal) => {
    interruptedBy = signal;
    const pod = several ? traced()?.pod?.value.metadata.name : name;
    if (pod !== undefined && signal !== 'SIGPIPE')
      warn(`${signal}: ${fateOf(live.progressOf(key()), { ...cluster, name: pod })}`);
    live.interrupt(signal);
  });
  try {
    stage = await stageFor(options, ports);
    await run({
      source: live.source,
      logText: options.logText || options.format.kind === 'live',
      traces,
      record: recorder.write,
      audience: stage,
      afterInput,
      onTrace: (now, ofPod) => {
        live.onTrace(now, ofPod);
        if (now.gone) afterInput(() => void loadFinish().catch(() => undefined));
      },
    });
    const trace = traced();
    if (!trace) return withoutPod(interruptedBy, subject);
    const { finish, missingReplacementText, notReplacedCode } = await loadFinish();
    const notReplaced = missingReplacementText(trace);
    if (notReplaced !== undefined) warn(notReplaced);
    const code = await finish(trace, options, stage, ports, recorder.failure !== undefined);
    return worstCode([code, ...(notReplaced === undefined ? [] : [notReplacedCode])]);
  } finally {
    live.stop();
    stopListening();
    stage?.close();
    recorder.close();
  }
}

/** With probes the output opens at once: they are shown from their first request on. */
async function stageFor({ format, look, probes = [] }: ExitOptions, ports: Ports): Promise<Stage> {
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

/** Waits for a workload's next terminating pod and traces it. Throws `attach.not-started`, and what scopeOf throws. */
async function traceNextPod(
  cluster: Cluster,
  options: TraceOptions & { target: SeveralTarget },
  deadline: Deadline,
  ports: Ports,
): Promise<number> {
  const { clock, stdout, stderr } = ports;
  const warn = (message: string): void => void stderr.write(`podexit: ${message}\n`);
  const scoping = { ignoreNotFound: false, warn };
  const limit = createWaitingLimit({ clock, timeoutMs: options.timeoutMs, stdout });
  const over = new AbortController();
  let uid: string | undefined;
  try {
    const scope = await unlessInterrupted(ports, () => scopeInTime(cluster, options.target, deadline, scoping));
    warn(`waiting for the next terminating pod of ${scope.target}`);
    const several: Several = {
      ...scope,
      isNext: true,
      shouldTrace(one) {
        limit.cancel();
        return (uid ??= one) === one;
      },
      ended: () => over.abort(),
      listener: {
        seen: (_uid, pod) => void (pod && limit.podSeen(pod)),
        missed: (pod, why) => void (limit.restart(), stderr.write(missedText(pod, why))),
        listed: limit.listed,
      },
    };
    const notStarted = (): PodexitError =>
      new PodexitError(
        'attach.not-started',
        `no pod of ${scope.target} in namespace "${cluster.namespace}" was being deleted within ${limit.signal.aborted ? limit.text() : '--timeout'}`,
        'Start the rollout or the deletion while this waits, or wait longer: --timeout 0 waits forever.',
        { exitCode: 3 },
      );
    const cancelOn = [over.signal, deadline.signal, limit.signal];
    const subject: Subject = { name: '', key: () => uid ?? '', several, cancelOn, notStarted };
    return await traceToReport(cluster, subject, options, deadline, ports);
  } finally {
    limit.cancel();
  }
}
