/**
 * What a list or watch does next. A pure table: every outcome has one row, and each row says why. watch.ts sends the
 * requests and waits.
 */
import type { GapCause } from '../model/observation.ts';
import { isUntrusted, type TransportFailure } from './http/failure.ts';
import type { Refusal } from './status.ts';

/** How one attempt (a list, or a watch from its opening to its end) came to an end. */
export type Outcome =
  /** The server ended the response in order. */
  | { kind: 'ended' }
  /** The connection broke, or a line was cut or was no JSON. */
  | { kind: 'cut' }
  /** The server knows of a change that the open stream did not bring. */
  | { kind: 'dead' }
  /** No answer at all. Without a failure: the credential plugin gave no credentials. */
  | { kind: 'unanswered'; failure?: TransportFailure }
  /** An HTTP status that is no success, or (`frame`) the code of an ERROR line inside a 200. */
  | { kind: 'refused'; refusal: Refusal; frame: boolean; verb: Verb }
  /** The server gives no streaming list: it refused, or its end mark does not come. */
  | { kind: 'no-streaming-list' }
  /** A line, or a list of one object, longer than we hold in memory. */
  | { kind: 'oversized'; refusal?: Refusal; verb: Verb }
  /** A change without a resourceVersion: nothing can resume from it. */
  | { kind: 'unversioned' }
  /** A list that is older than what we have already seen. */
  | { kind: 'behind' }
  /** The server has long had less than what the stream brought: the stream's position means nothing to that server. */
  | { kind: 'ahead' }
  /** The credentials ran out in the middle of a watch (an ERROR line), and others are there. */
  | { kind: 'renewed' }
  /** A success that no Kubernetes API gives: a login page, a proxy's own words. */
  | { kind: 'foreign' };

/** What the request did, as RBAC has it. */
type Verb = 'list' | 'watch';

export interface Cursor {
  /** Where the stream is: changes after it are still to come. Absent: nothing was listed yet. */
  resourceVersion?: string;
  /** Watching on from there is no longer possible: only a list has the state, and the gap is reported. */
  lost?: GapCause;
  /** Attempts in a row that brought nothing. */
  failures: number;
  /** Lists in a row that were behind. */
  behind: number;
  /** Lists in a row that were needed since history was lost: no watch between them has brought anything. */
  relists: number;
  /** Dead streams in a row: no list, and nothing on a watch, came between them. */
  dead: number;
  /** Answers in a row that were not from Kubernetes. */
  foreign: number;
  /** The server has answered some request of this run. */
  reached: boolean;
}

/** ms; the loop takes a random point in it, so that many streams do not come back at one moment. */
export type Wait = readonly [low: number, high: number];

/** A moment in it; `random` in [0, 1). */
export const pick = ([low, high]: Wait, random: number): number => Math.round(low + (high - low) * random);

export type Next =
  /** Watch on from the cursor: nothing is lost. */
  | { next: 'resume'; wait: Wait }
  /** List again. With `lost`: what happened between the last thing known good and this list is unknowable. */
  | { next: 'relist'; wait: Wait; lost?: GapCause; notOlder?: boolean }
  /** This stream is lost, the others go on. */
  | { next: 'refuse' }
  /** The run cannot do its work. */
  | { next: 'stop'; because: 'unauthorized' | 'unreachable' | 'untrusted' | 'foreign' | 'oversized' };

export function decide(outcome: Outcome, cursor: Cursor): Next {
  const row = rows[outcome.kind] as (outcome: Outcome, cursor: Cursor) => Next;
  return row(outcome, cursor);
}

type OutcomeOf<K extends Outcome['kind']> = Extract<Outcome, { kind: K }>;

