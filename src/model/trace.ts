/** A Trace holds the facts that are known so far, each with the observation that showed it, and no conclusions. */
import { unknownClock, type RemoteClock } from './clock.ts';
import type { EndpointSlice, Node, Owner, Pod, Service } from './kube.ts';
import type { Began, Gap, Interrupted, ObservationOf, Refused, StreamName } from './observation.ts';
import type { ContainerState, Stamp } from './observe/container.ts';
import type { ProbeCounts, ProbeStarted } from './probe-observation.ts';
import { anyTime, type Span } from './span.ts';

/** The number of an observation, and its arrival (client clock, ms, rounded down). */
export interface Seen {
  readonly seq: number;
  readonly at: number;
}

/** A value, and the observation that first showed it. */
export type Fact<T> = Seen & { readonly value: T };

/** An occurrence of an Event about the pod, its node or its owners. */
export interface Occurrence extends Seen {
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly component: string;
  readonly about: { readonly kind: string; readonly name: string; readonly container?: string };
  readonly count: number;
  /** When it happened (emitter's clock): for the first occurrence the nanoseconds of the name, later whole seconds. */
  readonly time: Span;
  /** The nanoseconds in the Event's name: its first occurrence (emitter's clock, ms). */
  readonly named?: number;
  /** metadata.creationTimestamp, apiserver clock. */
  readonly created?: Span;
  /** It came in a list, so it may be up to an hour old. */
  readonly isOld: boolean;
}

export interface LogFacts {
  readonly opened?: Fact<true>;
  /** The last time that it was reopened after a break. */
  readonly reopened?: Fact<true>;
  /** Timestamp of the newest line, node clock. `isBurst`: 50 or more in 50 ms, which the runtime may read late. */
  readonly lastLine?: Fact<{ stamp: number; isBurst: boolean }>;
  /** Timestamps of lines that name the stop signal, oldest first (limited). `isOther`: and not SIGTERM. */
  readonly signalLines: readonly (Fact<number> & { readonly isOther?: boolean | undefined })[];
  /** Timestamp of the newest line that says that the application stops, node clock. */
  readonly stopLine?: Fact<number>;
  /** The end of the stream, unless it was reopened. */
  readonly ended?: Fact<{ clean: boolean }>;
}

export interface ContainerFacts {
  /** The current termination, when it was first reported. */
  readonly terminated?: Fact<NonNullable<ContainerState['terminated']>>;
  readonly readyLost?: Fact<true>;
  /** It started after the deletion: a later state shows it running, the first one did not. */
  readonly startedLate?: Fact<true>;
  readonly log: LogFacts;
}

export interface DeletionFacts {
  /** The state with the lowest resourceVersion that has a deletionTimestamp; later ones may be rewritten (trap 2). */
  readonly first: Fact<Pod>;
  /** `first` came in the answer to a request of ours (DELETE, eviction, GET), not by a watch that may be late. */
  readonly isAnswer: boolean;
  readonly seenAt: number;
  readonly seenSeq: number;
  /** The pod was already terminating when the run first saw it. */
  readonly underWay: boolean;
  /** The node's clock as known when the deletion was first seen. */
  readonly nodeClock: RemoteClock;
}

/** A timestamp of the kubelet (node clock, ms), and when the API server stored it (its clock). */
export interface NodeSign {
  readonly stamp: number;
  readonly written?: Span;
}

/** Signs of life of the kubelet from before it may have paused; later signs do not replace them. */
interface NodeSigns {
  /** Its last Event before the deletion was seen. */
  readonly event?: Fact<Required<NodeSign>>;
  readonly lease?: Fact<Required<NodeSign>>;
  /** The last renewal of the Lease in the first list. */
  readonly listedRenewal?: Fact<NodeSign>;
  /** The latest renewals of the Lease that a watch reported. */
  readonly renewals: readonly Fact<NodeSign>[];
}

/** How late changes arrive after the API server stored them, by its timestamps. */
interface Delays {
  /** By stream, the newest second (API server's clock) that was stamped; only a newer one belongs to a new change. */
  readonly newest: ReadonlyMap<StreamName, number>;
  /** The longest delay: ms from the end of the stamped second (API server's clock) to the arrival (client's clock). */
  readonly longest?: Fact<number>;
}

