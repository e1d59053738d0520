/** Deletions that nothing is traced of: `--dry-run`, and `--wait=false`. They say what kubectl says. */
import type { Cluster } from '../cluster/cluster.ts';
import { getObject } from '../cluster/get.ts';
import { refusalOf, refusedPod } from '../cluster/pod-refused.ts';
import { podPath } from '../cluster/resource-path.ts';
import { PodexitError } from '../errors.ts';
import { forTerminal } from '../render/safe-text.ts';
import { askDeletion } from './ask-deletion.ts';
import type { Deadline } from './deadline.ts';
import { unlessLate } from './deadline.ts';
import type { FoundPod } from './found-pod.ts';
import { assertSame } from './found-pod.ts';
import { noSuchPod, refuseMirror, uidToDelete } from './pod-checks.ts';
import type { Ports } from './ports.ts';
import { asRaw } from './watched.ts';

export interface DeleteOnce extends FoundPod {
  cluster: Cluster;
  graceSeconds: number | null;
  evict: boolean;
  retryEvict: boolean;
  /** `none`: it is really deleted, and not waited for. */
  dryRun: 'none' | 'client' | 'server';
  /** `-o name`. */
  nameOnly: boolean;
  deadline: Deadline;
}

/** The exit code, 0. Throws PodexitError where there is no such pod, or the server says no. */
export async function deleteOnce(options: DeleteOnce, ports: Ports): Promise<number> {
  const { cluster, name, graceSeconds, evict, dryRun, nameOnly, deadline } = options;
  await unlessLate(deadline, sendOnce(options, ports), () => notInTime(name, cluster, evict));
  const how = { none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRun];
  const done = evict ? 'evicted' : graceSeconds === 0 ? 'force deleted' : 'deleted';
  const [pod_, space] = [forTerminal(name), forTerminal(cluster.namespace)];
  ports.stdout.write(nameOnly ? `pod/${pod_}\n` : `pod "${pod_}" ${done} from ${space} namespace${how}\n`);
  return 0;
}

async function sendOnce(options: DeleteOnce, { stderr }: Ports): Promise<void> {
  const { cluster, name, graceSeconds, evict, retryEvict, dryRun, deadline } = options;
  const { namespace } = cluster;
  const answer = await getObject(cluster, podPath(namespace, name));
  if (answer.status === 404) throw await noSuchPod(cluster, namespace, name);
  if (answer.status !== 200) throw refusedPod(cluster, { namespace, name }, refusalOf(cluster, answer));
  const pod = asRaw(answer.body);
  const uid = uidToDelete(cluster, pod);
  assertSame(options, namespace, uid);
  refuseMirror(pod);
  if (dryRun === 'client') return;
  const target = { namespace, name, uid, graceSeconds, evict, dryRun: dryRun === 'server' };
  const { signal } = deadline;
  const warn = (message: string): void => void stderr.write(`podexit: ${forTerminal(message, 2000)}\n`);
  for await (const _ of askDeletion(cluster, target, pod, { signal, retryEvict, warn }));
}

const notInTime = (name: string, { namespace, reach }: Cluster, evict: boolean): PodexitError =>
  new PodexitError(
    'delete.not-accepted',
    `the server did not accept the ${evict ? 'eviction' : 'deletion'} of pod "${name}" in namespace "${namespace}" within --timeout`,
    `Look at: kubectl get pod ${name} -n ${namespace}${reach}`,
    { exitCode: 3 },
  );
