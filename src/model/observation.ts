/**
 * Everything that podexit can observe about a pod's exit. An Observation is what we saw, never a conclusion. Live runs,
 * replays, the demo and tests differ only in the source of their observations.
 *
 * Each kind is defined once, as checks of its fields: the types follow from them, and a recording must pass them. The
 * Kubernetes objects inside are not checked: observe.ts narrows them.
 *
 * Time: `at` and `sentAt` are whole milliseconds since the epoch on the client's clock, rounded down, from a monotonic
 * clock: the true moment lies in [at, at + 1). `at` is the moment of arrival, or of sending for what we send.
 */
import type { ObservedObject, Pod } from './kube.ts';
import {
  fields,
  isAnything,
  isCount,
  isFlag,
  isNumber,
  isText,
  isMs,
  arrayOf,
  isOneOf,
  optional,
  type Guarded,
  type Flat,
  type JsonObject,
} from './observe/read.ts';
import { probeKinds } from './probe-observation.ts';

/**
 * The streams that may be watched (watched.ts). `logs` is one stream per container; `pod` is limited to one name.
 * `pods` is the stream of a workload, shared by all traced pods: for each of them it acts as `pod` for the pod itself
 * and as `siblings` for the others (select.ts), and reports know only these two.
 */
const isStream = isOneOf(
  'pod',
  'pods',
  'services',
  'endpointslices',
  'events',
  'logs',
  'node',
  'node-events',
  'lease',
  'owner',
  'owner-events',
  'siblings',
  'namespace',
);

/** How the run gets to see the exit. `check` never deletes anything. */
const isMode = isOneOf('delete', 'evict', 'attach', 'check');

const isVerb = isOneOf('delete', 'evict');

/** Why something may have been missed. */
const isGapCause = isOneOf(
  /** The history was compacted (410): what happened in between is unknown. */
  'expired',
  /** The connection was lost, and the stream could not be resumed. */
  'disconnected',
  /** The stream was not in sync when the DELETE had to be sent, or when another client's deletion began. */
  'not-synced',
  /** Another API server behind the same address answered with an older state. */
  'behind',
  /** The server refused the stream (403 and the like); lasts to the end of the run. */
  'refused',
);

/** Seconds; null: see the field. */
const isSecondsOrNull = (value: unknown): value is number | null => value === null || isNumber(value);