export interface RequestFacts {
  readonly verb: 'delete' | 'evict';
  readonly graceSeconds: number | null;
  readonly sent: Fact<true>;
  readonly answer?: Fact<{ status: number; pod?: Pod; isByBudget?: boolean }>;
}

export interface SliceState {
  /** The pod's own endpoint; absent if the slice does not list it. */
  readonly own?: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean };
  readonly otherReady: number;
  /** The slice was deleted; it proves neither an endpoint nor that there is none. */
  readonly deleted?: true;
  /** Time of the write in managedFields, API server's clock. */
  readonly written?: Span;
}

export interface SliceFacts {
  readonly slice: Pick<EndpointSlice, 'addressType' | 'metadata'>;
  readonly service?: string;
  /** Changes of the pod's own endpoint, and between some and no other ready endpoints; oldest first. */
  readonly states: readonly Fact<SliceState>[];
}

export interface SiblingFacts {
  readonly pod: Pod;
  readonly seen: Fact<true>;
  /** It existed before anything was requested. */
  readonly old: boolean;
  /** It was in the first list, which was late; its timestamps tell whether it is new (infer/replacement.ts). */
  readonly listedFirst: boolean;
  /** It was scheduled, at the time in its condition (API server's clock). */
  readonly scheduled?: Fact<Stamp | undefined>;
  /** All its main containers run; `at`: when the last of them started (clock of its node). */
  readonly started?: Fact<{ readonly at?: Stamp; readonly node?: string }>;
  readonly ready?: Fact<true>;
  /** `seq`s of its facts that came on the traced pod's stream, which also shows a successor of the same name. */
  readonly onPodStream?: readonly number[];
  readonly node?: string;
  /** The newest reason of its state why it is not scheduled or a container is not started. */
  readonly held?: Fact<string>;
}

export interface OwnerFacts {
  readonly first: Fact<Owner>;
  readonly last: Fact<Owner>;
  readonly gone?: Fact<true>;
  /** The number of pods it wanted, each time it changed, oldest first. */
  readonly wanted: readonly Fact<number>[];
  /** A Job is suspended or finished: the condition that shows it. */
  readonly ended?: Fact<string>;
  /** Why it could not create pods, when its condition last said so. */
  readonly failed?: Fact<string>;
}

/** One probe (`--probe`): its requests and their results. */
export interface ProbeFacts {
  readonly started: Fact<ProbeStarted>;
  /** Slices of half a second, oldest first; longer ones in a long run. */
  readonly slices: readonly Fact<ProbeCounts>[];
  /** Other pods of the run that left before its last result: a failure may be theirs. */
  readonly otherPods?: number;
}

/** One line about an observation that changed the trace; evidence refers to it. */
export interface Note extends Seen {
  /** All facts of the observation (reduce/notes.ts). */
  readonly what: string;
  readonly earlier?: Note;
}

/** A stream was resumed, or its server was behind: what it delivered from `at` to `until` may be as old as `since`. */
interface Resume {
  readonly stream: StreamName;
  /** Client ms. */
  readonly since: number;
  /** Client ms; absent: the fact's own time. */
  readonly until?: number;
  /** The stream delivered something in that time. */
  readonly late: boolean;
}

