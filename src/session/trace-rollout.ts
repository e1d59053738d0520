/** `--all-terminating`: traces every pod of a target that terminates, until its rollout is done. */
import type { Cluster } from '../cluster/cluster.ts';
import { passed } from '../cluster/surroundings.ts';
import { PodexitError } from '../errors.ts';
import { safeLines } from '../render/safe-text.ts';
import type { Interrupted } from '../trace/observation.ts';
import type { ExitReport } from '../trace/report.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import { reportOf } from '../verdict/report.ts';
import { summaryOf, worstCode } from '../verdict/rollout.ts';
import { podSelector } from './candidates.ts';
import { connectCluster } from './connected.ts';
import type { Live } from './live.ts';
import { liveSource } from './live.ts';
import { terminatingPods } from './next-terminating.ts';
import type { Ports } from './ports.ts';
import { publish } from './publish.ts';
import { recorderFor } from './recording-file.ts';
import { assertWritable, finishFiles, ownFile } from './report-files.ts';
import { ownersOf, watchOwner } from './rollout-owners.ts';
import type { Several } from './rollout-owners.ts';
import { rolloutOutput } from './rollout-output.ts';
import { run } from './run.ts';
import { targetText } from './target.ts';
import type { ExitOptions, TraceOptions } from './trace-pod.ts';
import { metadataOf } from './watched.ts';

/** What has been seen so far; the run is over when `isOver`. */
interface Rollout {
  /** Owners by path, and whether they are rolled out. */
  done: Map<string, boolean>;
  /** uids of pods that are terminating. */
  ending: Set<string>;
  /** Something was seen to roll out or to end: a rollout that starts after us is waited for. */
  begun: boolean;
}

/** Between two streams the later news may come first. */
const settleMs = 1000;

/** The exit code: the worst of all pods'. Throws PodexitError where the target cannot be read. */
export async function traceRollout(options: TraceOptions & { target: Several }, ports: Ports): Promise<number> {
  await assertWritable(options.reports);
  const cluster = await connectCluster(options.connection, ports, options.verbosity);
  try {
    return await follow(cluster, options, ports);
  } finally {
    cluster.close();
  }
}

async function follow(cluster: Cluster, options: TraceOptions & { target: Several }, ports: Ports): Promise<number> {
  const { target } = options;
  const what = targetText(target);
  const selector = await podSelector(cluster, target);
  const rollout: Rollout = { done: new Map(), ending: new Set(), begun: false };
  const stop = new AbortController();
  const lives = new Set<Live>();
  const reports: ExitReport[] = [];
  const output = rolloutOutput(options, ports);
  const written: number[] = [];
  const traces: Promise<void>[] = [];
  let changed = (): void => {};
  const cancel = options.timeoutMs == null ? () => {} : ports.clock.setTimeout(() => stop.abort(), options.timeoutMs);
  let left: number | undefined;
  const leave = (signal: Interrupted['signal']): void => {
    if (left !== undefined) return ports.leave(signalCodes[signal]);
    left = signalCodes[signal];
    lives.forEach((live) => live.interrupt(signal));
    stop.abort();
  };
  const deaf = ports.onSignal(leave);
  void ports.stdout.closed.then(() => void (left ?? leave('SIGPIPE')));
  const look = (): void => changed();
  const watched = ownersOf(cluster, target, selector).then((paths) =>
    Promise.all(paths.map((path) => watchOwner(cluster, path, rollout.done, stop.signal, look))),
  );
  const pods = (async () => {
    for await (const pod of terminatingPods(cluster, selector, stop.signal, (uid, state) => {
      if (state && metadataOf(state)['deletionTimestamp'] !== undefined) {
        rollout.ending.add(uid);
        rollout.begun = true;
      }
      if (!state) rollout.ending.delete(uid);
      look();
    })) {
      const name = String(metadataOf(pod)['name']);
      const uid = String(metadataOf(pod)['uid']);
      const trace = traceOne(cluster, name, options, ports, lives).then(async (report) => {
        rollout.ending.delete(uid);
        if (report?.pod.uid === uid) {
          reports.push(report);
          await output.tell(report);
          written.push(await finishFiles(report, options.reports, ports));
          await publish(report, options.publish, options.format, ports);
        }
        look();
      });
      trace.catch(() => stop.abort());
      traces.push(trace);
    }
  })();
  const over = new Promise<void>((resolve) => {
    changed = () => void (isOver(rollout, lives) && resolve());
    stop.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    ports.stderr.write(`podexit: tracing every terminating pod of ${what}\n`);
    await Promise.race([untilQuiet(over, rollout, lives, cluster, stop.signal), pods, watched.then(() => pods)]);
  } finally {
    stop.abort();
    cancel();
    deaf();
  }
  await Promise.all(traces);
  // Nobody who was told to leave can say that nothing terminated.
  const unseen = left !== undefined ? [left] : reports.length === 0 ? [3] : [];
  const summary = summaryOf(what, reports);
  await output.end(reports, left === undefined ? summary : { ...summary, exitCode: left });
  return worstCode([...unseen, summary.exitCode, ...written]);
}

const isOver = ({ done, ending, begun }: Rollout, lives: ReadonlySet<Live>): boolean =>
  begun && ending.size === 0 && lives.size === 0 && [...done.values()].every(Boolean);

async function untilQuiet(
  over: Promise<void>,
  rollout: Rollout,
  lives: ReadonlySet<Live>,
  { surroundings }: Cluster,
  signal: AbortSignal,
): Promise<void> {
  await over;
  do await passed(surroundings, settleMs, signal);
  while (!signal.aborted && !isOver(rollout, lives));
}

/** One pod, attached to; undefined where it was gone before it could be seen. What was recorded has a file of its own. */
async function traceOne(
  cluster: Cluster,
  name: string,
  { followLogs, logText, policy, record }: ExitOptions,
  ports: Ports,
  lives: Set<Live>,
): Promise<ExitReport | undefined> {
  const warn = (message: string): void => ports.stderr.write(`podexit: ${name}: ${safeLines(message)}\n`);
  warn('is terminating');
  const recorder = recorderFor(record === undefined ? undefined : ownFile(record, name), logText, ports, warn);
  const live = liveSource({
    cluster,
    clock: ports.clock,
    namespace: cluster.namespace,
    name,
    mode: 'attach',
    graceSeconds: null,
    insist: false,
    timeoutMs: 'by-grace',
    waitReplacement: false,
    followLogs,
    warn,
  });
  lives.add(live);
  try {
    const source = live.sightings;
    return reportOf(await run({ source, logText, record: recorder.write, onTrace: live.onTrace }), policy);
  } catch (error) {
    if (!(error instanceof PodexitError)) throw error;
    warn(error.message);
    return undefined;
  } finally {
    lives.delete(live);
    recorder.close();
  }
}
