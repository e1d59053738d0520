/** The pods of `--all-terminating`: each is attached to as soon as it terminates, and reported when it is gone. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import { forTerminal } from '../render/safe-text.ts';
import type { ExitReport } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import { reportOf } from '../verdict/report.ts';
import type { PodSelector } from './candidates.ts';
import type { Deadline } from './deadline.ts';
import { listenAhead } from './foregoing.ts';
import type { Live } from './live.ts';
import { liveSource } from './live.ts';
import type { Onlooker, TerminatingPod } from './next-terminating.ts';
import { terminatingPods } from './next-terminating.ts';
import type { Ports } from './ports.ts';
import { publish } from './publish.ts';
import { recorderAnyway } from './recording-file.ts';
import { finishFiles, ownFile } from './report-files.ts';
import type { RolloutOutput } from './rollout-output.ts';
import type { Progress } from './rollout-progress.ts';
import { run } from './run.ts';
import type { ExitOptions } from './trace-pod.ts';
import { missedText } from './unseen.ts';
import type { WaitingLimit } from './waiting-limit.ts';
import { nameOf as podName, uidOf } from './watched.ts';

/** A run of `--all-terminating` from its first watch to its summary. */
export interface Rollout {
  readonly cluster: Cluster;
  readonly options: ExitOptions;
  readonly ports: Ports;
  readonly deadline: Deadline;
  readonly output: RolloutOutput;
  /** Aborted when no further pod is wanted; those that are being traced go on to their end. */
  readonly stop: AbortController;
  readonly progress: Progress;
  /** Where no --timeout was given. */
  readonly limit: WaitingLimit;
  readonly lives: Set<Live>;
  /** Of each pod that was seen to terminate. */
  readonly traces: Promise<void>[];
  readonly reports: ExitReport[];
  /** Names of those that went without a report, by uid. */
  readonly unseen: Map<string, string>;
  /** Files of a pod are named after it. */
  readonly nameOf: (pod: { name: string; uid: string }) => string;
  /** Exit codes of all that is no report: files that could not be written, traces that failed, a signal. */
  readonly codes: number[];
}

/** Until no further pod is wanted, or none can be heard of. */
export async function tracePods(rollout: Rollout, selector: PodSelector): Promise<void> {
  const { cluster, stop, traces } = rollout;
  const ahead = listenAhead(cluster, selector, stop.signal);
  for await (const pod of terminatingPods(cluster, selector, stop.signal, ahead, onlookerOf(rollout))) {
    const trace = tracePod(rollout, pod);
    trace.catch(() => stop.abort());
    traces.push(trace);
  }
}

function onlookerOf({ progress, limit, ports, unseen }: Rollout): Onlooker {
  return {
    ...progress,
    seen(uid, pod) {
      if (pod) limit.saw(pod);
      progress.seen(uid, pod);
    },
    missed(pod, why) {
      unseen.set(uidOf(pod), podName(pod));
      ports.stderr.write(missedText(pod, why));
      limit.again();
      progress.missed(pod, why);
    },
  };
}

async function tracePod(rollout: Rollout, pod: TerminatingPod): Promise<void> {
  const { options, ports, output, progress, limit, nameOf, reports, codes } = rollout;
  const trace = await traceOneOfMany(rollout, pod);
  const known = trace && reportOf(trace, options.policy);
  if (known !== undefined) {
    const report = exitReportOf(known);
    reports.push(report);
    await output.tell(known);
    codes.push(await finishFiles(known, nameOf(pod), options.reports, ports));
    await publish(known, options.publish, options.format, ports);
  }
  limit.again();
  progress.podTraced(pod.uid);
}

/** Exit code where a recording is incomplete, or a pod could not be traced. */
const notDone = 1;

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
