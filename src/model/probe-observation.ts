/**
 * Observations of probes (`--probe`): counts, times and kinds; never a header, a body or a query string. One
 * observation covers half a second, so that 500 requests a second for minutes stay small.
 */
/** How a request reaches its target. */
export type ProbeVia = 'url' | 'service-proxy' | 'pod-proxy';

/** A new connection for one request, or a kept one for many. */
export type ProbeConnection = 'new' | 'kept';

/** How a request failed. `http`: the answer was unexpected or not understood. */
export const probeFailureKinds = ['refused', 'reset', 'timeout', 'dns', 'tls', 'http'] as const;

export type ProbeFailureKind = (typeof probeFailureKinds)[number];

/** Why a request says nothing about the target; such requests are counted separately, never as failures. */
export type NotMeasuredReason =
  /** This machine has no free local port (EADDRNOTAVAIL). */
  | 'no-local-port'
  /** This process or machine can open no more files (EMFILE, ENFILE, ENOBUFS). */
  | 'no-file-handle'
  /** This machine has no route to the target (ENETUNREACH, ENETDOWN). */
  | 'no-network'
  /** Too many requests are waiting for an answer: no more are sent. */
  | 'too-many-waiting'
  /** This machine slept, or this process was suspended. */
  | 'standstill'
  /** The API server that forwards the request did not answer, or rejected it itself. */
  | 'api-server';

/** A probe begins. `probe` numbers the probes of a run from 0. */
export interface ProbeStarted {
  kind: 'probe-started';
  probe: number;
  /** For display: without user, password, query and fragment. */
  target: string;
  via: ProbeVia;
  ratePerSecond: number;
  timeoutMs: number;
  /** Requests alternate between a kept connection and new ones, and are counted separately. */
  keepalive: boolean;
  /** Uid of the probed pod (via `pod-proxy`). */
  pod?: string;
}

export interface ProbeTally {
  sent: number;
  failed: number;
}

export const sumOf = (tallies: readonly (ProbeTally | undefined)[]): ProbeTally => ({
  sent: tallies.reduce((sum, tally) => sum + (tally?.sent ?? 0), 0),
  failed: tallies.reduce((sum, tally) => sum + (tally?.failed ?? 0), 0),
});

/**
 * Failures of one kind that are less than half a second apart. A timed-out request counts from its sending, any other
 * failure from when it became known; client clock, ms, rounded down.
 */
export interface ProbeFailures {
  kind: ProbeFailureKind;
  connection: ProbeConnection;
  /** HTTP or gRPC status. */
  status?: number;
  first: number;
  last: number;
  count: number;
}

/** Requests that were answered, failed or given up since the previous observation. */
export interface ProbeCounts {
  kind: 'probe-counts';
  probe: number;
  /** Client ms: start of this slice, which ends with the observation. */
  since: number;
  new: ProbeTally;
  kept?: ProbeTally;
  failures: ProbeFailures[];
  /** Latencies of all answers, expected or not: pairs of a bucket (LatencyHistogram below) and a count. */
  latency: [bucket: number, count: number][];
  /** Client ms of the first success, and when the last successful request was sent: the target served after it. */
  answered?: { first: number; lastSent: number };
  notMeasured?: { reason: NotMeasuredReason; count: number }[];
}

/** The probe ended: no request is sent or awaited any more. */
export interface ProbeEnded {
  kind: 'probe-ended';
  probe: number;
}

export type ProbeObservation = ProbeStarted | ProbeCounts | ProbeEnded;

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
