/** `--all-terminating`: traces every pod of a target that terminates, until its rollout is done. */
import type { Cluster } from '../cluster/cluster.ts';
import { PodexitError } from '../errors.ts';
import { forTerminal } from '../render/safe-text.ts';
import type { Interrupted } from '../trace/observation.ts';
import type { ExitReport } from '../trace/report.ts';
import type { Trace } from '../trace/trace.ts';
import { headerOf } from '../trace/view/header.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import { reportOf } from '../verdict/report.ts';
import { summaryOf } from '../verdict/rollout.ts';
import type { PodSelector } from './candidates.ts';
import { advisingSameCluster, connectCluster } from './connected.ts';
import type { Deadline } from './deadline.ts';
import { createDeadline } from './deadline.ts';
import { assertDistinct } from './distinct-files.ts';
import { listenAhead } from './foregoing.ts';
import type { Live } from './live.ts';
import { liveSource } from './live.ts';
import type { TerminatingPod } from './next-terminating.ts';
import { terminatingPods } from './next-terminating.ts';
import type { Ports } from './ports.ts';
import { publish } from './publish.ts';
import { recorderAnyway } from './recording-file.ts';
import { assertRecordable, assertWritable, finishFiles, ownFile, ownNames } from './report-files.ts';
import { selectorInTime } from './resolve-target.ts';
import { ownersOf, watchOwner } from './rollout-owners.ts';
import type { Several } from './rollout-owners.ts';
import type { RolloutOutput } from './rollout-output.ts';
import { rolloutOutput } from './rollout-output.ts';
import type { Progress } from './rollout-progress.ts';
import { createProgress } from './rollout-progress.ts';
import { run } from './run.ts';
import { targetText } from './target.ts';
import type { ExitOptions, TraceOptions } from './trace-pod.ts';

/** A run of `--all-terminating` from its first watch to its summary. */
interface Rollout {
  readonly cluster: Cluster;
  readonly options: ExitOptions;
  readonly ports: Ports;
  readonly deadline: Deadline;
  readonly output: RolloutOutput;
  /** Aborted when no further pod is wanted; those that are being traced go on to their end. */
  readonly stop: AbortController;
  readonly progress: Progress;
  readonly lives: Set<Live>;
  /** Of each pod that was seen to terminate. */
  readonly traces: Promise<void>[];
  readonly reports: ExitReport[];
  /** Files of a pod are named after it. */
  readonly nameOf: (pod: { name: string; uid: string }) => string;
  /** Exit codes of all that is no report: files that could not be written, traces that failed, a signal. */
  readonly codes: number[];
}

/** The exit code: the worst of all pods'. Throws PodexitError where the target cannot be read. */
export async function traceRollout(options: TraceOptions & { target: Several }, ports: Ports): Promise<number> {
  const { record, reports } = options;
  if (record !== undefined) assertDistinct({ file: record, what: '--record' }, reports);
  await assertRecordable(record);
  await assertWritable(reports);
  const output = rolloutOutput(advisingSameCluster(options), ports);
  const cluster = await connectCluster(options.connection, ports, options.verbosity);
  const deadline = createDeadline(ports.clock, options.timeoutMs ?? null);
  try {
    const selector = await selectorInTime(cluster, options.target, deadline);
    const [stop, lives] = [new AbortController(), new Set<Live>()];
    const progress = createProgress(
      () => lives.size,
      (owners) =>
        ports.stderr.write(
          `podexit: no pod is terminating now; waiting until ${forTerminal(owners.join(', '), 2000)} has rolled out\n`,
        ),
    );
    const rollout = {
      cluster,
      options,
      ports,
      deadline,
      output,
      stop,
      progress,
      lives,
      traces: [],
      reports: [],
      nameOf: ownNames(),
      codes: [],
    };
    return await follow(rollout, options.target, selector);
  } finally {
    deadline.cancel();
    cluster.close();
  }
}

/** What was traced is told also where the watching fails half-way; the error comes after it. */
async function follow(rollout: Rollout, target: Several, selector: PodSelector): Promise<number> {
  const { ports, stop, deadline, progress, traces, reports, codes, output } = rollout;
  const what = targetText(target);
  deadline.signal.addEventListener('abort', () => stop.abort(), { once: true });
  const deaf = leaveAllOnSignals(rollout);
  ports.stderr.write(`podexit: tracing every terminating pod of ${what}\n`);
  const failures = await failuresOf([untilDone(rollout, target, selector)]);
  stop.abort();
  failures.push(...(await failuresOf(traces)));
  deaf();
  if (reports.length === 0) {
    if (failures.length > 0) throw failures[0];
    const seen =
      traces.length > 0
        ? `what terminated of ${forTerminal(what)} could not be traced`
        : `no pod of ${forTerminal(what)} was seen to terminate: start the rollout while this waits, or wait longer (--timeout)`;
    if (codes.length === 0) ports.stderr.write(`podexit: ${seen}\n`);
    codes.push(notOver);
  } else if (deadline.signal.aborted && progress.pending().length > 0) {
    const owners = forTerminal(progress.pending().join(', '), 2000);
    ports.stderr.write(`podexit: gave up at --timeout: ${owners} had not rolled out\n`);
    codes.push(notOver);
  }
  const summary = summaryOf(what, reports, codes);
  await output.end(reports, summary);
  if (failures.length > 0) throw failures[0];
  return summary.exitCode;
}

