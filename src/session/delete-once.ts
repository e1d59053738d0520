/** Deletions that nothing is traced of: `--dry-run`, and `--wait=false`. They say what kubectl says. */
import type { Cluster } from '../cluster/cluster.ts';
import { getObject } from '../cluster/get.ts';
import { refusalOf, refusedPod } from '../cluster/pod-refused.ts';
import { podPath } from '../cluster/resource-path.ts';
import { notKubernetes } from '../cluster/trouble.ts';
import { PodexitError } from '../errors.ts';
import { forTerminal } from '../render/safe-text.ts';
import { askDeletion } from './ask-deletion.ts';
import type { Clock } from './clock.ts';
import type { FoundPod } from './found-pod.ts';
import { assertSame } from './found-pod.ts';
import { noSuchPod, refuseMirror } from './pod-checks.ts';
import type { Ports } from './ports.ts';
import { asRaw, metadataOf } from './watched.ts';

export interface DeleteOnce extends FoundPod {
  cluster: Cluster;
  graceSeconds: number | null;
  evict: boolean;
  retryEvict: boolean;
  /** `none`: it is really deleted, and not waited for. */
  dryRun: 'none' | 'client' | 'server';
  /** `-o name`. */
  nameOnly: boolean;
  /** ms; null or absent: for as long as it takes. */
  timeoutMs?: number | null;
}

/** The exit code, 0. Throws PodexitError where there is no such pod, or the server says no. */
export async function deleteOnce(options: DeleteOnce, { stdout, stderr, clock }: Ports): Promise<number> {
  const { cluster, name, graceSeconds, evict, retryEvict, dryRun, nameOnly, timeoutMs } = options;
  const { namespace } = cluster;
  const answer = await getObject(cluster, podPath(namespace, name));
  if (answer.status === 404) throw await noSuchPod(cluster, namespace, name);
  if (answer.status !== 200) throw refusedPod(cluster, { namespace, name }, refusalOf(cluster, answer));
  const pod = asRaw(answer.body);
  const { uid } = metadataOf(pod);
  // Without it nothing keeps the request from the pod's successor.
  if (typeof uid !== 'string') throw notKubernetes(cluster);
  assertSame(options, namespace, uid);
  refuseMirror(pod);
  if (dryRun !== 'client') {
    const target = { namespace, name, uid, graceSeconds, evict, dryRun: dryRun === 'server' };
    const { signal, cancel } = limitedTo(timeoutMs, clock);
    const warn = (message: string): void => void stderr.write(`podexit: ${forTerminal(message, 2000)}\n`);
    for await (const _ of askDeletion(cluster, target, pod, { signal, retryEvict, warn }));
    cancel();
    if (signal.aborted) throw notInTime(name, cluster, evict);
  }
  const how = { none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRun];
  const done = evict ? 'evicted' : graceSeconds === 0 ? 'force deleted' : 'deleted';
  const [pod_, space] = [forTerminal(name), forTerminal(namespace)];
  stdout.write(nameOnly ? `pod/${pod_}\n` : `pod "${pod_}" ${done} from ${space} namespace${how}\n`);
  return 0;
}

function limitedTo(timeoutMs: number | null | undefined, clock: Clock): { signal: AbortSignal; cancel: () => void } {
  const stop = new AbortController();
  const cancel = timeoutMs == null ? () => {} : clock.setTimeout(() => stop.abort(), timeoutMs);
  return { signal: stop.signal, cancel };
}

const notInTime = (name: string, { namespace, reach }: Cluster, evict: boolean): PodexitError =>
  new PodexitError(
    'delete.not-accepted',
    `the server did not accept the ${evict ? 'eviction' : 'deletion'} of pod "${name}" in namespace "${namespace}" within --timeout`,
    `Look at: kubectl get pod ${name} -n ${namespace}${reach}`,
    { exitCode: 3 },
  );
