/** Observations of probes (`--probe`): counts, times and kinds, for half a second each; never a header or a body. */
import {
  fields,
  isCount,
  isFlag,
  isNumber,
  isText,
  isMs,
  arrayOf,
  isOneOf,
  optional,
  type Guarded,
} from './observe/read.ts';

const isVia = isOneOf('url', 'service-proxy', 'pod-proxy');

/** A new connection for one request, or a kept one for many. */
const isConnection = isOneOf('new', 'kept');

/** How a request failed. `http`: the answer was unexpected or not understood. `not-serving`: gRPC's health said so. */
const isFailureKind = isOneOf('refused', 'reset', 'timeout', 'dns', 'tls', 'http', 'not-serving');

/** Why a request says nothing about the target; such requests are counted separately, never as failures. */
const isNotMeasuredReason = isOneOf(
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

/** Failures of one kind less than 0.5 s apart, client ms: of a timeout when it was sent, else when it was known. */
const isFailures = fields({
  kind: isFailureKind,
  connection: isConnection,
  status: optional(isCount),
  first: isMs,
  last: isMs,
  count: isCount,
});

/** The kinds of observations about probes; `probe` numbers the probes of a run from 0. */
export const probeKinds = {
  'probe-started': fields({
    probe: isCount,
    /** For display: without user, password, query and fragment. */
    target: isText,
    via: isVia,
    ratePerSecond: isNumber,
    timeoutMs: isNumber,
    /** Requests alternate between a kept connection and new ones, and are counted separately. */
    keepalive: isFlag,
    pod: optional(isText),
  }),

  /** Requests that were answered, failed or given up since the previous observation. */
  'probe-counts': fields({
    probe: isCount,
    /** Client ms: start of this slice, which ends with the observation. */
    since: isMs,
    new: isTally,
    kept: optional(isTally),
    failures: arrayOf(isFailures),
    /** Latencies of all answers, expected or not: pairs of a bucket (probe-numbers.ts) and a count. */
    latency: arrayOf(isPair),
    /** Client ms of the first success, and when the last successful request was sent: the target served after it. */
    answered: optional(fields({ first: isMs, lastSent: isMs })),
    notMeasured: optional(arrayOf(fields({ reason: isNotMeasuredReason, count: isCount }))),
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