/** In a run about several pods, `pod` is the uid of the pod that the observation is about. */
const kinds = {
  /** The options of the run that the report depends on; always the first observation. */
  began: fields({
    mode: isMode,
    /** Namespace of the pods; empty: all namespaces. */
    namespace: isText,
    /** Name of the one pod; empty if the run is about `target`. */
    name: isText,
    /** The target of a run over several pods, in words: `deployment/checkout`. */
    target: optional(isText),
    /** Only the first pod of `target` that terminates is traced. */
    next: optional(isFlag),
    /** The grace period of the request, in seconds; null: the pod's own. */
    graceSeconds: isSecondsOrNull,
    /** Seconds after which the run ends as `stuck`; null: never. */
    timeoutSeconds: isSecondsOrNull,
    waitReplacement: isFlag,
    /** When the first list was asked for, if its answer took more than 2 s. */
    askedAt: optional(isMs),
    /** The command line, without possible secrets (cli/words.ts). */
    command: optional(isText),
    version: optional(isText),
    context: optional(isText),
  }),

  /** The whole state of a stream, from a list (or a streaming list): an object that is not in it does not exist. */
  listed: fields({
    stream: isStream,
    resourceVersion: isText,
    objects: arrayOf(isAnything),
    /** When the request was sent; the state is not older (a list without resourceVersion is a consistent read). */
    sentAt: optional(isMs),
    /** Set if the list was limited to one name: if it is empty, this object does not exist. */
    name: optional(isText),
  }),

  /** One watch event. BOOKMARKs only move the resourceVersion and are not observations. */
  changed: fields({ stream: isStream, change: isOneOf('ADDED', 'MODIFIED', 'DELETED'), object: isAnything }),

  /** The pods of the pod's controller, of which nothing follows. Only recordings of older versions have it. */
  kin: fields({}),

  /** The stream is in sync: from now on everything that it misses is observed as a `gap`. */
  synced: fields({ stream: isStream }),

  /** The server refused a stream; other streams are not affected. */
  refused: fields({
    stream: isStream,
    /** The container, and the uid of its pod, for `logs`. */
    container: optional(isText),
    pod: optional(isText),
    status: isNumber,
    /** The missing permission, for example verb `list`, resource `endpointslices`, group `discovery.k8s.io`. */
    verb: isText,
    resource: isText,
    group: isText,
    message: isText,
  }),

  /** Between `from` and `to` (ms, client clock) changes of this stream may have been missed. */
  gap: fields({
    stream: isStream,
    /** For `logs`: the container and the uid of its pod. For other streams, `pod` is the pod that missed changes. */
    container: optional(isText),
    pod: optional(isText),
    from: isMs,
    /** Absent: the gap has not ended. */
    to: optional(isMs),
    cause: isGapCause,
  }),

  /**
   * A stream was interrupted and resumed: nothing is lost, but what arrives now may have happened at any time since
   * `since` (ms, client clock), when the stream was last known to be alive. Also for a run that starts with what was
   * received before it, until `since`, before its own first list.
   */
  resumed: fields({ stream: isStream, since: isMs }),

  /** A `Date` header: the API server's clock (ms, whole seconds). `read`: what a GET sent at `sentAt` asked for: the state in storage (failed: refused, 5xx), or in memory. */
  dated: fields({ sentAt: isMs, date: isMs, read: optional(isOneOf('stored', 'failed', 'cached')) }),

  /** We sent a DELETE or an eviction. `graceSeconds`: the requested grace period; null: the server decides. */
  requested: fields({ verb: isVerb, graceSeconds: isSecondsOrNull, uid: isText }),

  /** The server's answer to it. `object` is the Pod after a DELETE; an eviction is answered with a Status. */
  answered: fields({
    verb: isVerb,
    pod: optional(isText),
    status: isNumber,
    reason: optional(isText),
    message: optional(isText),
    object: isAnything,
  }),

  /** A single GET of the pod; without `object` the server answered 404. */
  looked: fields({ pod: optional(isText), object: isAnything, sentAt: optional(isMs) }),

  'log-opened': fields({ pod: optional(isText), container: isText }),

  /** One log line. It has its text only if the text is shown; the text is recorded only with `--logs`. */
  line: fields({
    pod: optional(isText),
    container: isText,
    /** Timestamp of the container runtime, RFC 3339 with nanoseconds, node clock. */
    time: isText,
    /** The line says that a stop signal was received (observe.ts); only recordings have it already. */
    namesSignal: optional(isFlag),
    /** The signals that it names are others than SIGTERM. */
    namesOther: optional(isFlag),
    /** The line says that the application stops. */
    namesStop: optional(isFlag),
    text: optional(isText),
    /** How many lines of a chatty container were dropped since the last reported one. */
    skipped: optional(isCount),
  }),

  /** The log stream ended. `clean`: the server ended it normally; otherwise the connection broke. */
  'log-ended': fields({ pod: optional(isText), container: isText, clean: isFlag }),

  /** A timer of the run fired. `settled`: no more facts are awaited. `over`: a pod's trace is complete. */
  timer: fields({ name: isOneOf('timeout', 'settled', 'over'), pod: optional(isText) }),

  ...probeKinds,

  /** The user or the system ended the run; SIGPIPE: the reader of stdout went away. */
  interrupted: fields({ signal: isOneOf('SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE') }),
};

type Kinds = typeof kinds;
export type ObservationKind = keyof Kinds;

const isArrived = fields({
  /** ms, client clock. */
  at: isMs,
  /** It arrived before the previous observation was shown, so both were shown together. */
  together: optional(isFlag),
});

type Raw<K extends ObservationKind> = Flat<{ kind: K } & Guarded<Kinds[K]>>;

interface Narrowed {
  listed: { objects: ObservedObject[] };
  changed: { object: ObservedObject };
  answered: { object?: Pod | undefined };
  looked: { object?: Pod | undefined };
  line: { namesSignal: boolean };
}

type Body<K extends ObservationKind> = K extends keyof Narrowed
  ? Flat<Omit<Raw<K>, keyof Narrowed[K]> & Narrowed[K]>
  : Raw<K>;

type Arrived = Guarded<typeof isArrived>;

/** What a source delivers. Its objects are unchecked, as the server or a file gave them. */
export type RawObservation = { [K in ObservationKind]: Arrived & Raw<K> }[ObservationKind];

/** Whether a line of a recording is an observation. */
export function isRawObservation(value: JsonObject): value is RawObservation & JsonObject {
  const { kind } = value;
  // Object.hasOwn: a file may name its kind `constructor`.
  return (
    typeof kind === 'string' && Object.hasOwn(kinds, kind) && isArrived(value) && kinds[kind as ObservationKind](value)
  );
}

/** Receives an observation as soon as it is made. */
export type Deliver = (this: void, rawObservation: RawObservation) => void;

/** A numbered observation with narrowed objects. `seq` counts from 1; evidence refers to it. */
export type ObservationOf<K extends ObservationKind> = { seq: number } & Arrived & Body<K>;
export type Observation = { [K in ObservationKind]: ObservationOf<K> }[ObservationKind];

export type StreamName = Guarded<typeof isStream>;
export type Mode = Guarded<typeof isMode>;
export type GapCause = Guarded<typeof isGapCause>;

export type Began = Body<'began'>;
export type Refused = Body<'refused'>;
export type Gap = Body<'gap'>;
export type LogLine = Body<'line'>;
export type Interrupted = Body<'interrupted'>;
