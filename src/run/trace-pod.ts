/** Traces one pod: finds it, asks before it is deleted. */
import type { Cluster } from '../kube/cluster.ts';
import type { Ports } from './ports.ts';
import { confirmDelete } from './confirm-delete.ts';
import { inCluster } from './in-cluster.ts';
import type { Deadline } from './time-limit.ts';
import { unlessInterrupted } from './leaving.ts';
import type { TraceOptions } from './trace-options.ts';
import type { ResolveOptions } from './choose-pod.ts';
import type { Target } from './target.ts';
import type { FoundPod } from './pod-checks.ts';
import { traceToReport } from './trace-to-report.ts';
import { onePod, tracesOfOne } from './traces.ts';

/** Returns the exit code. Throws PodexitError if the pod cannot be traced. */
export const traceOnePod = (options: TraceOptions & { target: Target }, ports: Ports): Promise<number> =>
  inCluster(options, ports, choosePodAndTrace);

async function choosePodAndTrace(
  cluster: Cluster,
  options: TraceOptions & { target: Target },
  deadline: Deadline,
  ports: Ports,
): Promise<number> {
  const found = await unlessInterrupted(ports, (left) => findPod(cluster, { ...options, deadline, left }, ports));
  // The answer applies to the pod in the question, not to a later pod of the same name.
  const pod = await confirmDelete(cluster, options, found, deadline, ports);
  if (!pod) return 0;
  if (!options.once)
    return traceToReport(
      cluster,
      { ...pod, traces: tracesOfOne(), key: () => onePod, cancelOn: [] },
      options,
      deadline,
      ports,
    );
  const { deleteOnce } = await import('./delete-once.ts');
  return deleteOnce({ ...options, ...options.once, ...pod, cluster, deadline }, ports);
}

/** A pod's name needs no request, and not the code that chooses a pod. Throws what resolveTarget throws. */
async function findPod(cluster: Cluster, resolving: ResolveOptions, ports: Ports): Promise<FoundPod> {
  const { target } = resolving;
  if (target.kind === 'pod') return { name: target.name };
  return (await import('./choose-pod.ts')).resolveTarget(cluster, resolving, ports);
}
