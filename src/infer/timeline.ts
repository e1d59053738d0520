/**
 * The one numeric model of a pod's exit, from which verdict, renderers and the JSON report are made. Pure.
 *
 * Laws:
 * 1. All instants are ms since the epoch on the client's clock; all lengths are ms. Nothing here is text that somebody
 *    would have to parse back.
 * 2. An Interval contains the true moment. `shown` is one moment inside it, so chosen that all `shown` of one timeline
 *    form one consistent schedule: no effect before its cause, and a printed length is the difference of two of them.
 * 3. The JSON report is a serialisation of this (verdict/exit-report.ts); it is never read back by the program.
 */
import type { AssumptionName } from '../model/assumptions.ts';
import type { ContainerKind, Pod } from '../model/kube.ts';
import type { Mode } from '../model/observation.ts';
import type { HookKind } from '../model/observe/container.ts';
import type {
  NotMeasuredReason,
  ProbeConnection,
  ProbeFailureKind,
  ProbeTally,
  ProbeVia,
} from '../model/probe-observation.ts';
import type { ContainerOutcome, GapReport, MarkName, PhaseName, ProbeReport, TriggerKind } from '../model/report.ts';
import type { Note } from '../model/trace.ts';

/** When something happened: between `earliest` and `latest`, proved by the observations in `evidence` (their `seq`). */
export interface Interval {
  readonly earliest: number;
  readonly latest: number;
  readonly basis: 'observed' | 'inferred';
  readonly evidence: readonly number[];
  /** The one moment that people are shown. */
  readonly shown: number;
  /** Nothing bounds it from below: `earliest` is the pod's creation, or the first observation. */
  readonly open?: boolean;
}

/** How long something took, in ms. `shown` is the difference of the `shown` of its two ends. */
export interface Length {
  readonly min: number;
  readonly max: number;
  readonly shown: number;
  readonly basis: 'observed' | 'inferred';
}

/** A point of the timeline. `id` (`NAME` or `NAME/SUBJECT`) stays the same while its interval narrows. */
export interface Mark {
  readonly id: string;
  readonly name: MarkName;
  /** Container, slice, node or replacement. */
  readonly subject?: string;
  readonly at: Interval;
  readonly note?: string;
  /** More observations may yet move it or take it back. */
  readonly provisional: boolean;
}

/** A stretch of the timeline, once both its ends are known. */
export interface Phase {
  readonly name: PhaseName;
  readonly subject?: string;
  readonly start: Interval;
  readonly end: Interval;
  readonly length: Length;
  /** Ratio to the grace period that the kubelet used; 1 = all of it. */
  readonly ofGrace: { readonly min: number; readonly max: number };
}

export interface PreStopExit {
  readonly kind: HookKind;
  readonly outcome: 'completed' | 'failed' | 'cut-off' | 'unknown';
  readonly start: Interval;
  /** Absent while it runs. */
  readonly end?: Interval;
  readonly length?: Length;
  /** Of a sleep: the length that the spec asks for, s. */
  readonly sleepSeconds?: number;
  /** A hook that failed: perhaps only because its container ended just then and took it along. */
  readonly mayHaveDied?: boolean;
  /** The container had certainly exited before its hook was over. */
  readonly outlasted?: boolean;
  /** The container's end is not confirmed: a restarted kubelet runs the hook again. */
  readonly provisional: boolean;
}

export interface StopSignal extends Interval {
  /** SIGTERM, or the STOPSIGNAL of the image where something names it. */
  readonly signal?: string;
  /** As of `PreStopExit`, unless the application itself has logged it. */
  readonly provisional: boolean;
}

export interface ContainerTimeline {
  readonly name: string;
  readonly kind: ContainerKind;
  /** It ran when the deletion came. */
  readonly ran: boolean;
  readonly outcome: ContainerOutcome;
  /** The outcome is the likelier of two that the evidence allows: sentences say "probably". */
  readonly probable: boolean;
  readonly preStop?: PreStopExit;
  readonly stopSignal?: StopSignal;
  readonly kill?: Interval;
  /** Whether a log line or a change of readiness followed the stop signal; absent where that was not watched. */
  readonly reaction?: 'none' | 'seen';
  /** `code` is absent while only the end of its log is known. */
  readonly exit?: { readonly at: Interval; readonly code?: number; readonly reason?: string };
  /** From the stop signal to the exit. */
  readonly drain?: Length;
  /** From the kubelet's start to the exit, as a ratio to the grace period; may exceed 1. */
  readonly graceUsed?: { readonly min: number; readonly max: number; readonly shown: number };
  /** How long it outlived the grace period, where it did. */
  readonly pastGrace?: Length;
  /** When its grace period ends as the kubelet counts it; in the future while it runs. */
  readonly graceEnd?: Interval;
  /** Until when it took new requests, where a probe of the pod (`--probe pod`) measured it. */
  readonly servedUntil?: Interval;
}

