/** Decides what a list or watch does next. A pure table: every outcome has one row, and each row says why. */
import type { GapCause } from '../model/observation.ts';
import { isUntrusted, type TransportFailure } from './http/failure.ts';
import type { Refusal } from './status.ts';

/** How one attempt (a list, or a watch from its start to its end) ended. */
export type AttemptEnd =
  /** The server ended the response normally, or with an ERROR line as the credentials expired, and there are new ones. */
  | { kind: 'ended' }
  /** The connection broke, or a line was incomplete or not JSON. */
  | { kind: 'cut' }
  /** The server knows of a change that the open stream did not bring. */
  | { kind: 'dead' }
  /** No answer. Without `failure`: the credential plugin gave no credentials. */
  | { kind: 'unanswered'; failure?: TransportFailure }
  /** An unsuccessful HTTP status, or (`isErrorLine`) the code of an ERROR line inside a 200. */
  | { kind: 'refused'; refusal: Refusal; isErrorLine?: boolean; verb: Verb }
  /** The server does not support streaming lists: it refused, or the end mark does not come. */
  | { kind: 'no-streaming-list' }
  /** A line, or a list of one object, that is too large to hold in memory. */
  | { kind: 'oversized'; refusal?: Refusal; verb: Verb }
  /** A change without a resourceVersion: nothing can resume from it. */
  | { kind: 'unversioned' }
  /** A list that is older than what we have already seen. */
  | { kind: 'behind' }
  /** For a while the server has lacked something that the stream delivered: it does not know the stream's position. */
  | { kind: 'ahead' }
  /** A successful answer that is not from Kubernetes: a login page, or a proxy's own page. */
  | { kind: 'foreign' };

/** The request's verb in RBAC. */
type Verb = 'list' | 'watch';

export interface Cursor {
  /** The changes after this version are still to come. Absent: the stream has to start with a list. */
  resourceVersion?: string;
  /** A watch cannot continue from there. Only a list has the state, and the gap is reported with this cause. */
  lost?: GapCause;
  /** Consecutive attempts that brought nothing. */
  failures: number;
  /** Consecutive lists that were behind. */
  behind: number;
  /** Consecutive lists after history was lost; no watch in between has brought anything. */
  relists: number;
  /** Consecutive dead streams, without a list or a line of a watch in between. */
  dead: number;
  /** Consecutive answers that were not from Kubernetes. */
  foreign: number;
  /** The server has answered a request of this run. */
  reached: boolean;
}

/** ms. The loop waits a random time in this range, so that many streams do not reconnect at the same moment. */
type Wait = readonly [low: number, high: number];

/** A time in the range; `random` is in [0, 1). */
export const randomMs = ([low, high]: Wait, random: number): number => Math.round(low + (high - low) * random);

export type Next =
  /** Continue the watch from the cursor: nothing is lost. */
  | { next: 'resume'; wait: Wait }
  /** List again. With `lost`: nothing can show what happened since the stream was last complete. */
  | { next: 'relist'; wait: Wait; lost?: GapCause; notOlder?: boolean }
  /** End this stream; the others continue. */
  | { next: 'refuse' }
  /** End the run. */
  | { next: 'stop'; because: 'unauthorized' | 'unreachable' | 'untrusted' | 'foreign' | 'oversized' };

export function decide(outcome: AttemptEnd, cursor: Cursor): Next {
  const row = rows[outcome.kind] as (outcome: AttemptEnd, cursor: Cursor) => Next;
  return row(outcome, cursor);
}

type OutcomeOf<K extends AttemptEnd['kind']> = Extract<AttemptEnd, { kind: K }>;

