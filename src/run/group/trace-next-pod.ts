/** Waits for a workload's next terminating pod and traces it: `--attach` without a pod's name. */
import { PodexitError } from '../../errors.ts';
import type { Pod } from '../../model/kube.ts';
import type { Several } from '../streams/live-run.ts';
import { warnOn, type Ports } from '../ports.ts';
import { readScope } from '../choosing/scope.ts';
import { exitCodeIfIgnored, inSession, type Session } from '../session.ts';
import { missedText } from './several.ts';
import type { SeveralTarget } from '../choosing/target.ts';
import { createWaitingLimit } from '../ending/time-limit.ts';
import type { TraceOptions } from '../trace-options.ts';
import { traceToReport } from './trace-pod.ts';

/** Returns the exit code. Throws `attach.not-started`, and what readScope throws. */
export const traceNextPod = (options: NextPodOptions, ports: Ports): Promise<number> =>
  inSession(options, ports, waitAndTrace).catch((error: unknown) => exitCodeIfIgnored(error, options));

type NextPodOptions = TraceOptions & { target: SeveralTarget };

async function waitAndTrace(session: Session, options: NextPodOptions): Promise<number> {
  const { cluster, deadline, ports } = session;
  const warn = warnOn(ports);
  const limit = createWaitingLimit({ ...ports, timeoutMs: options.timeoutMs });
  const over = new AbortController();
  let uid: string | undefined;
  try {
    const scope = await readScope(session, options.target, { ignoreNotFound: false, warn });
    warn(`waiting for the next terminating pod of ${scope.target}`);
    const several: Several = {
      ...scope,
      isNext: true,
      shouldTrace(one) {
        limit.cancel();
        return (uid ??= one) === one;
      },
      ended: () => over.abort(),
      seen: (_uid, pod) => void (pod && limit.podSeen(pod)),
      missed: (pod, why) => void (limit.restart(), warn(missedText(pod, why))),
      listed: limit.listed,
    };
    const notStarted = (): PodexitError =>
      new PodexitError(
        'attach.not-started',
        `no pod of ${scope.target} in namespace "${cluster.namespace}" was being deleted within ${limit.signal.aborted ? limit.text() : '--timeout'}`,
        'Start the rollout or the deletion while this waits, or wait longer: --timeout 0 waits forever.',
        { exitCode: 3 },
      );
    // A pod that was removed at once is terminating in the log, and is not the next pod.
    const wants = ({ metadata }: Pod): boolean => metadata.uid === uid;
    const cancelOn = [over.signal, deadline.signal, limit.signal];
    return await traceToReport(session, { name: '', several, wants, cancelOn, notStarted }, options);
  } finally {
    limit.cancel();
  }
}
