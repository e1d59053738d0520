/**
 * The vocabulary of everything podexit can learn about a pod's exit. An Observation is what we saw, never what we
 * conclude from it. Live runs, replays, the demo and tests differ only in where observations come from.
 *
 * Time: `at` and `sentAt` are whole milliseconds since the epoch on the client's clock, rounded down, taken from a
 * monotonic clock: the true moment lies in [at, at + 1). `at` is the moment of arrival (or of sending, for what we
 * send ourselves).
 */
import type { KubeObject, Pod } from './kube.ts';
import type { ProbeObservation } from './probe-observation.ts';

/**
 * One row of the table "What is watched" (see watched.ts). `logs` is one stream for each container; `pod` is narrowed to one
 * name. `pods` is that of a workload, shared by all that are traced: what it says of one of them is said on its `pod` stream,
 * what it says of the others on its `siblings` (select.ts). Reports know these two only.
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

/** How this run came to see the exit. `check` never deletes anything. */
export type Mode = 'delete' | 'evict' | 'attach' | 'check';

/** What was asked of podexit, as far as the report depends on it: always the first observation. */
export interface Began {
  kind: 'began';
  mode: Mode;
  /** Of the pods; empty where the run looks at all namespaces. */
  namespace: string;
  /** Of the one pod that the run is about; empty where it is about `target`. */
  name: string;
  /** What has the pods that the run is about, as a person names it, e.g. `deployment/checkout`. */
  target?: string;
  /** Of the pods of `target` the first that terminates is traced, and no other. */
  next?: boolean;
  /** The grace period that the request will carry, in seconds; null: the pod's own. */
  graceSeconds: number | null;
  /** Seconds after which the run ends as `stuck`; null: never. */
  timeoutSeconds: number | null;
  /** Go on until the replacement is ready. */
  waitReplacement: boolean;
  /** As it was typed, without what may be a secret (cli/words.ts). */
  command?: string;
  /** Of the program. */
  version?: string;
  /** The name of the kubeconfig's context. */
  context?: string;
}

/** The whole state of a stream, from a list (or a streaming list). What is absent from it does not exist. */
export interface Listed<O> {
  kind: 'listed';
  stream: StreamName;
  resourceVersion: string;
  objects: O[];
  /** When the request left: the state is of no earlier moment (a list without resourceVersion is a consistent read). */
  sentAt?: number;
  /** The one name that the list was narrowed to: an empty list then says that this object does not exist. */
  name?: string;
}

/** One watch line. BOOKMARKs only move the cursor and are not observations. */
export interface Changed<O> {
  kind: 'changed';
  stream: StreamName;
  change: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: O;
}

/**
 * The uids of all pods of the pod's own controller, in one list that was requested before the DELETE: a pod that only a later
 * list has was created in between (infer/replacement.ts). Recordings call it `kin`.
 */
export interface SiblingUids {
  kind: 'kin';
  resourceVersion: string;
  uids: string[];
  /** When the request left: the list is of no earlier moment. */
  sentAt: number;
}

/** From here on nothing of this stream can be missed without a `gap` being observed. */
export interface Synced {
  kind: 'synced';
  stream: StreamName;
}

/** The server refused a stream: only that stream is lost. */
export interface Refused {
  kind: 'refused';
  stream: StreamName;
  /** The container, and the uid of its pod, for `logs`. */
  container?: string;
  pod?: string;
  /** HTTP status. */
  status: number;
  /** What a Role would have to grant, e.g. verb `list`, resource `endpointslices`, group `discovery.k8s.io`. */
  verb: string;
  resource: string;
  group: string;
  message: string;
}

/** Why something may have been missed. */
export type GapCause =
  /** History was compacted (410): whatever happened in between is unknowable. */
  | 'expired'
  /** The connection was lost and the stream could not be resumed from where it was. */
  | 'disconnected'
  /** The stream was not in sync when the DELETE had to be sent, or when somebody else's came. */
  | 'not-synced'
  /** A server behind the same address answered with older state. */
  | 'behind'
  /** The server refused it (403 and the like); lasts until the end. */
  | 'refused';

