/** Traces one pod of a cluster: connects, runs the live source through the loop, shows and records it. */
import type { Cluster } from '../kube/cluster.ts';
import type { ConnectOptions } from '../kube/connect-options.ts';
import { PodexitError } from '../errors.ts';
import { forTerminal } from '../render/safe-text.ts';
import type { Mode } from '../model/observation.ts';
import { worstCode } from '../verdict/exit-code.ts';
import type { ProbeSettings } from '../probe/settings.ts';
import type { Policy } from '../verdict/judge.ts';
import type { LookOptions } from './audience.ts';
import { openStage } from './audience.ts';
import { advisingSameCluster, connectCluster } from './connected.ts';
import type { Deadline } from './deadline.ts';
import { createDeadline, unlessLate } from './deadline.ts';
import { assertDistinct } from './distinct-files.ts';
import { finish } from './finish.ts';
import type { Format } from './formats.ts';
import { leaveOnSignals, unlessLeft } from './leaving.ts';
import type { FoundPod } from './found-pod.ts';
import { liveSource } from './live.ts';
import { readToDelete } from './pod-checks.ts';
import type { Ports } from './ports.ts';
import type { Publish } from './publish.ts';
import { rehearsing } from './rehearsal.ts';
import { recorderFor } from './recording-file.ts';
import type { ReportFile } from './report-files.ts';
import { assertRecordable, assertWritable } from './report-files.ts';
import { resolveTarget, unread } from './resolve-target.ts';
import { run } from './run.ts';
import type { Pick, Target } from './target.ts';
import { notReplaced, unreplaced } from './unreplaced.ts';

export interface TraceOptions {
  connection: ConnectOptions;
  target: Target;
  /** Which pod, where the target has several. */
  pick?: Pick;
  ignoreNotFound: boolean;
  /** Ask before anything is deleted. */
  interactive: boolean;
  /** Delete and trace nothing: --dry-run, --wait=false. */
  once?: { dryRun: 'none' | 'client' | 'server'; nameOnly: boolean };
  mode: Exclude<Mode, 'check'>;
  graceSeconds: number | null;
  /** A grace flag was given. */
  insist: boolean;
  /** ms; null: never; absent: never at a terminal, else effective grace + 120 s. */
  timeoutMs?: number | null;
  waitReplacement: boolean;
  /** Requests that are sent meanwhile. */
  probes?: readonly ProbeSettings[];
  retryEvict: boolean;
  followLogs: boolean;
  /** Show and record the text of log lines. */
  logText: boolean;
  format: Format;
  look: LookOptions;
  record?: string;
  reports: readonly ReportFile[];
  policy: Policy;
  publish: Publish;
  verbosity: number;
}

/** What tracing one pod needs, whoever chose it. */
export type ExitOptions = Omit<
  TraceOptions,
  'connection' | 'target' | 'pick' | 'ignoreNotFound' | 'interactive' | 'once'
>;

/** The exit code. Throws PodexitError where the work could not be done. */
export async function tracePod(options: TraceOptions, ports: Ports): Promise<number> {
  const { record, reports } = options;
  if (record !== undefined) assertDistinct({ file: record, what: '--record' }, reports);
  await assertRecordable(record);
  await assertWritable(reports);
  const cluster = await connectCluster(options.connection, ports, options.verbosity);
  const deadline = createDeadline(ports.clock, options.timeoutMs ?? null);
  try {
    return await onCluster(cluster, advisingSameCluster(options), deadline, ports);
  } catch (error) {
    // kubectl's --ignore-not-found is about the object, never about its namespace or its rights; it says nothing then,
    // under no -o, and so nothing is said here: a script tells it by an empty stdout.
    const missing = error instanceof PodexitError && notFound.has(error.code);
    if (options.ignoreNotFound && missing) return 0;
    throw error;
  } finally {
    deadline.cancel();
    cluster.close();
  }
}

/** `pod.gone`: as its deletion was asked for. */
const notFound: ReadonlySet<string> = new Set(['pod.not-found', 'target.no-pods', 'target.not-found', 'pod.gone']);

async function onCluster(cluster: Cluster, options: TraceOptions, deadline: Deadline, ports: Ports): Promise<number> {
  const found = await unlessLeft(ports, (left) => resolveTarget(cluster, { ...options, deadline, left }, ports));
  // A yes is about the pod that the question named, not about whoever has its name by then.
  const pod = options.interactive ? await unlessLeft(ports, () => identified(cluster, found, deadline)) : found;
  const ask = (left: AbortSignal): Promise<boolean> =>
    deadline.unhurried(() => agreed(pod.name, cluster.namespace, ports, left));
  if (options.interactive && !(await unlessLeft(ports, ask))) return cancelled(ports);
  if (!options.once) return traceOne(cluster, pod, options, deadline, ports);
  const { deleteOnce } = await import('./delete-once.ts');
  return deleteOnce({ ...options, ...options.once, cluster, ...pod, evict: options.mode === 'evict', deadline }, ports);
}

const identified = async (cluster: Cluster, found: FoundPod, deadline: Deadline): Promise<FoundPod> => ({
  ...found,
  uid: (await unlessLate(deadline, readToDelete(cluster, found), () => unread(cluster, `pod/${found.name}`))).uid,
});

/** kubectl's question, on stderr since stdout may be read by a program. */
async function agreed(name: string, namespace: string, { ask }: Ports, left: AbortSignal): Promise<boolean> {
  const answer = await ask?.(
    `pod "${forTerminal(name)}" in namespace "${forTerminal(namespace)}" will be deleted\nDo you want to continue? (y/N): `,
    left,
  );
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** kubectl's words and exit code, but on stderr: nothing happened, so there is no report, and stdout stays empty. */
function cancelled({ stderr }: Ports): number {
  stderr.write('podexit: deletion is cancelled\n');
  return 0;
}

/** Traces one pod to its end. The exit code. */
async function traceOne(
  cluster: Cluster,
  pod: FoundPod,
  options: ExitOptions,
  { until }: Deadline,
  ports: Ports,
): Promise<number> {
  // Before the screen is taken: a file that cannot be written is an error, and nothing has begun.
  const recorder = recorderFor(options.record, options.logText, ports, (message) => warn(message));
  const stage = await openStage(options.format, options.look, ports);
  const warn = (message: string): void => {
    const line = `podexit: ${forTerminal(message, 2000)}\n`;
    if (!stage.say(line)) ports.stderr.write(line);
  };
  const live = liveSource({
    cluster,
    clock: ports.clock,
    namespace: cluster.namespace,
    ...pod,
    mode: options.mode,
    graceSeconds: options.graceSeconds,
    insist: options.insist,
    timeoutMs: options.timeoutMs === undefined ? (ports.stdout.isTty ? null : 'by-grace') : options.timeoutMs,
    until,
    waitReplacement: options.waitReplacement,
    followLogs: options.followLogs,
    retryEvict: options.retryEvict,
    probes: options.probes,
    userAgent: `kubectl-podexit/${ports.version}`,
    warn,
  });
  const stopListening = leaveOnSignals(ports, live, warn, { ...cluster, name: pod.name });
  try {
    const trace = await run({
      source: live.sightings,
      logText: options.logText,
      record: recorder.write,
      audience: rehearsing(stage, ports),
      onTrace: live.onTrace,
    });
    const late = unreplaced(trace);
    if (late !== undefined) warn(late);
    const code = await finish(trace, options, stage, ports, recorder.failure !== undefined);
    return worstCode([code, ...(late === undefined ? [] : [notReplaced])]);
  } finally {
    live.stop();
    stopListening();
    stage.close();
    recorder.close();
  }
}
