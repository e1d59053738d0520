/**
 * What a probe (`--probe`) adds to the log: counts, times and kinds. Never a header, a body or a query string. A slice of
 * half a second is one observation, so that 500 requests a second for minutes stay small.
 */
/** How a request reaches its target. */
export type ProbeVia = 'url' | 'service-proxy' | 'pod-proxy';

/** A connection that is made for one request, or the one that is kept for many. */
export type ProbeConnection = 'new' | 'kept';

/** How a request failed. `http`: an answer that was not expected, or none that could be understood. */
export const probeFailureKinds = ['refused', 'reset', 'timeout', 'dns', 'tls', 'http'] as const;

export type ProbeFailureKind = (typeof probeFailureKinds)[number];

/** Why a request that was due says nothing of the target: it is counted apart, never as a failure. */
export type NotMeasuredReason =
  /** This machine has no free local port (EADDRNOTAVAIL). */
  | 'no-local-port'
  /** This process or machine may open no more files (EMFILE, ENFILE, ENOBUFS). */
  | 'no-file-handle'
  /** This machine has no route to the target (ENETUNREACH, ENETDOWN). */
  | 'no-network'
  /** So many requests wait for their answers that no more are sent. */
  | 'too-many-waiting'
  /** This machine slept, or this process did not run. */
  | 'standstill'
  /** The API server, through which the request goes, did not answer, or turned it away itself. */
  | 'api-server';

/** A probe begins. `probe` numbers the probes of a run from 0. */
export interface ProbeStarted {
  kind: 'probe-started';
  probe: number;
  /** As it may be shown: without user, password, query and fragment. */
  target: string;
  via: ProbeVia;
  ratePerSecond: number;
  timeoutMs: number;
  /** Requests alternate between a kept connection and new ones, and are counted apart. */
  keepalive: boolean;
  /** The uid of the one pod that it asks (via `pod-proxy`). */
  pod?: string;
}

export interface ProbeTally {
  sent: number;
  failed: number;
}

/**
 * Failures of one kind, less than a slice apart. A request that timed out failed when it was sent, any other when that
 * became known; client clock, ms, rounded down.
 */
export interface ProbeFailures {
  kind: ProbeFailureKind;
  connection: ProbeConnection;
  /** HTTP status, or the status of gRPC. */
  status?: number;
  first: number;
  last: number;
  count: number;
}

/** Requests that were settled since the observation before: answered, failed, or given up. */
export interface ProbeCounts {
  kind: 'probe-counts';
  probe: number;
  /** Client ms: when this slice began; it ends with the observation. */
  since: number;
  new: ProbeTally;
  kept?: ProbeTally;
  failures: ProbeFailures[];
  /** How many answers (expected or not) took so long: pairs of a bucket (LatencyHistogram below) and a count. */
  latency: [bucket: number, count: number][];
  /** Requests that succeeded, client ms. `lastSent`: when the last of them was sent, so that the target served after it. */
  answered?: { first: number; lastSent: number };
  notMeasured?: { reason: NotMeasuredReason; count: number }[];
}

/** No more requests are sent, and none is waited for. */
export interface ProbeEnded {
  kind: 'probe-ended';
  probe: number;
}

export type ProbeObservation = ProbeStarted | ProbeCounts | ProbeEnded;

/** Latencies in buckets of growing width: each is 5 % wider than the one before, so a quantile is off by at most 2.5 %. */
const growth = Math.log(1.05);
/** ms: what is faster counts as this. */
const least = 0.01;
/** The bucket of ten minutes: what is slower counts as this. */
const lastBucket = 368;

/** How many latencies fell into which bucket. */
export type LatencyHistogram = ReadonlyMap<number, number>;

/** The bucket of a latency in ms. */
export const bucketOf = (ms: number): number =>
  Math.min(lastBucket, Math.max(0, Math.round(Math.log(Math.max(ms, least) / least) / growth)));

/** The middle of a bucket, in ms, with three digits. */
const latencyOf = (bucket: number): number => Number((least * Math.exp(bucket * growth)).toPrecision(3));

/** The latency (ms) that a share of all did not exceed; undefined where nothing was measured. */
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