export interface EndpointTimeline {
  readonly slice: string;
  readonly service?: string;
  readonly addressType: string;
  /** publishNotReadyAddresses: it stays ready until it is removed. */
  readonly staysReady: boolean;
  readonly wasReady: boolean;
  readonly unroutedAt?: Interval & { readonly serving: boolean };
  readonly removedAt?: Interval;
  readonly otherReady: number;
  /** The observation that `otherReady` was read from. */
  readonly counted: readonly number[];
}

export interface ReplacementTimeline {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: Interval;
  readonly scheduledAt?: Interval;
  readonly startedAt?: Interval;
  readonly readyAt?: Interval;
}

export interface GraceTimeline {
  readonly requestedSeconds: number | null;
  readonly specSeconds: number;
  readonly effectiveSeconds: number;
  /** deletionTimestamp, ms on the API server's clock. */
  readonly deadline: number;
  /** Seconds that the kubelet may have counted; max is infinite where nothing bounds it. */
  readonly counted: { readonly min: number; readonly max: number };
}

export interface Timeline {
  readonly mode: Mode;
  /** As the allow-list keeps it (model/kube.ts): the state that the deletion found. */
  readonly pod: Pod;
  /** What offsets count from: our request, else the acceptance, else the first mark. */
  readonly zero: number;
  /** The newest observation. */
  readonly now: number;
  /** What a patch would have to change: the Deployment, not its ReplicaSet. */
  readonly workload?: Workload;
  /** Somebody deleted the pod. */
  readonly deleted: boolean;
  readonly grace: GraceTimeline;
  readonly trigger: { readonly kind: TriggerKind; readonly evidence: readonly number[]; readonly note?: string };
  readonly marks: readonly Mark[];
  readonly phases: readonly Phase[];
  readonly containers: readonly ContainerTimeline[];
  readonly endpoints: readonly EndpointTimeline[];
  readonly replacement?: ReplacementTimeline;
  /** From the request (or the acceptance) to the object's removal, by arrival here. Absent while it is there. */
  readonly total?: Length;
  /** What probes measured (`--probe`), in the order of their flags. */
  readonly probes: readonly ProbeResult[];
  /** Offsets (remote clock − client's clock, ms). */
  readonly clocks: { readonly api?: OffsetRange; readonly node?: OffsetRange };
  readonly assumes: readonly AssumptionName[];
  readonly gaps: readonly TimelineGap[];
  /** What `evidence` refers to: the observations that changed something, the newest first. */
  readonly notes?: Note;
}

export interface Workload {
  readonly kind: string;
  readonly name: string;
  /** As it was last seen to want. */
  readonly replicas?: number;
}

/** A stretch of client time (ms) in which a stream, or a clock, says less than usual; `to` is absent where it lasts. */
export interface TimelineGap {
  readonly resource: string;
  readonly from: number;
  readonly to?: number;
  readonly cause: GapReport['cause'];
}

/** ms; infinite where nothing bounds it. */
interface OffsetRange {
  readonly min: number;
  readonly max: number;
}

/** Failures of one kind that follow each other closely; ms, client clock. */
export interface FailureStretch {
  readonly kind: ProbeFailureKind;
  readonly connection: ProbeConnection;
  readonly status?: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly seq: number;
}

/** A stretch in which requests failed, at most `windowGapMs` apart. */
export interface FailureWindow {
  readonly start: number;
  readonly end: number;
  readonly failed: number;
  readonly stretches: readonly FailureStretch[];
}

export interface ProbeResult {
  readonly target: string;
  readonly via: ProbeVia;
  readonly ratePerSecond: number;
  /** The uid of the pod that was asked, via `pod-proxy`. */
  readonly pod?: string;
  readonly sent: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly new: ProbeTally;
  readonly kept?: ProbeTally;
  readonly windows: readonly FailureWindow[];
  /** Slices of about half a second, for a lane of ticks. */
  readonly slices: readonly {
    readonly from: number;
    readonly to: number;
    readonly sent: number;
    readonly failed: number;
  }[];
  /** The target served after this moment: the last request that succeeded was sent then. */
  readonly answered?: { readonly last: number; readonly seq: number };
  /** Connections were refused from here on, and no later request was answered: the target had stopped listening by then. */
  readonly refusedBy?: { readonly at: number; readonly seq: number };
  readonly latencyMs: ProbeReport['latencyMs'];
  readonly notMeasured: readonly { readonly reason: NotMeasuredReason; readonly count: number }[];
}
