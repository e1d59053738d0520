/**
 * Observations of probes (`--probe`): counts, times and kinds; never a header, a body or a query string. One
 * observation covers half a second, so that 500 requests a second for minutes stay small.
 */
import {
  fields,
  isCount,
  isFlag,
  isNumber,
  isText,
  isTime,
  listOf,
  oneOf,
  optional,
  type Guarded,
} from './observe/guards.ts';

/** How a request reaches its target. */
const isVia = oneOf('url', 'service-proxy', 'pod-proxy');

/** A new connection for one request, or a kept one for many. */
const isConnection = oneOf('new', 'kept');

/** How a request failed. `http`: the answer was unexpected or not understood. `not-serving`: gRPC's health said so. */
const isFailureKind = oneOf('refused', 'reset', 'timeout', 'dns', 'tls', 'http', 'not-serving');

/** Why a request says nothing about the target; such requests are counted separately, never as failures. */
const isNotMeasuredReason = oneOf(
  /** This machine has no free local port (EADDRNOTAVAIL). */
  'no-local-port',
  /** This process or machine can open no more files (EMFILE, ENFILE, ENOBUFS). */
  'no-file-handle',
  /** This machine has no route to the target (ENETUNREACH, ENETDOWN). */
  'no-network',
  /** Too many requests are waiting for an answer, of the target or of a name server: no more are sent. */
  'too-many-waiting',
  /** This machine slept, or this process was suspended. */
  'standstill',
  /** The API server that forwards the request did not answer, or rejected it itself. */
  'api-server',
);

const isPair = (value: unknown): value is [bucket: number, count: number] =>
  Array.isArray(value) && value.length === 2 && value.every(isCount);

const isTally = fields({ sent: isCount, failed: isCount });

/**
 * Failures of one kind that are less than half a second apart. A timed-out request counts from its sending, any other
 * failure from when it became known; client clock, ms, rounded down.
 */
const isFailures = fields({
  kind: isFailureKind,
  connection: isConnection,
  /** HTTP or gRPC status. */
  status: optional(isCount),
  first: isTime,
  last: isTime,
  count: isCount,
});

/** The kinds of observations about probes; `probe` numbers the probes of a run from 0. */
export const probeKinds = {
  /** A probe begins. */
  'probe-started': fields({
    probe: isCount,
    /** For display: without user, password, query and fragment. */
    target: isText,
    via: isVia,
    ratePerSecond: isNumber,
    timeoutMs: isNumber,
    /** Requests alternate between a kept connection and new ones, and are counted separately. */
    keepalive: isFlag,
    /** Uid of the probed pod (via `pod-proxy`). */
    pod: optional(isText),
  }),

  /** Requests that were answered, failed or given up since the previous observation. */
  'probe-counts': fields({
    probe: isCount,
    /** Client ms: start of this slice, which ends with the observation. */
    since: isTime,
    new: isTally,
    kept: optional(isTally),
    failures: listOf(isFailures),
    /** Latencies of all answers, expected or not: pairs of a bucket (`bucketOf`) and a count. */
    latency: listOf(isPair),
    /** Client ms of the first success, and when the last successful request was sent: the target served after it. */
    answered: optional(fields({ first: isTime, lastSent: isTime })),
    notMeasured: optional(listOf(fields({ reason: isNotMeasuredReason, count: isCount }))),
  }),

  /** The probe ended: no request is sent or awaited any more. */
  'probe-ended': fields({ probe: isCount }),
};

type Kinds = typeof probeKinds;
type OfKind<K extends keyof Kinds> = { kind: K } & Guarded<Kinds[K]>;

export type ProbeStarted = OfKind<'probe-started'>;
export type ProbeCounts = OfKind<'probe-counts'>;
export type ProbeObservation = ProbeStarted | ProbeCounts | OfKind<'probe-ended'>;

export type ProbeVia = Guarded<typeof isVia>;
export type ProbeConnection = Guarded<typeof isConnection>;
export type ProbeFailureKind = Guarded<typeof isFailureKind>;
export type NotMeasuredReason = Guarded<typeof isNotMeasuredReason>;
export type ProbeTally = Guarded<typeof isTally>;
export type ProbeFailures = Guarded<typeof isFailures>;

export const sumOf = (tallies: readonly (ProbeTally | undefined)[]): ProbeTally => ({
  sent: tallies.reduce((sum, tally) => sum + (tally?.sent ?? 0), 0),
  failed: tallies.reduce((sum, tally) => sum + (tally?.failed ?? 0), 0),
});

/** Width of the latency buckets: each is 5 % wider than the one before, so a quantile is off by at most 2.5 %. */
const bucketGrowth = Math.log(1.05);
/** ms; lower latencies count as this. */
const minLatencyMs = 0.01;
/** The bucket of ten minutes; higher latencies count as this. */
const lastBucket = 368;

/** Number of latencies per bucket. */
export type LatencyHistogram = ReadonlyMap<number, number>;

/** The bucket of a latency in ms. */
export const bucketOf = (ms: number): number =>
  Math.min(lastBucket, Math.max(0, Math.round(Math.log(Math.max(ms, minLatencyMs) / minLatencyMs) / bucketGrowth)));

/** The middle of a bucket, in ms, with three digits. */
const latencyOf = (bucket: number): number => Number((minLatencyMs * Math.exp(bucket * bucketGrowth)).toPrecision(3));

/** The latency (ms) that `share` of all answers did not exceed; undefined without answers. */
export function quantile(histogram: LatencyHistogram, share: number): number | undefined {
  const buckets = [...histogram].sort(([one], [other]) => one - other);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of buckets) {
    seen += count;
    if (seen >= share * total) return latencyOf(bucket);
  }
  return undefined;
}

/** The sum of the counts of each key, in the order of the first occurrence. */
export function sumByKey<K>(counts: readonly (readonly [key: K, count: number])[]): Map<K, number> {
  const sums = new Map<K, number>();
  for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
  return sums;
}