export interface Trace {
  readonly began?: Fact<Began>;
  readonly uid?: string;
  readonly pod?: Fact<Pod>;
  readonly before?: Fact<Pod>;
  /** The latest time (client ms) at which a consistent read was sent that showed no deletionTimestamp. */
  readonly notDeletingAt: number;
  readonly deletion?: DeletionFacts;
  /** Each observed pair of grace and deadline, in the order of resourceVersion. */
  readonly graces: readonly Fact<{ grace: number; deadline?: string; rv?: string }>[];
  readonly requests: readonly RequestFacts[];
  /** The first status that shows the deletion's generation; one written for a probe may precede the kubelet's start. */
  readonly acknowledged?: Fact<true>;
  readonly terminal?: Fact<Pod>;
  readonly finalDelete?: Fact<Pod>;
  /** Finalizers of the finished pod, as last seen. */
  readonly finalizing?: Fact<readonly string[]>;
  /** Reason of the newest DisruptionTarget condition from before or with the deletionTimestamp. */
  readonly disruption?: Fact<string>;
  /** `deleted`: reported as deleted; `absent`: found to be gone. */
  readonly gone?: Fact<'deleted' | 'absent'>;
  readonly containers: ReadonlyMap<string, ContainerFacts>;
  readonly services: ReadonlyMap<string, Service>;
  readonly servicesKnown: boolean;
  readonly slices: ReadonlyMap<string, SliceFacts>;
  /** Client ms of the first list of slices: earlier routing is unknown. */
  readonly slicesSince?: number;
  readonly siblings: ReadonlyMap<string, SiblingFacts>;
  readonly siblingsKnown: boolean;
  /** Uids of siblings that already count as the replacement of another pod. */
  readonly taken: ReadonlySet<string>;
  readonly newSiblingCount: number;
  readonly owners: ReadonlyMap<string, OwnerFacts>;
  readonly events: readonly Occurrence[];
  readonly node?: Fact<Node>;
  readonly nodeReady: readonly Fact<string>[];
  /** The namespace is being deleted; the value is its deletionTimestamp. */
  readonly namespaceEnding?: Fact<string | undefined>;
  /** The node was unschedulable when the deletion began. True: it was seen to become so. */
  readonly cordoned?: Fact<boolean>;
  readonly gaps: readonly Fact<Gap>[];
  readonly resumes: readonly Fact<Resume>[];
  readonly refused: readonly Fact<Refused>[];
  readonly timedOut: boolean;
  /** By number. */
  readonly probes: ReadonlyMap<number, ProbeFacts>;
  readonly interrupted?: Fact<Interrupted['signal']>;
  /** `api`: the API server's clock by timestamps; `dates`: the same clock by `Date` headers. */
  readonly clocks: { readonly api: RemoteClock; readonly dates: RemoteClock; readonly node: RemoteClock };
  readonly delays: Delays;
  /** From a request of ours to its answer (client ms); the newest ones. */
  readonly answers: readonly (Span & Pick<ObservationOf<'dated'>, 'read'>)[];
  readonly nodeSigns: NodeSigns;
  readonly notes?: Note;
  readonly now: number;
  /** Client time of the newest observation from the cluster; later news may have been missed. */
  readonly lastReceivedAt: number;
}

/** Before anything has been observed. */
export const emptyTrace: Trace = {
  notDeletingAt: -Infinity,
  graces: [],
  requests: [],
  containers: new Map(),
  services: new Map(),
  servicesKnown: false,
  slices: new Map(),
  siblings: new Map(),
  siblingsKnown: false,
  taken: new Set(),
  newSiblingCount: 0,
  owners: new Map(),
  events: [],
  nodeReady: [],
  gaps: [],
  resumes: [],
  refused: [],
  timedOut: false,
  probes: new Map(),
  clocks: { api: unknownClock, dates: unknownClock, node: unknownClock },
  delays: { newest: new Map() },
  answers: [],
  nodeSigns: { renewals: [] },
  now: -Infinity,
  lastReceivedAt: -Infinity,
};

/** Since when (client ms) a stream is lost to the end. Infinite if it is not. */
export const lostSince = ({ gaps }: Trace, stream: StreamName): number =>
  Math.min(...gaps.map(({ value }) => (value.stream === stream && value.to === undefined ? value.from : Infinity)));

export const isRefused = ({ refused }: Trace, stream: StreamName): boolean =>
  refused.some(({ value }) => value.stream === stream);

/** Whether changes on a stream may have been missed in a stretch of client time: it was refused by then, or had a gap. */
export const mayMiss = ({ gaps, refused }: Trace, stream: StreamName, { lo, hi } = anyTime): boolean =>
  refused.some(({ value, at }) => value.stream === stream && at <= hi) ||
  gaps.some(({ value: { from, to = Infinity, ...gap } }) => gap.stream === stream && from <= hi && to >= lo);

/** All notes, oldest first. */
export function allNotes(newest: Note | undefined): Note[] {
  const notes: Note[] = [];
  for (let note = newest; note; note = note.earlier) notes.push(note);
  return notes.reverse();
}

/** The Events with this reason about a container, oldest first. */
export const eventsAbout = ({ events }: Trace, reason: string, container: string): Occurrence[] =>
  events.filter((event) => event.reason === reason && event.about.container === container);

/** Not those that errored: a kubelet cancels some while the pod terminates (1.35, 1.36.3; kubernetes#140881). */
export const failedProbes = (trace: Trace, container: string): Occurrence[] =>
  eventsAbout(trace, 'Unhealthy', container).filter(({ message }) => !message.includes('errored'));
