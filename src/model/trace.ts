/**
 * A Trace is what is known so far: facts with the observations that brought them, and no conclusions. Instants, phases
 * and the rest are derived from it (timeline.ts), so that an observation that comes late or twice changes nothing but
 * what it proves.
 */
import { unknownClock, type Clock, type DateGroup } from './clock.ts';
import type { ContainerState, Stamp } from './observe/container.ts';
import type { EndpointSlice, Node, Owner, Pod, Service } from './kube.ts';
import type { ProbeCounts, ProbeStarted } from './probe-observation.ts';
import type { Began, Gap, Interrupted, Refused, SiblingUids, StreamName, Timer } from './observation.ts';
import type { Span } from './span.ts';

/** Something we saw, and when (client clock, ms, floor) it was first seen. */
export interface Fact<T> {
  readonly value: T;
  readonly seq: number;
  readonly at: number;
}

/** An Event that concerns the pod, its node or its owners; the span is the emitter's clock. */
export interface Occurrence {
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly component: string;
  readonly about: { readonly kind: string; readonly name: string; readonly container?: string };
  readonly count: number;
  /** When this occurrence happened: the name's nanoseconds for the first, the floor of a second later. */
  readonly time: Span;
  /** The nanoseconds in the Event's name, of the first occurrence (emitter's clock, ms). */
  readonly named?: number;
  /** metadata.creationTimestamp, apiserver clock. */
  readonly created?: Span;
  /** It came in a list: it may have been there for an hour. */
  readonly isOld: boolean;
  readonly seq: number;
  readonly at: number;
}

export interface LogFacts {
  readonly opened?: Fact<true>;
  /** The last time that it was opened again after a break. */
  readonly reopened?: Fact<true>;
  /** Stamp of the newest line, node clock. */
  readonly lastLine?: Fact<number>;
  /** Lines that name the stop signal, oldest first (a few). */
  readonly signalLines: readonly Fact<number>[];
  /** The newest end of the stream, unless it flows again. */
  readonly ended?: Fact<{ clean: boolean }>;
}

export interface ContainerFacts {
  /** The first time this very end was reported. */
  readonly terminated?: Fact<NonNullable<ContainerState['terminated']>>;
  /** A readiness probe took the container out while it ran. */
  readonly readyLost?: Fact<true>;
  /** A state of the deletion showed it running that did not run in the first of them. */
  readonly startedLate?: Fact<true>;
  readonly log: LogFacts;
}

export interface DeletionFacts {
  /** The state of lowest resourceVersion that has a deletionTimestamp. Later ones are rewritten (trap 2). */
  readonly first: Fact<Pod>;
  /** `first` answered a request of ours (DELETE, eviction, GET): no watch was late with it. */
  readonly isAnswer: boolean;
  /** The earliest arrival of any state with a deletionTimestamp. */
  readonly seenAt: number;
  readonly seenSeq: number;
  /** The pod was already terminating when this run first saw it. */
  readonly underWay: boolean;
  /** What was known of the node's clock when the deletion was first seen. */
  readonly nodeClock: Clock;
}

/** The kubelet's own stamp (node clock, ms), and when the apiserver wrote it down (its clock). */
type NodeSign = Fact<{ stamp: number; written: Span }>;

/** What the kubelet had written before it may have stood still; later signs do not replace it. */
interface NodeSigns {
  /** Its last Event before the deletion was seen. */
  readonly event?: NodeSign;
  /** Its node's Lease, as first seen. */
  readonly lease?: NodeSign;
  /** When the Lease had last been renewed, as the first list has it (node clock, ms). */
  readonly listedRenewal?: Fact<number>;
  /** The last renewals of the Lease that a watch brought as they came. */
  readonly renewals: readonly Fact<Renewal>[];
}

/** How late changes arrive after the API server stored them, by its own stamps of them. */
interface Delays {
  /** The newest second (API server's clock) that it stamped, by stream: only a newer one is the stamp of the change itself. */
  readonly newest: ReadonlyMap<StreamName, number>;
  /** The longest: ms from the end of the stamped second (API server's clock) to the arrival (client's clock). */
  readonly longest?: Fact<number>;
}

/** When the kubelet renewed its Lease (node clock, ms), and when the apiserver wrote it down (its clock). */
export interface Renewal {
  readonly stamp: number;
  readonly written?: Span;
}

export interface RequestFacts {
  readonly verb: 'delete' | 'evict';
  readonly graceSeconds: number | null;
  readonly sent: Fact<true>;
  readonly answer?: Fact<{ status: number; pod?: Pod }>;
}

export interface SliceState {
  /** The pod's own endpoint; absent: not listed. */
  readonly own?: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean };
  readonly otherReady: number;
  /** The slice itself is gone: it shows no endpoint, nor of there being none. */
  readonly deleted?: true;
  /** managedFields of the write, apiserver clock. */
  readonly written?: Span;
}

export interface SliceFacts {
  readonly slice: Pick<EndpointSlice, 'addressType' | 'metadata'>;
  readonly service?: string;
  /** Changes of the pod's own endpoint, or between some and no other ready ones; oldest first. */
  readonly states: readonly Fact<SliceState>[];
}

export interface SiblingFacts {
  readonly pod: Pod;
  readonly seen: Fact<true>;
  /** It was there before anything was asked. */
  readonly old: boolean;
  /** Not seen to come: it was in the first list, which was late. Its age follows from stamps (infer/replacement.ts). */
  readonly listedFirst: boolean;
  /** A node was found for it: when, as the condition says (apiserver clock). */
  readonly scheduled?: Fact<Stamp | undefined>;
  /** All its main containers run: when the last of them began (the clock of its node). */
  readonly started?: Fact<{ readonly at?: Stamp; readonly node?: string }>;
  readonly ready?: Fact<true>;
  /** What of these the stream of the traced pod brought, by `seq`: it has the successor of the same name too. */
  readonly onPodStream?: readonly number[];
  /** Where it runs, once that is decided. */
  readonly node?: string;
}

