import { asObject, metadataOf } from '../model/observe/read.ts';
import type { RawObservation } from '../model/observation.ts';
import type { ApiResponse, Cluster } from './cluster.ts';
import { refusedDelete } from './refused.ts';
import { backoffMs } from './decide.ts';
import { decideDelete, isUidConflict, type Tried } from './delete-decide.ts';
import { TransportFailure } from './http/failure.ts';
import { lookOf, tryGet } from './get.ts';
import { podPath } from './resource-path.ts';
import { wholeText, readRefusal } from './status.ts';
import { delay } from './env.ts';
import { notReached } from './server-errors.ts';

export interface DeleteTarget {
  namespace: string;
  name: string;
  /** Always sent as a precondition, so that a successor of the same name is never deleted. */
  uid: string;
  /** Seconds; null: the pod's own. The answer's grace may differ (SIGNALS §1), which the caller has to compare. */
  graceSeconds: number | null;
  /** Use the Eviction API, which respects disruption budgets. */
  evict?: boolean;
  /** The server checks everything and does nothing (`dryRun: [All]`). */
  dryRun?: boolean;
}

/**
 * Deletes the pod with exactly one accepted request. Yields `requested` for each request that goes out, then `answered`
 * (also for a 429 that is retried), or `looked` if the answer was lost and a GET shows that the request was executed.
 * Sends again only if the last try provably was not executed. Ends quietly on abort. Throws PodexitError if the server
 * refuses (see refused.ts), and `server.unreachable` if no connection could be made in many tries.
 */
export async function* deletePod(
  cluster: Cluster,
  target: DeleteTarget,
  { signal }: { signal: AbortSignal },
): AsyncGenerator<RawObservation, void> {
  let mayBeExecuted = false;
  for (let failures = 0; ; failures++) {
    const tried = yield* send(cluster, target, signal);
    if (signal.aborted || tried === undefined) return;
    const step = decideDelete(tried, failures, target.dryRun);
    // The pod is gone, perhaps by an earlier try. The watch shows what happened.
    const isGone = tried.kind === 'refused' && (tried.refusal.status === 404 || isUidConflict(tried.refusal));
    if (step.next === 'give-up' && mayBeExecuted && isGone) return;
    if (step.next === 'again' && tried.kind === 'refused') {
      const { status, message } = tried.refusal;
      // Reported, so that this try is not taken for the one that started the deletion.
      yield { kind: 'answered', at: cluster.env.now(), verb: verbOf(target), status, message: cluster.clean(message) };
    }
    if (step.next === 'look') {
      mayBeExecuted = true;
      if ((yield* wasExecuted(cluster, target, signal)) || signal.aborted) return;
    }
    if (step.next === 'give-up' || step.ms === undefined)
      throw tried.kind === 'refused'
        ? refusedDelete(cluster, target, tried.refusal)
        : notReached(cluster, tried.failure);
    if (!(await delay(cluster.env, step.ms, signal))) return;
  }
}

const verbOf = ({ evict }: DeleteTarget) => (evict ? 'evict' : 'delete');

/** One try; undefined if it was accepted. */
async function* send(
  cluster: Cluster,
  target: DeleteTarget,
  signal: AbortSignal,
): AsyncGenerator<RawObservation, Tried | undefined> {
  const verb = verbOf(target);
  // Report the request when it goes out, not when it is answered: the watch may bring the deletion first. A request
  // that never went out is not reported.
  let reportSent: (sentAt: number) => void = () => undefined;
  const sent = new Promise<number>((resolve) => (reportSent = resolve));
  const answering = request(cluster, target, reportSent, signal);
  const sentAt = await Promise.race([sent, answering.then(() => undefined)]);
  const { graceSeconds, uid } = target;
  if (sentAt !== undefined) yield { kind: 'requested', at: sentAt, verb, graceSeconds, uid };
  const answer = await answering;
  if (answer instanceof TransportFailure) return { kind: 'failed', failure: answer };
  yield* answer.dated;
  const { status, body, at } = answer;
  const { kind, status: outcome, code } = asObject(body);
  // An eviction may carry a failure inside a 201 (SIGNALS §1).
  if (status < 200 || status >= 300 || (kind === 'Status' && outcome === 'Failure')) {
    const refusedWith = status < 300 && typeof code === 'number' ? code : status;
    return { kind: 'refused', refusal: readRefusal(refusedWith, body, answer.headers) };
  }
  yield { kind: 'answered', at, verb, status, object: kind === 'Pod' ? body : undefined };
  return undefined;
}

async function request(
  cluster: Cluster,
  target: DeleteTarget,
  onSent: (sentAt: number) => void,
  signal: AbortSignal,
): Promise<ApiResponse | TransportFailure> {
  try {
    return await cluster.request({ ...requestFor(target), signal, onSent });
  } catch (error) {
    if (error instanceof TransportFailure) return error;
    if (signal.aborted) return new TransportFailure('aborted', { sent: true, code: 'ABORT_ERR' });
    throw error;
  }
}

/** The options are in the body, never in the query: the server reads that only if the body is empty (SIGNALS §1). */
function requestFor({ namespace, name, uid, graceSeconds, evict, dryRun }: DeleteTarget) {
  const options = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: { uid },
    gracePeriodSeconds: graceSeconds ?? undefined,
    dryRun: dryRun ? ['All'] : undefined,
  };
  if (!evict) return { method: 'DELETE', path: podPath(namespace, name), body: options } as const;
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions: options };
  return { method: 'POST', path: podPath(namespace, name, 'eviction'), body } as const;
}

/** After a lost answer: whether the pod shows that the request was executed. Retries until the GET is answered. */
async function* wasExecuted(
  cluster: Cluster,
  target: DeleteTarget,
  signal: AbortSignal,
): AsyncGenerator<RawObservation, boolean> {
  for (let failures = 0; ; failures++) {
    const answer = await tryGet(cluster, podPath(target.namespace, target.name), { signal });
    if (signal.aborted) return false;
    if (answer !== undefined) yield* answer.dated;
    if (answer?.status === 401 || answer?.status === 403) {
      throw refusedDelete(cluster, target, readRefusal(answer.status, answer.body));
    }
    const look = answer && lookOf(answer);
    if (look) {
      const { uid, deletionTimestamp } = metadataOf(look.object);
      const executed = uid !== target.uid || wholeText(deletionTimestamp) !== '';
      if (executed) yield { kind: 'looked', ...look };
      return executed;
    }
    if (!(await delay(cluster.env, backoffMs(failures), signal))) return false;
  }
}
