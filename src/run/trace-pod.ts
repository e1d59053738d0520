/** Traces one pod of a cluster: connects, runs the live source through the loop, shows and records it. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import { advisingSameCluster, connectCluster } from './connected.ts';
import { confirmed } from './confirm-delete.ts';
import type { Deadline } from './deadline.ts';
import { createDeadline } from './deadline.ts';
import { assertDistinct, assertRecordable, assertWritable } from './writable.ts';
import { unlessLeft } from './leaving.ts';
import type { Ports } from './ports.ts';
import { nextPodOf } from './next-pod.ts';
import { noneCame, traceOne } from './trace-one.ts';
import type { TraceOptions } from './trace-options.ts';
import { resolveTarget } from './choose-pod.ts';
import type { SeveralTarget, Target } from './target.ts';

/** The exit code. Throws PodexitError where the work could not be done. */
export async function tracePod(options: TraceOptions & { target: Target }, ports: Ports): Promise<number> {
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
    // under no -o, and so nothing is said here: a script sees it by an empty stdout.
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

async function onCluster(
  cluster: Cluster,
  options: TraceOptions & { target: Target },
  deadline: Deadline,
  ports: Ports,
): Promise<number> {
  const { target } = options;
  if (target.kind !== 'pod' && options.mode === 'attach' && options.pick === undefined && !options.once)
    return traceNext(cluster, { ...options, target }, deadline, ports);
  const found = await unlessLeft(ports, (left) => resolveTarget(cluster, { ...options, deadline, left }, ports));
  // A yes is about the pod that the question named, not about another one that has its name by then.
  const pod = await confirmed(cluster, options, found, deadline, ports);
  if (!pod) return cancelled(ports);
  if (!options.once) return traceOne(cluster, { found: pod }, options, deadline, ports);
  const { deleteOnce } = await import('./delete-once.ts');
  return deleteOnce({ ...options, ...options.once, cluster, ...pod, evict: options.mode === 'evict', deadline }, ports);
}

/** kubectl's message and exit code, but on stderr: nothing happened, so there is no report, and stdout stays empty. */
function cancelled({ stderr }: Ports): number {
  stderr.write('podexit: deletion is cancelled\n');
  return 0;
}

/** Waits for the next of a workload's pods that terminates, and traces that one. Throws `attach.not-started`. */
async function traceNext(
  cluster: Cluster,
  options: TraceOptions & { target: SeveralTarget },
  deadline: Deadline,
  ports: Ports,
): Promise<number> {
  const next = await nextPodOf(cluster, options, deadline, ports);
  try {
    const code = await traceOne(cluster, next.subject, options, deadline, ports);
    if (code === noneCame) throw next.notStarted();
    return code;
  } finally {
    next.cancel();
  }
}
