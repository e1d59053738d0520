/** Waits for a workload's next terminating pod and traces it: `--attach` without a pod's name. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import { scopeInTime } from './choose-pod.ts';
import { unlessInterrupted } from './leaving.ts';
import { inCluster } from './in-cluster.ts';
import type { Several } from './live-run.ts';
import type { Ports } from './ports.ts';
import { missedText } from './several.ts';
import type { SeveralTarget } from './target.ts';
import { createWaitingLimit, type Deadline } from './time-limit.ts';
import type { TraceOptions } from './trace-options.ts';
import { traceToReport, type Subject } from './trace-to-report.ts';
import { tracesOfLog } from './traces-of-log.ts';

/** Returns the exit code. Throws `attach.not-started`, and what scopeOf throws. */
export const traceNextPod = (options: NextPodOptions, ports: Ports): Promise<number> =>
  inCluster(options, ports, waitAndTrace);

type NextPodOptions = TraceOptions & { target: SeveralTarget };

async function waitAndTrace(
  cluster: Cluster,
  options: NextPodOptions,
  deadline: Deadline,
  ports: Ports,
): Promise<number> {
  const { clock, stdout, stderr } = ports;
  const warn = (message: string): void => void stderr.write(`podexit: ${message}\n`);
  const scoping = { ignoreNotFound: false, warn };
  const limit = createWaitingLimit({ clock, timeoutMs: options.timeoutMs, stdout });
  const over = new AbortController();
  let uid: string | undefined;
  try {
    const scope = await unlessInterrupted(ports, () => scopeInTime(cluster, options.target, deadline, scoping));
    warn(`waiting for the next terminating pod of ${scope.target}`);
    const several: Several = {
      ...scope,
      isNext: true,
      shouldTrace(one) {
        limit.cancel();
        return (uid ??= one) === one;
      },
      ended: () => over.abort(),
      listener: {
        seen: (_uid, pod) => void (pod && limit.podSeen(pod)),
        missed: (pod, why) => void (limit.restart(), stderr.write(missedText(pod, why))),
        listed: limit.listed,
      },
    };
    const notStarted = (): PodexitError =>
      new PodexitError(
        'attach.not-started',
        `no pod of ${scope.target} in namespace "${cluster.namespace}" was being deleted within ${limit.signal.aborted ? limit.text() : '--timeout'}`,
        'Start the rollout or the deletion while this waits, or wait longer: --timeout 0 waits forever.',
        { exitCode: 3 },
      );
    const cancelOn = [over.signal, deadline.signal, limit.signal];
    const traces = tracesOfLog(({ metadata }) => metadata.uid === uid);
    const subject: Subject = { name: '', traces, key: () => uid ?? '', several, cancelOn, notStarted };
    return await traceToReport(cluster, subject, options, deadline, ports);
  } finally {
    limit.cancel();
  }
}
