/** The result of one request: what the target did, or what this machine could not do; and the count of many results. */
import type {
  NotMeasuredReason,
  ProbeFailureKind,
  ProbeConnection,
  ProbeCounts,
  ProbeFailures,
} from '../model/probe-observation.ts';
import { bucketOf } from '../model/probe-numbers.ts';

/** `said`: the target's answer or Node's error, in a few words. */
export type Result =
  | { kind: 'succeeded'; said: string }
  /** `isAnswer`: something came back, so there is a latency. */
  | { kind: 'failed'; failure: ProbeFailureKind; status?: number; isAnswer: boolean; said: string }
  | { kind: 'not-measured'; reason: NotMeasuredReason; said: string };

export const succeeded = (said: string): Result => ({ kind: 'succeeded', said });

/** A failure, without an answer unless `more` says otherwise. */
export const failed = (
  failure: ProbeFailureKind,
  said: string = failureWords[failure],
  more: { status?: number; isAnswer?: boolean } = {},
): Result => ({ kind: 'failed', failure, isAnswer: false, said, ...more });

/** An answer that was not expected. */
export const unexpected = (status: number, said: string): Result => failed('http', said, { status, isAnswer: true });

/** Where a request was when it was cancelled: waiting for an address, or for its turn to look one up. */
export type LookupStage = 'dns' | 'lookup-waits' | undefined;

/** A request that got no answer in time. */
export const timedOut = (stage: LookupStage): Result =>
  stage === 'lookup-waits'
    ? { kind: 'not-measured', reason: 'too-many-waiting', said: 'earlier lookups of names have no answer' }
    : failed(stage ?? 'timeout');

/** What this machine lacks never counts as a failure of the target. */
const machineTroubles: Readonly<Record<string, NotMeasuredReason>> = {
  EADDRNOTAVAIL: 'no-local-port',
  EADDRINUSE: 'no-local-port',
  EMFILE: 'no-file-handle',
  ENFILE: 'no-file-handle',
  ENOBUFS: 'no-file-handle',
  ENOMEM: 'no-file-handle',
  ENETUNREACH: 'no-network',
  ENETDOWN: 'no-network',
};

const failureByCode: Readonly<Record<string, ProbeFailureKind>> = {
  ECONNREFUSED: 'refused',
  // A firewall or a router refuses instead of the target.
  EHOSTUNREACH: 'refused',
  EACCES: 'refused',
  EPERM: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'dns',
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  HOSTNAME_MISMATCH: 'tls',
};

const failureByPattern: readonly [prefix: RegExp, kind: ProbeFailureKind][] = [
  [/^EAI_/, 'dns'],
  [/^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|UNABLE_TO_|INVALID_)/, 'tls'],
  // Invalid bytes, from Node's parser of HTTP/1.1 or its session of HTTP/2.
  [/^(?:HPE_|ERR_HTTP_|ERR_HTTP2_ERROR|ERR_STREAM_PREMATURE)/, 'http'],
];

const failureWords: Readonly<Record<ProbeFailureKind, string>> = {
  refused: 'connection refused',
  reset: 'connection reset',
  timeout: 'timed out',
  dns: 'its name does not resolve',
  tls: 'TLS failed',
  http: 'no HTTP answer',
  'not-serving': 'not serving',
};

/** The result of a request that ended in one of Node's errors. */
export function resultOfError(error: NodeJS.ErrnoException): Result {
  const code = codeOf(error);
  const reason = machineTroubles[code];
  if (reason !== undefined) return { kind: 'not-measured', reason, said: code };
  const failure = failureByCode[code] ?? failureByPattern.find(([prefix]) => prefix.test(code))?.[1] ?? 'reset';
  return failed(failure, code === '' ? undefined : `${failureWords[failure]} (${code})`);
}

export const closedEarly = (): NodeJS.ErrnoException =>
  Object.assign(new Error('the connection was closed before the answer came'), { code: 'ECONNRESET' });

/** If all addresses fail, the error contains one for each; trouble of this machine says nothing about the target. */
function codeOf(error: NodeJS.ErrnoException): string {
  const each = error instanceof AggregateError ? (error.errors as NodeJS.ErrnoException[]) : [error];
  const codes = each.map(({ code }) => code ?? '');
  return codes.find((code) => code !== '' && !(code in machineTroubles)) ?? codes[0] ?? '';
}

/** One request that was settled; client clock, ms. */
export interface Settled {
  connection: ProbeConnection;
  result: Result;
  sentAt: number;
  settledAt: number;
  latencyMs: number;
}

export type Tally = ReturnType<typeof createTally>;

/** Counts the requests that were settled since the last observation: memory does not grow with their number. */
export function createTally(probe: number, hasKept: boolean, start: number) {
  let slice = emptySlice(probe, hasKept, start);
  let latency = new Map<number, number>();
  let isEmpty = true;
  return {
    add({ connection, result, sentAt, settledAt, latencyMs }: Settled): void {
      isEmpty = false;
      if (result.kind === 'not-measured') return countMissed(slice, result.reason, 1);
      const tally = connection === 'kept' && slice.kept ? slice.kept : slice.new;
      tally.sent += 1;
      if (result.kind === 'succeeded' || result.isAnswer) {
        const bucket = bucketOf(latencyMs);
        latency.set(bucket, (latency.get(bucket) ?? 0) + 1);
      }
      if (result.kind === 'succeeded') return countAnswered(slice, sentAt);
      tally.failed += 1;
      const { failure: kind, status } = result;
      countFailure(slice, { kind, connection, status }, kind === 'timeout' || kind === 'dns' ? sentAt : settledAt);
    },
    /** Counts requests that were due but never sent. */
    miss(reason: NotMeasuredReason, count: number): void {
      isEmpty = false;
      countMissed(slice, reason, count);
    },
    /** What was added since the last call; undefined if nothing was. The next slice begins `at`. */
    take(at: number): ProbeCounts | undefined {
      if (isEmpty) {
        slice.since = at;
        return undefined;
      }
      const taken = { ...slice, latency: [...latency] };
      slice = emptySlice(probe, hasKept, at);
      latency = new Map();
      isEmpty = true;
      return taken;
    },
  };
}

const emptySlice = (probe: number, hasKept: boolean, since: number): ProbeCounts => ({
  kind: 'probe-counts',
  probe,
  since,
  new: { sent: 0, failed: 0 },
  kept: hasKept ? { sent: 0, failed: 0 } : undefined,
  failures: [],
  latency: [],
});

function countAnswered(slice: ProbeCounts, sentAt: number): void {
  const { first = sentAt, lastSent = sentAt } = slice.answered ?? {};
  slice.answered = { first: Math.min(first, sentAt), lastSent: Math.max(lastSent, sentAt) };
}

function countFailure(
  slice: ProbeCounts,
  { kind, connection, status }: Pick<ProbeFailures, 'kind' | 'connection' | 'status'>,
  at: number,
): void {
  const known = slice.failures.find(
    (entry) => entry.kind === kind && entry.connection === connection && entry.status === status,
  );
  if (!known) return void slice.failures.push({ kind, connection, status, first: at, last: at, count: 1 });
  known.first = Math.min(known.first, at);
  known.last = Math.max(known.last, at);
  known.count += 1;
}

function countMissed(slice: ProbeCounts, reason: NotMeasuredReason, count: number): void {
  slice.notMeasured ??= [];
  const known = slice.notMeasured.find((entry) => entry.reason === reason);
  if (known) known.count += count;
  else slice.notMeasured.push({ reason, count });
}