/** Between `from` and `to` (ms, client clock) changes of this stream may have been missed. */
export interface Gap {
  kind: 'gap';
  stream: StreamName;
  /** The container, and the uid of its pod, for `logs`; of another stream, the pod that it was not there for. */
  container?: string;
  pod?: string;
  from: number;
  /** Absent: it lasts. */
  to?: number;
  cause: GapCause;
}

/**
 * A stream was cut and goes on from where it was: nothing is lost, but what arrives now may have happened at any time
 * since `since` (ms, client clock), when the stream was last known to be alive. The same where a run starts with what was
 * received before it, until `since`, and its own first list follows.
 */
export interface Resumed {
  kind: 'resumed';
  stream: StreamName;
  since: number;
}

/** An HTTP `Date` header: the API server's clock, whole seconds. The request left at `sentAt`. */
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
  /** The grace asked for, null where the request leaves it to the server. */
  graceSeconds: number | null;
  uid: string;
}

/** What the server said to it. `object` is the Pod as the server left it (DELETE only; an eviction answers a Status). */
export interface Answered<P> {
  kind: 'answered';
  verb: 'delete' | 'evict';
  /** Its uid, where several are asked for. */
  pod?: string;
  status: number;
  reason?: string;
  message?: string;
  object?: P;
}

/** A single GET of the pod; without `object` the name is free (404). */
export interface Looked<P> {
  kind: 'looked';
  /** The uid of the pod that was looked for, where the run is about several. */
  pod?: string;
  object?: P;
  sentAt?: number;
}

/** The follow of a container's log began to flow. */
export interface LogOpened {
  kind: 'log-opened';
  /** The pod's uid; absent in recordings of one pod. */
  pod?: string;
  container: string;
}

/** One log line. The text itself is there only where it is shown; it is recorded only with `--logs`. */
export interface LogLine {
  kind: 'line';
  pod?: string;
  container: string;
  /** The stamp of the container runtime, RFC 3339 with nanoseconds, node clock. */
  time: string;
  /** The line says, in words of its own, that a stop signal was received (model/observe.ts). */
  namesSignal: boolean;
  text?: string;
  /** Lines of a chatty container that were left out since the last one reported. */
  skipped?: number;
}

/** The log stream ended. `clean`: the server ended it in order; otherwise the connection broke. */
export interface LogEnded {
  kind: 'log-ended';
  pod?: string;
  container: string;
  clean: boolean;
}

/** A moment that the session decided on: time is an input. */
export interface Timer {
  kind: 'timer';
  /** `timeout`: --timeout ran out. `settled`: no more facts are waited for. `over`: all that a pod's trace waited for is there. */
  name: 'timeout' | 'settled' | 'over';
  /** The uid of the pod that it is about, where the run is about several. */
  pod?: string;
}

/** The user or the system asked us to leave; SIGPIPE: the reader of stdout went away. */
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
  /** It arrived while the one before it was not shown yet, so that both were shown together. */
  together?: boolean | undefined;
}

/** What a source hands over: the objects are still as the server (or a file) gave them, and untrusted. */
export type RawObservation = Arrived & (Exclude<Any<unknown, unknown>, LogLine> | RawLine);

/** Takes what was observed, at once. */
export type Deliver = (this: void, rawObservation: RawObservation) => void;

/** A log line as a source delivers it: only a recording already holds `namesSignal`. */
export type RawLine = Omit<LogLine, 'namesSignal'> & Partial<Pick<LogLine, 'namesSignal'>>;

/** A numbered, narrowed fact. `seq` counts from 1 and is what evidence cites. */
export type Observation = { seq: number } & Arrived & Any<KubeObject, Pod>;

export type ObservationKind = Observation['kind'];
export type ObservationOf<K extends ObservationKind> = Extract<Observation, { kind: K }>;
