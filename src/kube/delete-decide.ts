/**
 * What a DELETE (or an eviction) does after a try: a pure table. The law: it is sent again only if it provably was not
 * executed, or if a look shows the same uid without deletionTimestamp.
 */
import { growingMs } from './decide.ts';
import { isUntrusted, type TransportFailure } from './http/failure.ts';
import type { Refusal } from './status.ts';

/** One try: what came of it. */
export type Tried =
  { kind: 'accepted' } | { kind: 'refused'; refusal: Refusal } | { kind: 'failed'; failure: TransportFailure };
export type DeleteStep =
  | { next: 'done' }
  /** Provably not executed. */
  | { next: 'again'; ms: number }
  /** It may have been executed: look first, then wait. */
  | { next: 'look'; ms: number }
  /** The same, and then no more tries. */
  | { next: 'last-look' }
  | { next: 'give-up' };

/** At the growing patience below about a minute and a half: as long as an API server takes to come back. */
const mostUnconnected = 24;
/** A server that errs this often does not execute it; each time a look has shown so. */
const mostAmbiguous = 8;

/** `dryRun`: nothing is executed whatever is answered, so no later GET shows what became of it. */
export function decideDelete(tried: Tried, failures: number, dryRun = false): DeleteStep {
  const step = decideReal(tried, failures);
  if (!dryRun) return step;
  if (step.next === 'look') return { next: 'again', ms: step.ms };
  return step.next === 'last-look' ? { next: 'give-up' } : step;
}

function decideReal(tried: Tried, failures: number): DeleteStep {
  switch (tried.kind) {
    case 'accepted':
      return { next: 'done' };
    case 'refused':
      return afterRefusal(tried.refusal, failures);
    case 'failed':
      if (isUntrusted(tried.failure)) return { next: 'give-up' };
      // No connection, or no TLS: not one byte of the request was read.
      if (!tried.failure.sent)
        return failures < mostUnconnected ? { next: 'again', ms: patience(failures) } : { next: 'give-up' };
      return ambiguous(failures);
  }
}

function afterRefusal(refusal: Refusal, failures: number): DeleteStep {
  const { status, retryAfterMs } = refusal;
  // A budget refuses until the application is healthy again: whether to wait for that is the user's decision.
  if (isBudget(refusal)) return { next: 'give-up' };
  // Flow control turns a request away before it is executed (429, Kubernetes API priority and fairness).
  if (status === 429)
    return failures < mostUnconnected ? { next: 'again', ms: retryAfterMs ?? patience(failures) } : { next: 'give-up' };
  if (isSuccessor(refusal)) return { next: 'give-up' };
  // Two budgets for one pod are a 500 that stays (SIGNALS §1, Eviction).
  if (/more than one PodDisruptionBudget/i.test(refusal.message)) return { next: 'give-up' };
  // 409 without a uid is a write that raced with ours; 5xx may come after the write as well as before it.
  // A 404 that is no Status is a proxy's: the pod may live.
  if (status === 409 || status >= 500 || (status === 404 && refusal.reason === ''))
    return ambiguous(failures, retryAfterMs);
  return { next: 'give-up' };
}

function ambiguous(failures: number, retryAfterMs?: number): DeleteStep {
  return failures < mostAmbiguous ? { next: 'look', ms: retryAfterMs ?? patience(failures) } : { next: 'last-look' };
}

/** The eviction API's no, as opposed to flow control's. */
export function isBudget({ status, causes }: Refusal): boolean {
  return status === 429 && causes.some(({ reason }) => reason === 'DisruptionBudget');
}

/**
 * The uid precondition failed: another pod has the name now. Said when the pod is read (apiserver registry/rest/delete.go
 * `BeforeDelete`), or, where it was replaced between that and the write, by the store (storage/interfaces.go
 * `Preconditions.Check`).
 */
export function isSuccessor({ status, message }: Refusal): boolean {
  return status === 409 && /UID in the precondition|Precondition failed: UID in precondition/.test(message);
}

const patience = (failures: number): number => growingMs(failures, 100);
