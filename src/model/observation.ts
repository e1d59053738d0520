/**
 * Everything that podexit can observe about a pod's exit. An Observation is what we saw, never a conclusion. Live runs,
 * replays, the demo and tests differ only in the source of their observations.
 *
 * Time: `at` and `sentAt` are whole milliseconds since the epoch on the client's clock, rounded down, from a monotonic
 * clock: the true moment lies in [at, at + 1). `at` is the moment of arrival, or of sending for what we send.
 */
import type { KubeObject, Pod } from './kube.ts';
import type { ProbeObservation } from './probe-observation.ts';

/**
 * The streams that may be watched (watched.ts). `logs` is one stream per container; `pod` is limited to one name.
 * `pods` is the stream of a workload, shared by all traced pods: for each of them it acts as `pod` for the pod itself
 * and as `siblings` for the others (select.ts), and reports know only these two.
 */
export const streamNames = [
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
] as const;

export type StreamName = (typeof streamNames)[number];

/** How the run gets to see the exit. `check` never deletes anything. */
export type Mode = 'delete' | 'evict' | 'attach' | 'check';

/** The options of the run that the report depends on; always the first observation. */
export interface Began {
  kind: 'began';
  mode: Mode;
  /** Namespace of the pods; empty: all namespaces. */
  namespace: string;
  /** Name of the one pod; empty if the run is about `target`. */
  name: string;
  /** The target of a run over several pods, in words: `deployment/checkout`. */
  target?: string;
  /** Only the first pod of `target` that terminates is traced. */
  next?: boolean;
  /** The grace period of the request, in seconds; null: the pod's own. */
  graceSeconds: number | null;
  /** Seconds after which the run ends as `stuck`; null: never. */
  timeoutSeconds: number | null;
  /** Continue until the replacement is ready. */
  waitReplacement: boolean;
  /** The command line, without possible secrets (cli/words.ts). */
  command?: string;
  /** Version of podexit. */
  version?: string;
  /** Name of the kubeconfig context. */
  context?: string;
}

/** The whole state of a stream, from a list (or a streaming list): an object that is not in it does not exist. */
export interface Listed<O> {
  kind: 'listed';
  stream: StreamName;
  resourceVersion: string;
  objects: O[];
  /** When the request was sent; the state is not older (a list without resourceVersion is a consistent read). */
  sentAt?: number;
  /** Set if the list was limited to one name: if it is empty, this object does not exist. */
  name?: string;
}

/** One watch event. BOOKMARKs only move the resourceVersion and are not observations. */
export interface Changed<O> {
  kind: 'changed';
  stream: StreamName;
  change: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: O;
}

/**
 * The uids of all pods of the pod's controller, from one list that was requested before the DELETE. A pod that only a
 * later list has was created in between (infer/replacement.ts). Recordings call it `kin`.
 */
export interface SiblingUids {
  kind: 'kin';
  resourceVersion: string;
  uids: string[];
  /** When the request was sent; the list is not older. */
  sentAt: number;
}

/** The stream is in sync: from now on everything that it misses is observed as a `gap`. */
export interface Synced {
  kind: 'synced';
  stream: StreamName;
}

/** The server refused a stream; other streams are not affected. */
export interface Refused {
  kind: 'refused';
  stream: StreamName;
  /** The container, and the uid of its pod, for `logs`. */
  container?: string;
  pod?: string;
  /** HTTP status. */
  status: number;
  /** The missing permission, for example verb `list`, resource `endpointslices`, group `discovery.k8s.io`. */
  verb: string;
  resource: string;
  group: string;
  message: string;
}

/** Why something may have been missed. */
export type GapCause =
  /** The history was compacted (410): what happened in between is unknown. */
  | 'expired'
  /** The connection was lost, and the stream could not be resumed. */
  | 'disconnected'
  /** The stream was not in sync when the DELETE had to be sent, or when another client's deletion began. */
  | 'not-synced'
  /** Another API server behind the same address answered with an older state. */
  | 'behind'
  /** The server refused the stream (403 and the like); lasts to the end of the run. */
  | 'refused';

/** Between `from` and `to` (ms, client clock) changes of this stream may have been missed. */
export interface Gap {
  kind: 'gap';
  stream: StreamName;
  /** For `logs`: the container and the uid of its pod. For other streams, `pod` is the pod that missed changes. */
  container?: string;
  pod?: string;
  from: number;
  /** Absent: the gap has not ended. */
  to?: number;
  cause: GapCause;
}