/** Exit code where no pod was seen to end, or a rollout was not done: still there at --timeout. */
const notOver = 3;
/** Exit code where a recording is incomplete, or a pod could not be traced. */
const notDone = 1;

async function failuresOf(works: readonly Promise<unknown>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(works);
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
}

/** The first signal ends every trace with its report so far, a second one leaves at once. Returns how to stop listening. */
function leaveAllOnSignals({ ports, lives, stop, codes }: Rollout): () => void {
  let left = false;
  const leave = (signal: Interrupted['signal']): void => {
    if (left) return ports.leave(signalCodes[signal]);
    left = true;
    codes.push(signalCodes[signal]);
    lives.forEach((live) => live.interrupt(signal));
    stop.abort();
  };
  void ports.stdout.closed.then(() => void (left || leave('SIGPIPE')));
  return ports.onSignal(leave);
}

/** Until the rollout is done and quiet, or nothing more can be heard of its pods. */
async function untilDone(rollout: Rollout, target: Several, selector: PodSelector): Promise<void> {
  const { cluster, progress, stop } = rollout;
  const owners = ownersOf(cluster, target, selector).then((paths) =>
    Promise.all(paths.map((path) => watchOwner(cluster, path, progress, stop.signal))),
  );
  const pods = tracePods(rollout, selector);
  await Promise.race([progress.untilOver(cluster.surroundings, stop.signal), pods, owners.then(() => pods)]);
}

async function tracePods(rollout: Rollout, selector: PodSelector): Promise<void> {
  const { cluster, progress, stop, traces } = rollout;
  const ahead = listenAhead(cluster, selector, stop.signal);
  for await (const pod of terminatingPods(cluster, selector, stop.signal, ahead, progress.podSeen)) {
    const trace = tracePod(rollout, pod);
    trace.catch(() => stop.abort());
    traces.push(trace);
  }
}

async function tracePod(rollout: Rollout, pod: TerminatingPod): Promise<void> {
  const { options, ports, output, progress, nameOf, reports, codes } = rollout;
  const trace = await traceOneOfMany(rollout, pod);
  const report = trace && reportOf(trace, options.policy);
  if (report !== undefined) {
    reports.push(report);
    await output.tell(report, trace && headerOf(trace));
    codes.push(await finishFiles(report, nameOf(pod), options.reports, ports));
    await publish(report, options.publish, options.format, ports);
  }
  progress.podTraced(pod.uid);
}

/** A pod that could not be traced because it was over. */
const goneBefore: ReadonlySet<string> = new Set(['pod.not-found', 'pod.replaced']);

/** One pod, attached to; undefined where it was gone, or had a successor, before it could be seen, or could not be traced. */
async function traceOneOfMany(
  { cluster, options, ports, lives, deadline, nameOf, codes }: Rollout,
  pod: TerminatingPod,
): Promise<Trace | undefined> {
  const { followLogs, logText, record } = options;
  const { name } = pod;
  const warn = (message: string): void =>
    ports.stderr.write(`podexit: ${forTerminal(name)}: ${forTerminal(message, 2000)}\n`);
  warn('is terminating');
  const recorder = recorderAnyway(record && ownFile(record, nameOf(pod)), logText, ports, warn);
  const live = liveSource({
    cluster,
    clock: ports.clock,
    namespace: cluster.namespace,
    ...pod,
    mode: 'attach',
    graceSeconds: null,
    insist: false,
    timeoutMs: options.timeoutMs ?? 'by-grace',
    until: deadline.until,
    waitReplacement: false,
    followLogs,
    warn,
  });
  lives.add(live);
  try {
    const source = live.sightings;
    return await run({ source, logText, record: recorder.write, onTrace: live.onTrace });
  } catch (error) {
    if (!(error instanceof PodexitError)) throw error;
    warn(error.message);
    if (!goneBefore.has(error.code)) codes.push(notDone);
    return undefined;
  } finally {
    live.stop();
    lives.delete(live);
    recorder.close();
    if (recorder.failure !== undefined) codes.push(notDone);
  }
}
