/** `--all-terminating`: traces every pod of a target that terminates, until its rollout is done. */
import type { Cluster } from '../cluster/cluster.ts';
import { watchObjects } from '../cluster/watch.ts';
import { passed } from '../cluster/surroundings.ts';
import type { ExitReport } from '../trace/report.ts';
import { reportOf } from '../verdict/report.ts';
import { summaryOf, worstCode } from '../verdict/rollout.ts';
import { listCandidatePods, podSelector } from './candidates.ts';
import type { PodSelector } from './candidates.ts';
import { connectCluster } from './connected.ts';
import { assertWritable, finishFiles } from './report-files.ts';
import type { Live } from './live.ts';
import { liveSource } from './live.ts';
import { terminatingPods } from './next-terminating.ts';
import type { Ports } from './ports.ts';
import { rolloutOutput } from './rollout-output.ts';
import { isRolledOut } from './rollout-state.ts';
import { run } from './run.ts';
import type { Target } from './target.ts';
import { targetText, workloadKinds, workloadPath } from './target.ts';
import type { WorkloadResource } from './target.ts';
import type { ExitOptions, TraceOptions } from './trace-pod.ts';
import type { Raw } from './watched.ts';
import { asRaw, metadataOf, ownerOf } from './watched.ts';

type Several = Exclude<Target, { kind: 'pod' }>;

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
  const deaf = ports.onSignal((signal) => {
    lives.forEach((live) => live.interrupt(signal));
    stop.abort();
  });
  const look = (): void => changed();
  const watched = ownersOf(cluster, target, selector).then((paths) =>
    Promise.all(paths.map((path) => watchOwner(cluster, path, rollout, stop.signal, look))),
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
  const summary = summaryOf(what, reports);
  await output.end(reports, summary);
  return worstCode([summary.exitCode, ...written, ...(reports.length === 0 ? [3] : [])]);
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

/** One pod, attached to; undefined where it was gone before it could be seen. */
async function traceOne(
  cluster: Cluster,
  name: string,
  { followLogs, logText, policy }: ExitOptions,
  { clock, stderr }: Ports,
  lives: Set<Live>,
): Promise<ExitReport | undefined> {
  const live = liveSource({
    cluster,
    clock,
    namespace: cluster.namespace,
    name,
    mode: 'attach',
    graceSeconds: null,
    insist: false,
    timeoutMs: 'by-grace',
    waitReplacement: false,
    followLogs,
    warn: (message) => stderr.write(`podexit: ${name}: ${message}\n`),
  });
  lives.add(live);
  try {
    return reportOf(await run({ source: live.sightings, logText, onTrace: live.onTrace }), policy);
  } catch (error) {
    stderr.write(`podexit: ${name}: ${(error as Error).message}\n`);
    return undefined;
  } finally {
    lives.delete(live);
  }
}

async function watchOwner(
  cluster: Cluster,
  path: string,
  { done }: Rollout,
  signal: AbortSignal,
  look: () => void,
): Promise<void> {
  const cut = path.lastIndexOf('/');
  const target = { stream: 'owner' as const, path: path.slice(0, cut), name: decodeURIComponent(path.slice(cut + 1)) };
  done.set(path, false);
  try {
    for await (const sighting of watchObjects(cluster, target, { signal })) {
      if (sighting.kind === 'listed') done.set(path, sighting.objects.map(asRaw).every(isRolledOut));
      // An owner that is gone, or that may not be read, keeps nobody waiting.
      if (sighting.kind === 'changed')
        done.set(path, sighting.change === 'DELETED' || isRolledOut(asRaw(sighting.object)));
      if (sighting.kind === 'refused') done.set(path, true);
      look();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** What rolls out: the workload itself, or the topmost owners of the pods that match. */
async function ownersOf(cluster: Cluster, target: Several, selector: PodSelector): Promise<string[]> {
  if (target.kind === 'workload' && target.resource !== 'services')
    return [workloadPath(cluster.namespace, target.resource, target.name)];
  const pods = await listCandidatePods(cluster, selector);
  return [...new Set(pods.flatMap((pod) => ownerPath(cluster.namespace, pod)))];
}

/** A ReplicaSet's Deployment is named in the ReplicaSet's own name (`checkout-754699c75f`). */
function ownerPath(namespace: string, pod: Raw): string[] {
  const owner = ownerOf(pod);
  const hash = asRaw(metadataOf(pod)['labels'])['pod-template-hash'];
  if (owner?.kind === 'ReplicaSet' && typeof hash === 'string' && owner.name.endsWith(`-${hash}`))
    return [workloadPath(namespace, 'deployments', owner.name.slice(0, -hash.length - 1))];
  const resources = Object.keys(workloadKinds) as WorkloadResource[];
  const resource = resources.find((one) => workloadKinds[one].kind === owner?.kind);
  return owner && resource ? [workloadPath(namespace, resource, owner.name)] : [];
}