/**
 * A stream was interrupted and resumed: nothing is lost, but what arrives now may have happened at any time since
 * `since` (ms, client clock), when the stream was last known to be alive. Also for a run that starts with what was
 * received before it, until `since`, before its own first list.
 */
export interface Resumed {
  kind: 'resumed';
  stream: StreamName;
  since: number;
}

/** An HTTP `Date` header: the API server's clock, in whole seconds. The request was sent at `sentAt`. */
export interface Dated {
  kind: 'dated';
  sentAt: number;
  /** ms since the epoch, a whole second. */
  date: number;
}

/** We sent a DELETE or an eviction. */
export interface Requested {
  kind: 'requested';
  verb: 'delete' | 'evict';
  /** The requested grace period; null: the server decides. */
  graceSeconds: number | null;
  uid: string;
}

/** The server's answer to it. `object` is the Pod after a DELETE; an eviction is answered with a Status. */
export interface Answered<P> {
  kind: 'answered';
  verb: 'delete' | 'evict';
  /** The pod's uid, if the run is about several pods. */
  pod?: string;
  status: number;
  reason?: string;
  message?: string;
  object?: P;
}

/** A single GET of the pod; without `object` the server answered 404. */
export interface Looked<P> {
  kind: 'looked';
  /** Uid of the requested pod, if the run is about several pods. */
  pod?: string;
  object?: P;
  sentAt?: number;
}

/** A container's log stream was opened. */
export interface LogOpened {
  kind: 'log-opened';
  /** The pod's uid; absent in recordings of one pod. */
  pod?: string;
  container: string;
}

/** One log line. It has its text only if the text is shown; the text is recorded only with `--logs`. */
export interface LogLine {
  kind: 'line';
  pod?: string;
  container: string;
  /** Timestamp of the container runtime, RFC 3339 with nanoseconds, node clock. */
  time: string;
  /** The line says that a stop signal was received (model/observe.ts). */
  namesSignal: boolean;
  text?: string;
  /** How many lines of a chatty container were dropped since the last reported one. */
  skipped?: number;
}

/** The log stream ended. `clean`: the server ended it normally; otherwise the connection broke. */
export interface LogEnded {
  kind: 'log-ended';
  pod?: string;
  container: string;
  clean: boolean;
}

/** A timer of the run fired: time is an input. */
export interface Timer {
  kind: 'timer';
  /** `timeout`: --timeout ran out. `settled`: no more facts are awaited. `over`: a pod's trace is complete. */
  name: 'timeout' | 'settled' | 'over';
  /** Uid of the pod, if the run is about several pods. */
  pod?: string;
}

/** The user or the system ended the run; SIGPIPE: the reader of stdout went away. */
export interface Interrupted {
  kind: 'interrupted';
  signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE';
}

type Any<O, P> =
  | Began
  | Listed<O>
  | Changed<O>
  | SiblingUids
  | Synced
  | Refused
  | Gap
  | Resumed
  | Dated
  | Requested
  | Answered<P>
  | Looked<P>
  | LogOpened
  | LogLine
  | LogEnded
  | Timer
  | Interrupted
  | ProbeObservation;

interface Arrived {
  /** ms, client clock. */
  at: number;
  /** It arrived before the previous observation was shown, so both were shown together. */
  together?: boolean | undefined;
}

/** What a source delivers. Its objects are unchecked, as the server or a file gave them. */
export type RawObservation = Arrived & (Exclude<Any<unknown, unknown>, LogLine> | RawLine);

/** Receives an observation as soon as it is made. */
export type Deliver = (this: void, rawObservation: RawObservation) => void;

/** A log line from a source; only recordings already have `namesSignal`. */
export type RawLine = Omit<LogLine, 'namesSignal'> & Partial<Pick<LogLine, 'namesSignal'>>;

/** A numbered observation with narrowed objects. `seq` counts from 1; evidence refers to it. */
export type Observation = { seq: number } & Arrived & Any<KubeObject, Pod>;

export type ObservationKind = Observation['kind'];
export type ObservationOf<K extends ObservationKind> = Extract<Observation, { kind: K }>;
