/** A workload's next terminating pod: `--attach` without a pod's name. */
import { PodexitError } from '../../errors.ts';
import { readGroup } from '../choosing/read-group.ts';
import { createWaitingLimit } from '../ending/time-limit.ts';
import { warnOn } from '../ports.ts';
import type { Session } from '../session.ts';
import { missedText } from '../streams/pod-observer.ts';
import type { SeveralOptions } from './end.ts';
import type { GroupListener, TracedPod } from './group.ts';

/** Throws what readGroup throws. */
export async function nextPod(session: Session, options: SeveralOptions): Promise<TracedPod> {
  const { cluster, deadline, ports } = session;
  const warn = warnOn(ports);
  const group = await readGroup(session, options.target);
  const limit = createWaitingLimit({ ...ports, timeoutMs: options.timeoutMs });
  const over = new AbortController();
  let uid: string | undefined;
  warn(`waiting for the next terminating pod of ${group.target}`);
  const listener: GroupListener = {
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
      `no pod of ${group.target} in namespace "${cluster.namespace}" was being deleted within ${limit.signal.aborted ? limit.text() : '--timeout'}`,
      'Start the rollout or the deletion while this waits, or wait longer: --timeout 0 waits forever.',
      { exitCode: 3 },
    );
  return {
    group: { ...group, isNext: true },
    listener,
    // A pod that was removed at once is terminating in the log, and is not the next pod.
    wants: ({ metadata }) => metadata.uid === uid,
    finishOn: [over.signal, deadline.signal, limit.signal],
    notStarted,
    close: limit.cancel,
  };
}
