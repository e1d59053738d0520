/**
 * The numeric model of a pod's exit. Verdict, renderers and the JSON report are made from it. Pure.
 *
 * Laws:
 * 1. All instants are ms since the epoch on the client's clock, and all lengths are ms. No text has to be parsed.
 * 2. An Interval contains the true moment. Its `shown` is one moment inside it. All `shown` of a timeline are
 *    consistent: no effect is before its cause, and a printed length is the difference of two of them.
 * 3. The JSON report is a serialisation of this (verdict/exit-report.ts). The program never reads it back.
 */
import type { AssumptionName } from '../model/assumptions.ts';
import type { ContainerKind, Pod } from '../model/kube.ts';
import type { Mode } from '../model/observation.ts';
import type { GapReport, MarkReport, PhaseReport, Range } from '../model/report.ts';
import type { Fact, Note } from '../model/trace.ts';
import type { ContainerExit, EndpointExit, ExitFacts, HookFacts, Replacement, Trigger } from './context.ts';
import type { Estimate } from './estimate.ts';
import type { ProbeResult } from './probes.ts';

/** When something happened: between `earliest` and `latest`, proved by the observations in `evidence` (their `seq`). */
export interface Interval {
  readonly earliest: number;
  readonly latest: number;
  readonly basis: 'observed' | 'inferred';
  readonly evidence: readonly number[];
  readonly shown: number;
  /** It has no lower bound: `earliest` is the pod's creation, or the first observation. */
  readonly open?: boolean;
  /** What the interval was made from: the bounds on both clocks, from which lengths are computed. */
  readonly estimate: Estimate;
}

/** A length or a ratio: the bounds between which the true one lies, and the value that is displayed. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly shown: number;
}

/** How long something took, in ms. `shown` is the difference of the `shown` of its two ends. */
export interface Length extends Bounds {
  /** Absent: inferred. */
  readonly basis?: 'observed' | 'inferred';
}

/** A point of the timeline. `id` (`NAME` or `NAME/SUBJECT`) stays the same while its interval narrows. */
export interface Mark extends Readonly<MarkReport<Interval>> {
  /** Later observations may move it outside its interval, or withdraw it. */
  readonly provisional: boolean;
}

/** A stretch of the timeline. Both its ends are known. */
export interface Phase extends Readonly<Omit<PhaseReport<Interval>, 'seconds'>> {
  readonly length: Length;
}

export interface PreStopExit extends Pick<HookFacts, 'kind' | 'outcome' | 'sleepSeconds' | 'mayHaveDied'> {
  readonly start: Interval;
  /** Absent while it runs. */
  readonly end?: Interval;
  readonly length?: Length;
  /** The container had certainly exited before its hook was over. */
  readonly outlasted?: boolean;
  /** No status has confirmed the container's exit: a restarted kubelet would run the hook again. */
  readonly provisional: boolean;
}

export interface StopSignal extends Interval {
  /** SIGTERM, or another stop signal if its name is known. */
  readonly signal?: string;
  /** Its name is unknown, and what was seen does not fit SIGTERM. */
  readonly isPerhapsOther?: boolean;
  /** As for `PreStopExit`, unless the application itself has logged the signal. */
  readonly provisional: boolean;
}

export interface ContainerTimeline extends Pick<
  ContainerExit,
  'ran' | 'killings' | 'outcome' | 'probable' | 'mayHaveOverrun'
> {
  readonly name: string;
  readonly kind: ContainerKind;
  /** When the kubelet started to stop it: the first Killing. */
  readonly stopping?: Interval;
  readonly preStop?: PreStopExit;
  readonly stopSignal?: StopSignal;
  readonly kill?: Interval;
  /** Whether a log line or a change of readiness followed the stop signal. Absent if that was not watched. */
  readonly reaction?: 'none' | 'seen';
  readonly exit?: ExitFacts<Interval>;
  readonly drain?: Length;
  /** From the kubelet's last attempt to stop it to the exit: what counts against the grace period. */
  readonly graceUsed?: Length;
  /** How long after the end of the grace period it exited, if it did. */
  readonly pastGrace?: Length;
  /** The end of the grace period as the kubelet counts it; may be in the future. */
  readonly graceEnd?: Interval;
  /** What is known of moments that may lie after `now`, so that nothing shows them yet; `stopSignal` once it is final. */
  readonly bounds: { readonly stopSignal?: Estimate; readonly exit?: Estimate };
  /** When it stopped accepting new requests, if a probe of the pod (`--probe pod`) measured that. */
  readonly servedUntil?: Interval;
}

export type EndpointTimeline = EndpointExit<Interval>;

/** An endpoint that routed to the pod by its readiness. `unroutedAt` is absent as long as it still does. */
export type RoutedEndpoint = Pick<EndpointTimeline, 'slice' | 'service'> & { readonly unroutedAt?: Interval };

export type ReplacementTimeline = Replacement<Interval>;

export interface GraceTimeline {
  readonly requestedSeconds: number | null;
  readonly specSeconds: number;
  readonly effectiveSeconds: number;
  /** deletionTimestamp, ms on the API server's clock. */
  readonly deadline: number;
  /** The grace period that the kubelet may have used, s; `max` is infinite if nothing bounds it. */
  readonly counted: Readonly<Range>;
}

export interface Timeline {
  readonly mode: Mode;
  /** The state at the deletion, with the fields that the allow-list keeps (model/kube.ts). */
  readonly pod: Pod;
  /** Where displayed offsets start: our request, else the acceptance, else the first mark. */
  readonly zero: number;
  readonly now: number;
  /** ms until the API server's first answer, credentials and connection included, if that was long: before the request. */
  readonly firstAnswerMs?: number | undefined;
  /** The object that a fix would patch: the Deployment, not its ReplicaSet. */
  readonly workload?: Workload;
  readonly deleted: boolean;
  readonly grace: GraceTimeline;
  readonly trigger: Trigger;
  readonly marks: readonly Mark[];
  readonly phases: readonly Phase[];
  readonly containers: readonly ContainerTimeline[];
  readonly endpoints: readonly EndpointTimeline[];
  /** Endpoints that stopped routing to the pod before its deletion, because of its readiness or its labels. */
  readonly unroutedBefore: readonly RoutedEndpoint[];
  readonly replacement?: ReplacementTimeline;
  /** Why the replacement was not there or not started; it may be over. */
  readonly replacementHold?: Fact<string>;
  /** From the request (or its acceptance) to the removal of the object. Absent while the object exists. */
  readonly total?: Length;
  /** Results of traffic probes (`--probe`), in the order of the flags. */
  readonly probes: readonly ProbeResult[];
  /** Offsets: remote clock − client's clock, ms. Absent if a bound is missing. */
  readonly clocks: { readonly api?: Readonly<Range>; readonly node?: Readonly<Range> };
  readonly assumes: readonly AssumptionName[];
  readonly gaps: readonly TimelineGap[];
  /**
   * Evidence that contradicts other evidence, which is more certain, so that nothing follows from it. `about`: a moment and
   * its subject (`exit/app`). `because`: the rule, with its section of SIGNALS.md, or an assumption.
   */
  readonly contradictions: readonly Readonly<Record<'about' | 'because', string>>[];
  /** The observations that `evidence` refers to, newest first. */
  readonly notes?: Note;
}

export interface Workload {
  readonly kind: string;
  readonly name: string;
  readonly replicas?: number;
}

/** A stretch of client time (ms) in which a stream or a clock was not fully usable. `to` is absent if it has not ended. */
export type TimelineGap = Readonly<GapReport<number>>;