const rows: { [K in Outcome['kind']]: (outcome: OutcomeOf<K>, cursor: Cursor) => Next } = {
  // Watches end by themselves after minutes; that is no error (client-go RetryWatcher doReceive; STYLE §6.1).
  ended: (_, cursor) => again(cursor),
  // Whatever was not delivered whole comes again from the cursor (RetryWatcher: "We retry by default").
  cut: (_, cursor) => again(cursor),
  // The history from the cursor is still on the server, so a new stream brings what the dead one kept back.
  // What failed in between says nothing against that: a list would only have what is left, not how it came to it.
  // Where that one is dead too, the server's watches are stuck: only a list can show the state.
  dead: (_, cursor) =>
    cursor.dead === 0 && cursor.resourceVersion !== undefined
      ? { next: 'resume', wait: now }
      : { next: 'relist', wait: now, lost: 'disconnected', notOlder: true },
  // Before anything was reached this is a wrong address, as kubectl says it; later it is a server that comes back.
  unanswered: ({ failure }, cursor) => {
    if (failure !== undefined && isUntrusted(failure)) return { next: 'stop', because: 'untrusted' };
    return cursor.reached ? again(cursor) : { next: 'stop', because: 'unreachable' };
  },
  refused: byStatus,
  // Kubernetes < 1.32 refuses it with 422 (errors.ndjson) or a proxy drops the parameter: LIST + WATCH does the same.
  'no-streaming-list': () => ({ next: 'relist', wait: now }),
  // Never held in memory, so never read. Where it is all that ever comes, asking again brings it again.
  oversized: (_, cursor) =>
    cursor.resourceVersion === undefined || cursor.relists >= mostOversized
      ? { next: 'stop', because: 'oversized' }
      : afresh(cursor, 'disconnected'),
  // RetryWatcher: going on "might cause lastResourceVersion inconsistency".
  unversioned: (_, cursor) => afresh(cursor, 'disconnected'),
  behind: (_, cursor) => {
    // An etcd restored from a backup stays behind for ever: then its state is the truth, and the gap is reported.
    if (cursor.behind > mostBehind) return { next: 'relist', wait: backoff(cursor.failures), lost: 'behind' };
    return { next: 'relist', wait: backoff(cursor.behind), notOlder: true };
  },
  // Asked twice, ten seconds apart: no server is behind itself for so long. Its state is the truth, and the gap is reported.
  ahead: () => ({ next: 'relist', wait: now, lost: 'behind' }),
  renewed: (_, cursor) => again(cursor),
  // Before anything was listed it is what will always answer here; later it is an outage that a proxy covers up.
  foreign: (_, cursor) =>
    cursor.resourceVersion === undefined && cursor.foreign >= mostForeign
      ? { next: 'stop', because: 'foreign' }
      : again(cursor, 1),
};

function byStatus({ refusal: { status, retryAfterMs }, frame }: OutcomeOf<'refused'>, cursor: Cursor): Next {
  // The credentials have already been renewed once: by the client (http/client.ts), or by the watch (watch-response.ts).
  if (status === 401) return { next: 'stop', because: 'unauthorized' };
  // History was compacted, reported as a status or as an ERROR line (errors.ndjson; client-go reflector isExpiredError).
  if (status === 410) return afresh(cursor, 'expired');
  // Other refusals stay refusals, whatever a proxy writes beside them.
  if (status < 500 && ![408, 429].includes(status) && !frame)
    // 403 no right; 404 and 405 the server is too old for this resource; other 4xx: asking again changes nothing.
    return status >= 400 ? { next: 'refuse' } : again(cursor, 1);
  // 504 to `resourceVersionMatch=NotOlderThan` is a server that has still to catch up: it names its own delay.
  if (retryAfterMs !== undefined) return after(asWished(retryAfterMs), cursor);
  // The server is busy, or starting, or has lost its etcd (client-go reflector: backoff with jitter). And an ERROR line
  // ends one watch, not the right to watch.
  return again(cursor, 1);
}

const now: Wait = [0, 0];
const mostBehind = 10;
const mostOversized = 3;
/** About a second at the patience below: as long as a proxy may take to find its server. */
const mostForeign = 3;

/** A list that succeeds is no success yet: the watch after it may find the same. */
function afresh(cursor: Cursor, lost: GapCause): Next {
  return { next: 'relist', wait: backoff(Math.max(cursor.failures, cursor.relists)), lost };
}

/** From the cursor, or from a list where there is none; at once the first time, then with growing patience. */
function again(cursor: Cursor, least = 0): Next {
  return after(backoff(Math.max(cursor.failures, least)), cursor);
}

function after(wait: Wait, cursor: Cursor): Next {
  if (cursor.resourceVersion === undefined) return { next: 'relist', wait };
  return cursor.lost === undefined ? { next: 'resume', wait } : { next: 'relist', wait, lost: cursor.lost };
}

/** Before a silent stream is asked about again, after so many questions in a row without an answer. */
export const waitToAskAgain = (unanswered: number, retryAfterMs: number | undefined): Wait =>
  retryAfterMs === undefined ? backoff(unanswered) : asWished(retryAfterMs);

const asWished = (retryAfterMs: number): Wait => [retryAfterMs, retryAfterMs * 1.2];

function backoff(failures: number): Wait {
  if (failures === 0) return now;
  const high = growingMs(failures - 1);
  return [high / 2, high];
}

/** ms to wait after so many failures. Short, because while a pod dies a late line costs more than a request. */
export const growingMs = (failures: number, firstMs = 250): number => Math.min(5000, firstMs * 2 ** failures);
