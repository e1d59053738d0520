/** `--attach` with a workload: waits for the next of its pods that terminates, and traces that one. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import type { Deadline } from './deadline.ts';
import { unlessLeft } from './leaving.ts';
import type { Ports } from './ports.ts';
import { scopeInTime } from './choose-pod.ts';
import type { Several } from './live-run.ts';
import type { SeveralTarget } from './target.ts';
import type { TraceOptions } from './trace-options.ts';
import { missedText } from './rollout-end.ts';
import { createWaitingLimit } from './time-limit.ts';

/** What a run about the next terminating pod is given, and what its coming to nothing is called. */
export interface NextPod {
  readonly subject: { next: Several; uid(): string | undefined; over: AbortSignal[] };
  /** `attach.not-started` (exit 3). */
  notStarted(): PodexitError;
  cancel(): void;
}

/** Throws as scopeOf does. */
export async function nextPodOf(
  cluster: Cluster,
  { target, timeoutMs }: TraceOptions & { target: SeveralTarget },
  deadline: Deadline,
  ports: Ports,
): Promise<NextPod> {
  const { clock, stdout, stderr } = ports;
  const warn = (message: string): void => void stderr.write(`podexit: ${message}\n`);
  const scope = await unlessLeft(ports, () => scopeInTime(cluster, target, deadline, { ignoreNotFound: false, warn }));
  const what = scope.target;
  stderr.write(`podexit: waiting for the next terminating pod of ${what}\n`);
  const limit = createWaitingLimit({ clock, timeoutMs, stdout });
  const over = new AbortController();
  let uid: string | undefined;
  const next: Several = {
    ...scope,
    isNext: true,
    wants(one) {
      limit.cancel();
      return (uid ??= one) === one;
    },
    ended: () => over.abort(),
    listener: {
      seen: (_uid, pod) => void (pod && limit.saw(pod)),
      missed: (pod, why) => void (limit.again(), stderr.write(missedText(pod, why))),
      listed: () => limit.listed(),
    },
  };
  return {
    subject: { next, uid: () => uid, over: [over.signal, deadline.signal, limit.signal] },
    notStarted: () =>
      new PodexitError(
        'attach.not-started',
        `no pod of ${what} in namespace "${cluster.namespace}" was being deleted within ${limit.signal.aborted ? limit.text() : '--timeout'}`,
        'Start the rollout or the deletion while this waits, or wait longer: --timeout 0 waits for ever.',
        { exitCode: 3 },
      ),
    cancel: () => limit.cancel(),
  };
}
