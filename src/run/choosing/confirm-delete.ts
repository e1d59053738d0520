/** One question before pods are deleted, at a terminal only; `-i` always asks, like kubectl's. */
import type { Cluster } from '../../kube/cluster.ts';
import { asNumber, asObject, type JsonObject } from '../../model/observe/read.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { readToDelete } from './pod-checks.ts';
import type { FoundPod } from '../group/group.ts';
import { unlessInterrupted } from '../ending/leaving.ts';
import { ask, canAsk, readInTime, type Session } from '../session.ts';
import type { TraceOptions } from '../options.ts';
import { nameOf, ownerOf } from '../streams/watched.ts';

type ConfirmOptions = Pick<TraceOptions, 'interactive' | 'confirm' | 'mode' | 'graceSeconds' | 'once'>;

/**
 * The pods to delete; none if the answer was no. One question for all. It is about the pods as they are now, so one pod
 * is read first and gets its uid. Throws what reading the pod throws, and `run.left` on a signal.
 */
export async function confirmDelete(
  session: Session,
  options: ConfirmOptions,
  found: readonly FoundPod[],
): Promise<readonly FoundPod[]> {
  const { cluster, ports } = session;
  const [only, ...others] = found;
  const { interactive, confirm, mode, once } = options;
  const deletes = mode !== 'attach' && (once === undefined || once.dryRun === 'none');
  if (!only || !(interactive || (deletes && confirm && canAsk(ports)))) return found;
  if (others.length > 0) {
    const names = found.map(({ name }) => name).join(', ');
    return (await isYes(session, questionOf(cluster, options, `${found.length} pods`, names))) ? found : [];
  }
  const { pod, uid } = await readInTime(session, `pod/${only.name}`, () => readToDelete(cluster, only));
  const question = questionOf(cluster, options, `pod ${nameOf(pod)}`, fateOf(pod, options));
  return (await isYes(session, question)) ? [{ ...only, uid }] : [];
}

/** A no is reported like kubectl's, but on stderr: without a report stdout stays empty. Throws `run.left` on a signal. */
export async function isYes(session: Session, question: string, no = 'deletion is cancelled'): Promise<boolean> {
  const { ports } = session;
  // Loaded only to ask: most runs send the DELETE without a question.
  const { sentenceOn } = await import('../../output/prose.ts');
  const shown = sentenceOn(ports.stderr, question);
  const answer = await unlessInterrupted(ports, (left) => ask(session, shown, left));
  const isYes = /^y(es)?$/i.test(answer?.trim() ?? '');
  if (!isYes) ports.stderr.write(`podexit: ${no}\n`);
  return isYes;
}

/** `Delete pod checkout-258qr in namespace shop of context prod? Owner ReplicaSet/…, grace period 30s [y/N] ` */
function questionOf(
  { contextName, namespace, server }: Cluster,
  { mode }: ConfirmOptions,
  what: string,
  fate: string,
): string {
  const verb = mode === 'evict' ? 'Evict' : 'Delete';
  const where = contextName === undefined ? server : `context ${contextName}`;
  return `${forTerminal(`${verb} ${what} in namespace ${namespace} of ${where}? ${fate}`, 1000)} [y/N] `;
}

function fateOf(pod: JsonObject, { graceSeconds }: ConfirmOptions): string {
  const own = asNumber(asObject(pod['spec'])['terminationGracePeriodSeconds']);
  const owner = ownerOf(pod);
  const whose = owner ? `Owner ${owner.kind}/${owner.name}` : 'No controller: nothing replaces it';
  return `${whose}, grace period ${graceSeconds ?? own ?? 30}s`;
}