const rows: { [K in AttemptEnd['kind']]: (outcome: OutcomeOf<K>, cursor: Cursor) => Next } = {
  // The server ends each watch after some minutes; that is no error (client-go RetryWatcher doReceive).
  ended: (_, cursor) => retry(cursor),
  // The next watch delivers an incomplete line again (RetryWatcher: "We retry by default").
  cut: (_, cursor) => retry(cursor),
  // The server still has the history after the cursor, so a new watch brings what the dead one did not, even after
  // failed attempts. A list would show only the result, not the changes. If the new watch is dead too, the server's
  // watches are stuck, and only a list can show the state.
  dead: (_, cursor) =>
    cursor.dead === 0 && cursor.resourceVersion !== undefined
      ? { next: 'resume', wait: immediately }
      : { next: 'relist', wait: immediately, lost: 'disconnected', notOlder: true },
  // If the server never answered, its address is wrong, and kubectl stops too. Otherwise the server will come back.
  unanswered: ({ failure }, cursor) => {
    if (failure !== undefined && isUntrusted(failure)) return { next: 'stop', because: 'untrusted' };
    return cursor.reached ? retry(cursor) : { next: 'stop', because: 'unreachable' };
  },
  refused: byStatus,
  // Kubernetes < 1.32 refuses it with 422 (errors.ndjson), or a proxy drops the parameter: LIST + WATCH does the same.
  'no-streaming-list': () => ({ next: 'relist', wait: immediately }),
  // The object is never read. If the server sends it again each time, a retry is useless.
  oversized: (_, cursor) =>
    cursor.resourceVersion === undefined || cursor.relists >= 3
      ? { next: 'stop', because: 'oversized' }
      : relist(cursor, 'disconnected'),
  // RetryWatcher: continuing "might cause lastResourceVersion inconsistency".
  unversioned: (_, cursor) => relist(cursor, 'disconnected'),
  behind: (_, cursor) => {
    // An etcd restored from a backup never catches up: accept its state, and report the gap.
    if (cursor.behind > 10) return { next: 'relist', wait: backoffRange(cursor.failures), lost: 'behind' };
    return { next: 'relist', wait: backoffRange(cursor.behind), notOlder: true };
  },
  // The server was asked twice, ten seconds apart, which is longer than a lag. Accept its state, and report the gap.
  ahead: () => ({ next: 'relist', wait: immediately, lost: 'behind' }),
  // Before the first list this is the wrong address, unless a proxy finds its server within a second; later it is a
  // proxy's answer during an outage.
  foreign: (_, cursor) =>
    cursor.resourceVersion === undefined && cursor.foreign >= 3
      ? { next: 'stop', because: 'foreign' }
      : retry(cursor, 1),
};

function byStatus(
  { refusal: { status, isPage, retryAfterMs }, isErrorLine }: OutcomeOf<'refused'>,
  cursor: Cursor,
): Next {
  // The client (http/client.ts) or the watch (watch-response.ts) has already renewed the credentials once.
  if (status === 401) return { next: 'stop', because: 'unauthorized' };
  // History was compacted, reported as a status or as an ERROR line (errors.ndjson; client-go reflector isExpiredError).
  if (status === 410) return relist(cursor, 'expired');
  // The API server has answered before: the proxy does not reach it now.
  const isOutage = isPage === true && cursor.resourceVersion !== undefined;
  // Other refusals are final, even if a proxy adds a Retry-After.
  if (status < 500 && ![408, 429].includes(status) && !isErrorLine && !isOutage)
    // 403: no permission; 404 and 405: the server is too old for this resource; other 4xx: a retry changes nothing.
    return status >= 400 ? { next: 'refuse' } : retry(cursor, 1);
  // A 504 to `resourceVersionMatch=NotOlderThan`: the server has to catch up, and says how long to wait.
  if (retryAfterMs !== undefined) return continueAfter(fromRetryAfter(retryAfterMs), cursor);
  // The server is busy or starting, or has lost its etcd (client-go reflector: backoff with jitter). An ERROR line ends
  // one watch, not the permission to watch.
  return retry(cursor, 1);
}

const immediately: Wait = [0, 0];

/** Also backs off by `relists`: a list may succeed each time, and the watch after it fail. */
function relist(cursor: Cursor, lost: GapCause): Next {
  return { next: 'relist', wait: backoffRange(Math.max(cursor.failures, cursor.relists)), lost };
}

/** Continues from the cursor, or with a list if there is none. The first retry is immediate, later ones back off. */
function retry(cursor: Cursor, minFailures = 0): Next {
  return continueAfter(backoffRange(Math.max(cursor.failures, minFailures)), cursor);
}

function continueAfter(wait: Wait, cursor: Cursor): Next {
  if (cursor.resourceVersion === undefined) return { next: 'relist', wait };
  return cursor.lost === undefined ? { next: 'resume', wait } : { next: 'relist', wait, lost: cursor.lost };
}

/** How long to wait before the next question about a silent stream; `unanswered` counts those without an answer. */
export const waitToAskAgain = (unanswered: number, retryAfterMs: number | undefined): Wait =>
  retryAfterMs === undefined ? backoffRange(unanswered) : fromRetryAfter(retryAfterMs);

const fromRetryAfter = (retryAfterMs: number): Wait => [retryAfterMs, retryAfterMs * 1.2];

function backoffRange(failures: number): Wait {
  if (failures === 0) return immediately;
  const high = backoffMs(failures - 1);
  return [high / 2, high];
}

/** Exponential backoff in ms. Short: while a pod terminates, a late observation costs more than a request. */
export const backoffMs = (failures: number, firstMs = 250): number => Math.min(5000, firstMs * 2 ** failures);