export interface OwnerFacts {
  readonly first: Fact<Owner>;
  readonly last: Fact<Owner>;
  readonly gone?: Fact<true>;
  /** How many pods it wanted, each time that changed, oldest first. */
  readonly wanted: readonly Fact<number>[];
  /** A Job that is suspended, or done: the condition that shows it. */
  readonly ended?: Fact<string>;
}

/** One probe (`--probe`): what was sent to its target, and what came of it. */
export interface ProbeFacts {
  readonly started: Fact<ProbeStarted>;
  /** Half a second each, oldest first; of a long run, longer ones where nothing failed. */
  readonly slices: readonly Fact<ProbeCounts>[];
  readonly ended?: Fact<true>;
}

export type GoneHow = 'deleted' | 'absent' | 'not-found' | 'replaced';

/** One line about an observation that changed something: what evidence refers to. */
export interface Note {
  readonly seq: number;
  readonly at: number;
  /** All that it said (reduce/notes.ts). */
  readonly what: string;
  readonly earlier?: Note;
}

/** A stream was cut and went on, or was found to be behind: news from `at` to `until` may be as old as `since`. */
interface Resume {
  readonly stream: StreamName;
  /** Client ms. */
  readonly since: number;
  /** Client ms; the fact's own time where it is absent. */
  readonly until?: number;
  /** Some news did come then. */
  readonly late: boolean;
}

export interface Trace {
  readonly began?: Fact<Began>;
  readonly uid?: string;
  /** The newest state by resourceVersion. */
  readonly pod?: Fact<Pod>;
  /** The newest state without deletionTimestamp. */
  readonly before?: Fact<Pod>;
  /** A consistent read sent then (client ms) still showed no deletionTimestamp. */
  readonly notDeletingAt: number;
  readonly deletion?: DeletionFacts;
  /** Each (grace, deadline) seen, in the order of resourceVersion. */
  readonly graces: readonly Fact<{ grace: number; deadline?: string; rv?: string }>[];
  readonly requests: readonly RequestFacts[];
  /** The first status that knows of the deletion: a probe's may come before the kubelet begins. */
  readonly acknowledged?: Fact<true>;
  readonly terminal?: Fact<string>;
  readonly sandboxStopped?: Fact<true>;
  readonly finalDelete?: Fact<Pod>;
  /** Finalizers on the finished pod, as last seen. */
  readonly finalizing?: Fact<readonly string[]>;
  /** Reason of the newest DisruptionTarget that was there when deletionTimestamp came, or before. */
  readonly disruption?: Fact<string>;
  readonly gone?: Fact<GoneHow>;
  readonly containers: ReadonlyMap<string, ContainerFacts>;
  readonly services: ReadonlyMap<string, Service>;
  /** They were listed. */
  readonly servicesKnown: boolean;
  readonly slices: ReadonlyMap<string, SliceFacts>;
  /** Client ms of the first whole state of the slices: who routed before is not known. */
  readonly slicesSince?: number;
  readonly siblings: ReadonlyMap<string, SiblingFacts>;
  readonly siblingsKnown: boolean;
  /** Uids of those that are named as replacements of other pods already. */
  readonly taken: ReadonlySet<string>;
  /** How many siblings were seen to come. */
  readonly newcomers: number;
  readonly siblingUids?: Fact<Omit<SiblingUids, 'uids'> & { uids: ReadonlySet<string> }>;
  readonly owners: ReadonlyMap<string, OwnerFacts>;
  readonly events: readonly Occurrence[];
  /** Events of type Warning by the kubelet about the pod, whatever the reason: how often each came. The first few. */
  readonly warnings: ReadonlyMap<string, number>;
  /** The same of type Normal. */
  readonly normals: ReadonlyMap<string, number>;
  readonly node?: Fact<Node>;
  readonly nodeReady: readonly Fact<string>[];
  /** The namespace is being deleted; its deletionTimestamp. */
  readonly namespaceEnding?: Fact<string | undefined>;
  /** The node took no new pods when the deletion came. */
  readonly cordoned?: Fact<true>;
  readonly gaps: readonly Fact<Gap>[];
  /** Streams whose news was late. */
  readonly resumes: readonly Fact<Resume>[];
  readonly refused: readonly Fact<Refused>[];
  readonly timers: readonly Fact<Exclude<Timer['name'], 'over'>>[];
  /** By their number. */
  readonly probes: ReadonlyMap<number, ProbeFacts>;
  readonly interrupted?: Fact<Interrupted['signal']>;
  /** `api`: what stamps show of the API server's clock; `dates`: what `Date` headers show of it. */
  readonly clocks: { readonly api: Clock; readonly dates: readonly DateGroup[]; readonly node: Clock };
  readonly delays: Delays;
  readonly nodeSigns: NodeSigns;
  readonly notes?: Note;
  /** Client time of the newest observation. */
  readonly now: number;
  /** Client time of the newest one that came from the cluster; later news may have been missed. */
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
  newcomers: 0,
  owners: new Map(),
  events: [],
  warnings: new Map(),
  normals: new Map(),
  nodeReady: [],
  gaps: [],
  resumes: [],
  refused: [],
  timers: [],
  probes: new Map(),
  clocks: { api: unknownClock, dates: [], node: unknownClock },
  delays: { newest: new Map() },
  nodeSigns: { renewals: [] },
  now: -Infinity,
  lastReceivedAt: -Infinity,
};
