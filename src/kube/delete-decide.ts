/**
 * Decides what follows one try of a DELETE or an eviction. A pure table. The rule: it is sent again only if it provably
 * was not executed, or if a GET shows the same uid without deletionTimestamp.
 */
import { backoffMs } from './decide.ts';
import { isUntrusted, type TransportFailure } from './http/failure.ts';
import type { Refusal } from './status.ts';

/** The result of one try that was not accepted. */
export type Tried = { kind: 'refused'; refusal: Refusal } | { kind: 'failed'; failure: TransportFailure };

type DeleteStep =
  /** It provably was not executed: wait, and send it again. */
  | { next: 'again'; ms: number }
  /** It may have been executed: GET the pod. If it was not, wait, and send it again; without `ms` there is no other try. */
  | { next: 'look'; ms?: number }
  | { next: 'give-up' };

/** With `dryRun` nothing is ever executed, so a GET would not show the result. */
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

/** A PodDisruptionBudget refused the eviction. Flow control answers 429 too, without this cause. */
export function isRefusedByBudget({ status, causes }: Refusal): boolean {
  return status === 429 && causes.some(({ reason }) => reason === 'DisruptionBudget');
}

/**
 * The uid precondition failed: another pod has this name now. The server finds this when it reads the pod (apiserver
 * registry/rest/delete.go `BeforeDelete`) or, if the pod was replaced after that, in the store (storage/interfaces.go
 * `Preconditions.Check`).
 */
export function isUidConflict({ status, message }: Refusal): boolean {
  return status === 409 && /UID in the precondition|Precondition failed: UID in precondition/.test(message);
}
