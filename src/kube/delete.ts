import { asObject, metadataOf } from '../model/observe/read.ts';
import type { RawObservation } from '../model/observation.ts';
import type { ApiResponse, Cluster } from './cluster.ts';
import { isRefusedByBudget, isUidConflict, refusedDelete } from './refused.ts';
import { backoffMs } from './decide.ts';
import { TransportFailure, isUntrusted } from './http/failure.ts';
import { lookOf, tryGet } from './get.ts';
import { podPath } from './resource-path.ts';
import { wholeText, readRefusal, type Refusal } from './status.ts';
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

/** The result of one try that was not accepted. */
export type Tried = { kind: 'refused'; refusal: Refusal } | { kind: 'failed'; failure: TransportFailure };

type DeleteStep =
  /** It provably was not executed: wait, and send it again. */
  | { next: 'again'; ms: number }
  /** It may have been executed: GET the pod. If it was not, wait, and send it again; without `ms` there is no other try. */
  | { next: 'look'; ms?: number }
  | { next: 'give-up' };

/**
 * Decides what follows one try. A pure table. The rule: it is sent again only if it provably was not executed, or if a
 * GET shows the same uid without deletionTimestamp. With `dryRun` nothing is ever executed, so a GET would not show the
 * result.
 */
export function decideDelete(tried: Tried, failures: number, dryRun = false): DeleteStep {
  const retryAfterMs = tried.kind === 'refused' ? tried.refusal.retryAfterMs : undefined;
  const ms = retryAfterMs ?? backoffMs(failures, 100);
  switch (effectOf(tried)) {
    case 'final':
      return { next: 'give-up' };
    case 'none':
      // With the backoff about a minute and a half: as long as an API server takes to restart.
      return failures < 24 ? { next: 'again', ms } : { next: 'give-up' };
    case 'unknown':
      // A server that fails this often never executes it; each time a GET has shown that it did not.
      if (failures >= 8) return { next: dryRun ? 'give-up' : 'look' };
      return { next: dryRun ? 'again' : 'look', ms };
  }
}

/** `final`: another try gives the same; `none`: it was not executed; `unknown`: it may have been executed. */
type Effect = 'final' | 'none' | 'unknown';

function effectOf(tried: Tried): Effect {
  if (tried.kind === 'failed' && isUntrusted(tried.failure)) return 'final';
  // No connection, or no TLS handshake: the server has read nothing of the request.
  if (tried.kind === 'failed') return tried.failure.sent ? 'unknown' : 'none';
  const { refusal } = tried;
  const { status, isPage, message } = refusal;
  // A budget refuses until the application is healthy again; the user decides whether to wait for that.
  if (isRefusedByBudget(refusal) || isUidConflict(refusal)) return 'final';
  // Flow control rejects a request before it is executed (429, API Priority and Fairness).
  if (status === 429) return 'none';
  // With two budgets for one pod the 500 is permanent (SIGNALS §1, Eviction).
  if (/more than one PodDisruptionBudget/i.test(message)) return 'final';
  // 409 without a uid conflict: a concurrent write. 5xx: may come before or after the write.
  return status === 409 || status >= 500 || isPage ? 'unknown' : 'final';
}
