/** Deletions without a trace: `--dry-run` and `--wait=false`. The messages are kubectl's. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import { forTerminal } from '../render/safe-text.ts';
import { askDeletion } from './ask-deletion.ts';
import { observe } from '../model/observe.ts';
import { reduce } from '../model/reduce.ts';
import { emptyTrace } from '../model/trace.ts';
import { readToDelete, type FoundPod } from './pod-checks.ts';
import { deletionProgress, fateOf, unlessAborted, unlessInterrupted, type DeletionProgress } from './leaving.ts';
import { warnOn } from './ports.ts';
import type { Session } from './session.ts';
import type { Once, TraceOptions } from './trace-options.ts';

type DeleteOptions = Once & Pick<TraceOptions, 'graceSeconds' | 'mode' | 'retryEvict'>;

/** Returns exit code 0. Throws PodexitError if the pod was not deleted, or the user interrupts. */
export async function deleteOnce(session: Session, found: FoundPod, options: DeleteOptions): Promise<number> {
  const { cluster, deadline, ports } = session;
  const { name } = found;
  const { graceSeconds, mode, dryRun, nameOnly } = options;
  const evict = mode === 'evict';
  let progress: DeletionProgress = 'not-asked';
  const send = (left: AbortSignal): Promise<void> =>
    sendOnce(session, found, options, AbortSignal.any([deadline.signal, left]), (newer) => (progress = newer));
  const inTime = (left: AbortSignal): Promise<void> =>
    unlessAborted(
      deadline.signal,
      () => send(left),
      () => notAcceptedInTime(name, cluster, evict),
    );
  await unlessInterrupted(ports, inTime, () =>
    progress === 'not-asked' || dryRun !== 'none'
      ? 'Nothing was deleted.'
      : asSentence(fateOf(progress, { ...cluster, name })),
  );
  const how = { none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRun];
  const done = evict ? 'evicted' : graceSeconds === 0 ? 'force deleted' : 'deleted';
  const [pod_, space] = [forTerminal(name), forTerminal(cluster.namespace)];
  ports.stdout.write(nameOnly ? `pod/${pod_}\n` : `pod "${pod_}" ${done} from ${space} namespace${how}\n`);
  return 0;
}

const asSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

async function sendOnce(
  { cluster, ports }: Session,
  found: FoundPod,
  { graceSeconds, mode, retryEvict, dryRun }: DeleteOptions,
  signal: AbortSignal,
  onProgress: (progress: DeletionProgress) => void,
): Promise<void> {
  const { name } = found;
  const { pod, uid } = await readToDelete(cluster, found);
  if (dryRun === 'client') return;
  const evict = mode === 'evict';
  const target = { namespace: cluster.namespace, name, uid, graceSeconds, evict, dryRun: dryRun === 'server' };
  const warn = warnOn(ports);
  let trace = emptyTrace;
  let seq = 0;
  for await (const rawObservation of askDeletion(cluster, target, pod, { signal, retryEvict, warn })) {
    trace = reduce(trace, observe(rawObservation, (seq += 1), { logText: false }));
    onProgress(deletionProgress(trace, trace.requests.length > 0));
  }
  if (trace.gone)
    warn(`no answer to the delete request arrived, but pod "${name}" is gone: deleted by it, or by another client`);
}

const notAcceptedInTime = (name: string, { namespace, connectionFlags }: Cluster, evict: boolean): PodexitError =>
  new PodexitError(
    'delete.not-accepted',
    `the server did not accept the ${evict ? 'eviction' : 'deletion'} of pod "${name}" in namespace "${namespace}" within --timeout`,
    `Look at: kubectl get pod ${name} -n ${namespace}${connectionFlags}`,
    { exitCode: 3 },
  );
