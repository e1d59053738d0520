/** Deletions without a trace: `--dry-run` and `--wait=false`. The messages are kubectl's. */
import { unlessAborted } from '../../kube/env.ts';
import { PodexitError } from '../../errors.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { askDeletion } from './ask-deletion.ts';
import { observe } from '../../model/observe.ts';
import { reduce } from '../../model/reduce.ts';
import { emptyTrace } from '../../model/trace.ts';
import { readToDelete } from '../choosing/pod-checks.ts';
import type { FoundPod } from '../group/group.ts';
import { deletionProgress, fateOf, unlessInterrupted } from '../ending/leaving.ts';
import { warnOn } from '../ports.ts';
import type { Session } from '../session.ts';
import type { Once, TraceOptions } from '../options.ts';

/** Returns exit code 0. Throws PodexitError if the pod was not deleted, or the user interrupts. */
export async function deleteOnce(
  session: Session,
  found: FoundPod,
  options: Once & Pick<TraceOptions, 'graceSeconds' | 'mode' | 'retryEvict'>,
): Promise<number> {
  const { cluster, deadline, ports } = session;
  const { name } = found;
  const { graceSeconds, mode, retryEvict, dryRun, nameOnly } = options;
  const evict = mode === 'evict';
  const warn = warnOn(ports);
  let trace = emptyTrace;
  let seq = 0;
  const send = async (left: AbortSignal): Promise<void> => {
    const { pod, uid } = await readToDelete(cluster, found);
    if (dryRun === 'client') return;
    const target = { namespace: cluster.namespace, name, uid, graceSeconds, evict, dryRun: dryRun === 'server' };
    const signal = AbortSignal.any([deadline.signal, left]);
    for await (const rawObservation of askDeletion(cluster, target, pod, { signal, retryEvict, warn }))
      trace = reduce(trace, observe(rawObservation, (seq += 1), { logText: false }));
    if (trace.gone)
      warn(`no answer to the delete request arrived, but pod "${name}" is gone: deleted by it, or by another client`);
  };
  const late = (): PodexitError =>
    new PodexitError(
      'delete.not-accepted',
      `the server did not accept the ${evict ? 'eviction' : 'deletion'} of pod "${name}" in namespace "${cluster.namespace}" within --timeout`,
      `Look at: kubectl get pod ${name} -n ${cluster.namespace}${cluster.connectionFlags}`,
      { exitCode: 3 },
    );
  const fate = (): string => {
    const progress = deletionProgress(trace, trace.requests.length > 0);
    if (progress === 'not-asked' || dryRun !== 'none') return 'Nothing was deleted.';
    const words = fateOf(progress, { ...cluster, name });
    return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  };
  await unlessInterrupted(ports, (left) => unlessAborted(deadline.signal, () => send(left), late), fate);
  const how = { none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRun];
  const done = evict ? 'evicted' : graceSeconds === 0 ? 'force deleted' : 'deleted';
  const shown = { name: forTerminal(name), namespace: forTerminal(cluster.namespace) };
  ports.stdout.write(
    nameOnly ? `pod/${shown.name}\n` : `pod "${shown.name}" ${done} from ${shown.namespace} namespace${how}\n`,
  );
  return 0;
}
