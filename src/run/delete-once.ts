/** Deletions without a trace: `--dry-run` and `--wait=false`. The messages are kubectl's. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import { forTerminal } from '../render/safe-text.ts';
import { askDeletion } from './ask-deletion.ts';
import { observe } from '../model/observe.ts';
import { reduce } from '../model/reduce.ts';
import { emptyTrace } from '../model/trace.ts';
import type { Deadline } from './time-limit.ts';
import { readToDelete, type FoundPod } from './pod-checks.ts';
import { deletionProgress, fateOf, unlessAborted, unlessInterrupted, type DeletionProgress } from './leaving.ts';
import { warnOn, type Ports } from './ports.ts';
import type { Mode } from '../model/observation.ts';

export interface DeleteOnce extends FoundPod {
  cluster: Cluster;
  graceSeconds: number | null;
  mode: Mode;
  retryEvict: boolean;
  /** `none`: the pod is really deleted. */
  dryRun: 'none' | 'client' | 'server';
  /** `-o name`. */
  nameOnly: boolean;
  deadline: Deadline;
}

/** Returns exit code 0. Throws PodexitError if the pod was not deleted, or the user interrupts. */
export async function deleteOnce(options: DeleteOnce, ports: Ports): Promise<number> {
  const { cluster, name, graceSeconds, mode, dryRun, nameOnly, deadline } = options;
  const evict = mode === 'evict';
  const sent: RequestState = { progress: 'not-asked' };
  const inTime = (left: AbortSignal): Promise<void> =>
    unlessAborted(
      deadline.signal,
      () => sendOnce(options, ports, sent, left),
      () => notAcceptedInTime(name, cluster, evict),
    );
  await unlessInterrupted(ports, inTime, () => fateWhenInterrupted(sent, options));
  const how = { none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRun];
  const done = evict ? 'evicted' : graceSeconds === 0 ? 'force deleted' : 'deleted';
  const [pod_, space] = [forTerminal(name), forTerminal(cluster.namespace)];
  ports.stdout.write(nameOnly ? `pod/${pod_}\n` : `pod "${pod_}" ${done} from ${space} namespace${how}\n`);
  return 0;
}

/** How far the request has got; `sendOnce` updates it. */
interface RequestState {
  progress: DeletionProgress;
}

const fateWhenInterrupted = ({ progress }: RequestState, { cluster, name, dryRun }: DeleteOnce): string => {
  if (progress === 'not-asked' || dryRun !== 'none') return 'Nothing was deleted.';
  const fate = fateOf(progress, { ...cluster, name });
  return `${fate.charAt(0).toUpperCase()}${fate.slice(1)}`;
};

async function sendOnce(options: DeleteOnce, ports: Ports, sent: RequestState, left: AbortSignal): Promise<void> {
  const { cluster, name, graceSeconds, mode, retryEvict, dryRun, deadline } = options;
  const { namespace } = cluster;
  const { pod, uid } = await readToDelete(cluster, options);
  if (dryRun === 'client') return;
  const target = { namespace, name, uid, graceSeconds, evict: mode === 'evict', dryRun: dryRun === 'server' };
  const signal = AbortSignal.any([deadline.signal, left]);
  const warn = warnOn(ports);
  let trace = emptyTrace;
  let seq = 0;
  for await (const rawObservation of askDeletion(cluster, target, pod, { signal, retryEvict, warn })) {
    seq += 1;
    trace = reduce(trace, observe(rawObservation, seq, { logText: false }));
    sent.progress = deletionProgress(trace, trace.requests.length > 0);
  }
  if (sent.progress === 'gone')
    warn(`no answer to the delete request arrived, but pod "${name}" is gone: deleted by it, or by another client`);
}

const notAcceptedInTime = (name: string, { namespace, connectionFlags }: Cluster, evict: boolean): PodexitError =>
  new PodexitError(
    'delete.not-accepted',
    `the server did not accept the ${evict ? 'eviction' : 'deletion'} of pod "${name}" in namespace "${namespace}" within --timeout`,
    `Look at: kubectl get pod ${name} -n ${namespace}${connectionFlags}`,
    { exitCode: 3 },
  );
