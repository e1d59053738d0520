import { asObject, metadataOf } from '../model/observe/read.ts';
import type { PodexitError } from '../errors.ts';
import type { RawObservation } from '../model/observation.ts';
import type { ApiResponse, Cluster } from './cluster.ts';
import { refusedDelete } from './refused.ts';
import { growingMs } from './decide.ts';
import { decideDelete, isSuccessor, type Tried } from './delete-decide.ts';
import { isTooLarge } from './http/body.ts';
import { TransportFailure } from './http/failure.ts';
import { tryGetPod } from './get.ts';
import { podPath } from './resource-path.ts';
import { asText, isFailureStatus, readRefusal, type Refusal } from './status.ts';
import { delay } from './env.ts';
import { notReached } from './server-errors.ts';

export interface DeleteTarget {
  namespace: string;
  name: string;
  /** Always a precondition: a successor of the same name is never deleted. */
  uid: string;
  /** Seconds; null leaves it to the pod. The answer's grace may differ (SIGNALS §1) and is for the caller to compare. */
  graceSeconds: number | null;
  /** Ask the eviction API, which respects disruption budgets. */
  evict?: boolean;
  /** The server checks everything and does nothing (`dryRun: [All]`). */
  dryRun?: boolean;
}

/**
 * Requests the deletion so that it is accepted once: `requested` whenever a request went out, then `answered` (also
 * where flow control turned it away and it is sent again), or
 * `looked` where the answer was lost and a look shows that it was executed. Sent again only where it provably was not
 * executed. Ends quietly on abort. Throws PodexitError where the server refuses it (see refused.ts) and
 * `server.unreachable` where no connection could be made for as long as it was tried.
 */
export async function* deletePod(
  cluster: Cluster,
  target: DeleteTarget,
  { signal }: { signal: AbortSignal },
): AsyncGenerator<RawObservation, void> {
  let doubtful = false;
  for (let failures = 0; ; failures++) {
    const tried = yield* send(cluster, target, signal);
    if (signal.aborted) return;
    const step = decideDelete(tried, failures, target.dryRun ?? false);
    if (step.next === 'done') return;
    // It is gone, and an earlier try may be why: the watch shows what became of it.
    if (step.next === 'give-up' && doubtful && isGone(tried)) return;
    if (step.next === 'again' && tried.kind === 'refused') yield turnedAway(cluster, target, tried.refusal);
    if (step.next === 'look' || step.next === 'last-look') {
      doubtful = true;
      if ((yield* wasExecuted(cluster, target, signal)) || signal.aborted) return;
    }
    if (step.next === 'give-up' || step.next === 'last-look') throw giveUp(cluster, target, tried);
    if (!(await delay(cluster.env, step.ms, signal))) return;
  }
}

const isGone = (tried: Tried): boolean =>
  tried.kind === 'refused' && (tried.refusal.status === 404 || isSuccessor(tried.refusal));

/** Reported, so that this try is not taken for the one that began the deletion. */
function turnedAway(cluster: Cluster, { evict }: DeleteTarget, { status, message }: Refusal): RawObservation {
  const verb = evict ? 'evict' : 'delete';
  return { kind: 'answered', at: cluster.env.now(), verb, status, message: cluster.clean(message) };
}

async function* send(
  cluster: Cluster,
  target: DeleteTarget,
  signal: AbortSignal,
): AsyncGenerator<RawObservation, Tried> {
  const verb = target.evict ? 'evict' : 'delete';
  // Reported as it goes out, not when the answer is there: the watch may bring the deletion before the answer comes. What
  // never went out is not reported.
  let reportSent: (sentAt: number) => void = () => undefined;
  const sent = new Promise<number>((resolve) => (reportSent = resolve));
  const answering = request(cluster, target, reportSent, signal);
  const sentAt = await Promise.race([sent, answering.then(() => undefined)]);
  if (sentAt !== undefined) {
    const { graceSeconds, uid } = target;
    yield { kind: 'requested', at: sentAt, verb, graceSeconds, uid };
  }
  const answer = await answering;
  if (answer instanceof TransportFailure) return { kind: 'failed', failure: answer };
  yield* answer.dated;
  const { status, body, at } = answer;
  if (status < 200 || status >= 300 || isFailureStatus(body)) {
    const code = asObject(body)['code'];
    return {
      kind: 'refused',
      refusal: readRefusal(status < 300 && typeof code === 'number' ? code : status, body, answer.headers),
    };
  }
  yield { kind: 'answered', at, verb, status, ...(asObject(body)['kind'] === 'Pod' ? { object: body } : {}) };
  return { kind: 'accepted' };
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
    // As good as lost: whether it was executed shows in a look.
    if (isTooLarge(error)) return new TransportFailure(error.message, { sent: true, code: 'EMSGSIZE', cause: error });
    if (signal.aborted) return new TransportFailure('aborted', { sent: true, code: 'ABORT_ERR' });
    throw error;
  }
}

/** The body, never the query: the server reads the query only where the body is empty (SIGNALS §1). */
function requestFor({ namespace, name, uid, graceSeconds, evict, dryRun }: DeleteTarget) {
  const grace = graceSeconds === null ? {} : { gracePeriodSeconds: graceSeconds };
  const dry = dryRun ? { dryRun: ['All'] } : {};
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid }, ...grace, ...dry };
  if (!evict) return { method: 'DELETE', path: podPath(namespace, name), body: options } as const;
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions: options };
  return { method: 'POST', path: podPath(namespace, name, 'eviction'), body } as const;
}

/** The answer was lost: whether the pod shows that the request was executed. Looks until there is an answer. */
async function* wasExecuted(
  cluster: Cluster,
  target: DeleteTarget,
  signal: AbortSignal,
): AsyncGenerator<RawObservation, boolean> {
  for (let failures = 0; ; failures++) {
    const answer = await tryGetPod(cluster, target, signal);
    if (signal.aborted) return false;
    if (answer !== undefined) yield* answer.dated;
    if (answer?.status === 401 || answer?.status === 403) {
      throw refusedDelete(cluster, target, readRefusal(answer.status, answer.body));
    }
    const kind = asObject(answer?.body)['kind'];
    if (answer?.status === 404 && kind === 'Status') {
      yield { kind: 'looked', at: answer.at, sentAt: answer.sentAt };
      return true;
    }
    // A login page, or a proxy's own words, say nothing of the pod.
    if (answer?.status === 200 && kind === 'Pod') {
      const metadata = metadataOf(answer.body);
      const executed = asText(metadata['uid']) !== target.uid || asText(metadata['deletionTimestamp']) !== '';
      if (executed) yield { kind: 'looked', at: answer.at, sentAt: answer.sentAt, object: answer.body };
      return executed;
    }
    if (!(await delay(cluster.env, growingMs(failures), signal))) return false;
  }
}

function giveUp(cluster: Cluster, target: DeleteTarget, tried: Tried): PodexitError {
  if (tried.kind === 'refused') return refusedDelete(cluster, target, tried.refusal);
  return notReached(cluster, tried.kind === 'failed' ? tried.failure : undefined);
}
