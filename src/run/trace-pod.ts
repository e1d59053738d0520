/** Traces one pod: finds it, asks before it is deleted. */
import type { Ports } from './ports.ts';
import { confirmDelete } from './confirm-delete.ts';
import { inSession, type Session } from './session.ts';
import { unlessInterrupted } from './leaving.ts';
import type { TraceOptions } from './trace-options.ts';
import type { Target } from './target.ts';
import type { FoundPod } from './pod-checks.ts';
import { traceToReport } from './trace-to-report.ts';
import { tracesOfOne } from './traces.ts';

type OnePodOptions = TraceOptions & { target: Target };

/** Returns the exit code. Throws PodexitError if the pod cannot be traced. */
export const traceOnePod = (options: OnePodOptions, ports: Ports): Promise<number> =>
  inSession(options, ports, choosePodAndTrace);

async function choosePodAndTrace(session: Session, options: OnePodOptions): Promise<number> {
  const found = await unlessInterrupted(session.ports, (left) => findPod(session, options, left));
  // The answer applies to the pod in the question, not to a later pod of the same name.
  const pod = await confirmDelete(session, options, found);
  if (!pod) return 0;
  if (!options.once) return traceToReport(session, { ...pod, traces: tracesOfOne() }, options);
  const { deleteOnce } = await import('./delete-once.ts');
  return deleteOnce(session, pod, { ...options, ...options.once });
}

/** A pod's name needs no request, and not the code that chooses a pod. Throws what resolveTarget throws. */
async function findPod(session: Session, { target, pick }: OnePodOptions, left: AbortSignal): Promise<FoundPod> {
  if (target.kind === 'pod') return { name: target.name };
  return (await import('./choose-pod.ts')).resolveTarget(session, { target, pick, left });
}
