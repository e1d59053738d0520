/** `--attach` with a workload: waits for the next of its pods that terminates, and traces that one. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import type { Deadline } from './deadline.ts';
import { unlessLeft } from './leaving.ts';
import type { Ports } from './ports.ts';
import { selectorInTime } from './resolve-target.ts';
import type { SeveralTarget } from './rollout-owners.ts';
import type { Several } from './live-run.ts';
import { targetText, workloadKinds } from './target.ts';
import type { TraceOptions } from './trace-options.ts';
import { missedText } from './unseen.ts';
import { createWaitingLimit } from './waiting-limit.ts';
import { podsTarget } from './watched.ts';

/** What a run about the next terminating pod is given, and what its coming to nothing is called. */
export interface NextPod {
  readonly subject: { next: Several; uid(): string | undefined; over: AbortSignal[] };
  /** `attach.not-started` (exit 3). */
  notStarted(): PodexitError;
  cancel(): void;
}

/** Throws as podSelector does. */
export async function nextPodOf(
  cluster: Cluster,
  { target, timeoutMs }: TraceOptions & { target: SeveralTarget },
  deadline: Deadline,
  ports: Ports,
): Promise<NextPod> {
  const { clock, stdout, stderr } = ports;
  const what = targetText(target);
  const selector = await unlessLeft(ports, () => selectorInTime(cluster, target, deadline));
  stderr.write(`podexit: waiting for the next terminating pod of ${what}\n`);
  const limit = createWaitingLimit({ clock, timeoutMs, stdout });
  const over = new AbortController();
  let uid: string | undefined;
  const next: Several = {
    target: what,
    isNext: true,
    namespace: cluster.namespace,
    pods: podsTarget(cluster.namespace, selector),
    owns: selector.owns,
    ...(target.kind === 'workload' && target.resource !== 'services'
      ? { owner: { kind: workloadKinds[target.resource].kind, name: target.name } }
      : {}),
    wants(one) {
      limit.cancel();
      return (uid ??= one) === one;
    },
    ended: () => over.abort(),
    listener: {
      seen: (_uid, pod) => void (pod && limit.saw(pod)),
      missed: (pod, why) => void (limit.again(), stderr.write(missedText(pod, why))),
      listed: () => {},
      onAlive: () => {},
      owner: () => {},
      ownerAlive: () => {},
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
