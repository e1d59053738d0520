/** Traces one pod of a cluster: connects, runs the live source through the loop, shows and records it. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import { forTerminal } from '../render/safe-text.ts';
import { advisingSameCluster, connectCluster } from './connected.ts';
import type { Deadline } from './deadline.ts';
import { createDeadline, unlessLate } from './deadline.ts';
import { assertDistinct } from './distinct-files.ts';
import { unlessLeft } from './leaving.ts';
import type { FoundPod } from './found-pod.ts';
import { readToDelete } from './pod-checks.ts';
import type { Ports } from './ports.ts';
import { assertRecordable, assertWritable } from './report-files.ts';
import { nextPodOf } from './next-pod.ts';
import type { SeveralTarget } from './rollout-owners.ts';
import { noneCame, traceOne } from './trace-one.ts';
import type { TraceOptions } from './trace-options.ts';
import { resolveTarget, unread } from './resolve-target.ts';

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
  const { target } = options;
  if (target.kind !== 'pod' && options.mode === 'attach' && options.pick === undefined && !options.once)
    return traceNext(cluster, { ...options, target }, deadline, ports);
  const found = await unlessLeft(ports, (left) => resolveTarget(cluster, { ...options, deadline, left }, ports));
  // A yes is about the pod that the question named, not about whoever has its name by then.
  const pod = options.interactive ? await unlessLeft(ports, () => identified(cluster, found, deadline)) : found;
  const ask = (left: AbortSignal): Promise<boolean> =>
    deadline.unhurried(() => agreed(pod.name, cluster.namespace, ports, left));
  if (options.interactive && !(await unlessLeft(ports, ask))) return cancelled(ports);
  if (!options.once) return traceOne(cluster, { found: pod }, options, deadline, ports);
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
