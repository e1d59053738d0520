/** The format of the report (`-o json`). Others read it: fields are only added. A test compares it with schema/. */
import type { ContainerKind } from './kube.ts';
import type { GapCause, Mode } from './observation.ts';
import type { HookKind } from './observe/container.ts';
import type { NotMeasuredReason, ProbeFailureKind, ProbeTally, ProbeVia } from './probe-observation.ts';

/** RFC 3339, UTC, milliseconds, on the client's clock. */
export type Time = string;

/** Who can hold up a deletion. `unexplained`: no observation shows who did. */
export type LedgerOwner =
  | 'api-server'
  /** Admission webhooks, or the API server itself. */
  | 'admission'
  | 'kubelet'
  | 'post-start'
  | 'pre-stop'
  | 'application'
  | 'sidecar-order'
  | 'runtime'
  | 'finalizers'
  | 'unexplained';

/** A stretch of a deletion. `subject`: the container, the finalizers, or the node and what else it may have been. `what` completes "SUBJECT …". */
export interface LedgerEntry {
  owner: LedgerOwner;
  subject?: string;
  what: string;
  seconds: number;
  /** Where it begins or ends is known to more than 2 s only. */
  approximate?: true;
}

/** Contains the truth (`earliest` is the epoch if nothing bounds it); `evidence` refers to `seq`s in `observations`. */
export interface Instant {
  earliest: Time;
  latest: Time;
  basis: 'observed' | 'inferred';
  evidence: number[];
}

export interface Range {
  min: number;
  max: number;
}

export const markNames = [
  'requested',
  'accepted',
  'acknowledged',
  'unrouted',
  'endpoint-removed',
  'stopping',
  'stopping-again',
  'prestop-ended',
  'stop-signal',
  'kill',
  'exited',
  'containers-done',
  'final-delete',
  'finalizing',
  'removed',
  'replacement-created',
  'replacement-scheduled',
  'replacement-started',
  'replacement-ready',
  'node-not-ready',
  'node-ready',
  'kubelet-started',
  'ready-lost',
  'first-failure',
  'last-failure',
] as const;
export type MarkName = (typeof markNames)[number];

export const phaseNames = [
  'accept',
  'notice',
  'route-removal',
  'prestop',
  'sidecar-wait',
  'drain',
  'overtime',
  'cleanup',
  'finalize',
  'replace',
] as const;
type PhaseName = (typeof phaseNames)[number];

export const triggerKinds = [
  'this-command',
  'eviction-api',
  'preemption',
  'taint',
  'device-taint',
  'pod-gc',
  'rollout',
  'scale-down',
  'owner-deleted',
  'job',
  'namespace-deletion',
  'unknown',
] as const;
export type TriggerKind = (typeof triggerKinds)[number];

export const containerOutcomes = [
  'completed',
  'signalled',
  'failed',
  'killed',
  'oom',
  'abandoned',
  'not-running',
  'unknown',
] as const;
export type ContainerOutcome = (typeof containerOutcomes)[number];

export const outcomes = [
  'forced',
  'oom',
  'killed',
  'failed',
  'overran',
  'stuck',
  'unknown',
  'graceful',
  'removed',
  'not-started',
] as const;
export type Outcome = (typeof outcomes)[number];

export const severities = ['info', 'warning', 'error'] as const;
export type Severity = (typeof severities)[number];

export const findingCodes = [
  'killed-at-grace',
  'no-signal-handling',
  'exit-nonzero',
  'oom-on-exit',
  'prestop-failed',
  'prestop-cut-off',
  'prestop-heavy',
  'grace-nearly-spent',
  'sidecar-killed',
  'drain-race',
  'last-endpoint',
  'no-ready-endpoint',
  'stays-ready',
  'finalizer-held',
  'node-silent',
  'slow-start',
  'slow-cleanup',
  'kubelet-restarted',
  'grace-shortened-ignored',
  'force-deleted',
  'deleted-before',
  'evidence-lost',
  'unmanaged-pod',
  'job-counts-exit',
  'endpoint-not-removed',
  'runtime-unavailable',
  'api-server-silent',
  'oom-in-container',
  'requests-lost',
  'no-signal-handler',
  'shell-as-pid-1',
] as const;
export type FindingCode = (typeof findingCodes)[number];

/** A point on the timeline. Its `id` stays the same when its instant is narrowed or corrected. */
export interface MarkReport<At = Instant> {
  id: string;
  name: MarkName;
  /** The container, slice, node or replacement that the mark is about. */
  subject?: string;
  at: At;
  note?: string;
}

export interface PhaseReport<At = Instant> {
  name: PhaseName;
  subject?: string;
  start: At;
  end: At;
  seconds: Range;
  /** Fraction of the effective grace period; 1 = all of it. */
  ofGrace: Range;
}

export interface PreStopReport<At = Instant> {
  kind: HookKind;
  outcome: 'completed' | 'failed' | 'cut-off' | 'unknown';
  start: At;
  end: At;
}

export interface ContainerReport {
  name: string;
  kind: ContainerKind;
  outcome: ContainerOutcome;
  /** The likelier of two outcomes: a 137 may also be the app's own, an abandoned container may have ended just before. */
  probable?: true;
  preStop?: PreStopReport;
  /** `signal`: as the API names it, else that of a well-known image by its name. Absent: SIGTERM, as far as is known. */
  stopSignal?: Instant & { signal?: string };
  kill?: Instant;
  exit?: { at: Instant; code: number; reason?: string };
  preStopSeconds?: Range;
  /** From the stop signal to the exit. */
  drainSeconds?: Range;
  /** How long it ran past its grace period, if it did. */
  pastGraceSeconds?: Range;
  /** Until when it accepted new requests, if a probe of the pod (`--probe pod`) measured it. */
  servedUntil?: Instant;
}

export interface EndpointReport<At = Instant> {
  service?: string;
  slice: string;
  addressType: string;
  unroutedAt?: At;
  removedAt?: At;
  /** Other ready endpoints of the Service and address type when this one was unrouted (or at the end). */
  otherReady: number;
}

/** `scheduledAt`: a node was assigned; `startedAt`: all main containers run. */
export interface ReplacementReport<At = Instant> {
  name: string;
  uid: string;
  createdAt: At;
  scheduledAt?: At;
  startedAt?: At;
  readyAt?: At;
}

export interface Finding {
  code: FindingCode;
  severity: Severity;
  message: string;
  advice?: string;
  evidence: number[];
}

export interface Gate {
  name: string;
  /** As in the flag: `4s`, `80%`. */
  limit?: string;
  passed: boolean;
  /** False: there was nothing to judge (a check measures no exit), so the gate counts as passed. */
  judged?: false;
  message: string;
}

export interface LatencyQuantiles {
  p50: number;
  p99: number;
}

/** What one `--probe` measured. `sent` is the sum of `succeeded` and `failed`. */
export interface ProbeReport {
  /** Without user, password, query and fragment. */
  target: string;
  via: ProbeVia;
  /** Over new and kept connections together. */
  ratePerSecond: number;
  sent: number;
  succeeded: number;
  failed: number;
  failures: { kind: Exclude<ProbeFailureKind, 'not-serving'>; status?: number; count: number }[];
  /** Periods in which requests failed, at most 1 s apart. A request that timed out counts from when it was sent. */
  windows: { start: Instant; end: Instant; failed: number }[];
  connections?: { new: ProbeTally; kept: ProbeTally };
  /** ms, over answered requests. `during`: from the DELETE to the pod's removal. Absent without answers. */
  latencyMs: { before?: LatencyQuantiles; during?: LatencyQuantiles; after?: LatencyQuantiles };
  /** Requests that say nothing about the target, by reason: a problem of this machine or of the API server. */
  notMeasured?: { reason: NotMeasuredReason; count: number }[];
}

export interface Verdict {
  outcome: Outcome;
  exitCode: number;
  findings: Finding[];
  gates: Gate[];
}

/** A period in which the evidence of a stream or a clock is incomplete. */
export interface GapReport<At = Time> {
  resource: string;
  from: At;
  to?: At;
  cause: GapCause | 'late' | 'clock-stepped' | 'clock-doubtful';
}

/** Whether clients lost requests because of this exit. */
export interface TrafficReport {
  judgement: 'safe' | 'at-risk' | 'lost' | 'not-judged';
  /** What clients feel, explained in docs/traffic.md "Grades". Reports of older versions have none. */
  grade?: 'lost' | 'outage' | 'misrouted' | 'race' | 'safe' | 'not-judged';
  reason: string;
  services: {
    name: string;
    /** Ready endpoints of other pods when this pod's endpoint was removed. */
    otherReady: number;
    /** How long the Service had no ready endpoint. */
    noReadySeconds?: Range;
  }[];
  probes?: ProbeReport[];
}

/** A change of the workload that would have helped, as a patch for `kubectl patch`. */
export interface FixReport {
  reason: string;
  target: { kind: string; name: string };
  /** A strategic merge patch. */
  patch: object;
  /** A shell command that applies the patch. */
  command: string;
}

/** How the report was made. `image`: by container. */
export interface RunReport {
  command: string;
  version: string;
  context?: string;
  startedAt: Time;
  image?: Record<string, string>;
}

export interface ExitReport {
  apiVersion: 'podexit/v1';
  kind: 'ExitReport';
  mode: Mode;
  pod: {
    namespace: string;
    name: string;
    uid: string;
    node?: string;
    owner?: { kind: string; name: string };
    runtimeClass?: string;
    /** status.reason (`Evicted`, `DeadlineExceeded`, …) if the kubelet ended the pod without a deletion. */
    reason?: string;
  };
  grace: { requestedSeconds: number | null; specSeconds: number; effectiveSeconds: number; deadline: Time };
  /** `note`: more details in words, for example the autoscaler or a drain. */
  trigger: { kind: TriggerKind; evidence: number[]; note?: string | undefined };
  marks: MarkReport[];
  phases: PhaseReport[];
  containers: ContainerReport[];
  endpoints: EndpointReport[];
  replacement?: ReplacementReport;
  verdict: Verdict;
  /** The answer in one sentence. */
  summary?: string;
  /** From the request (or its acceptance) to the removal of the object, by arrival times here. */
  totalSeconds?: number;
  /** Who held up the deletion: consecutive stretches, which add up to the total. Absent as long as the pod exists. */
  ledger?: LedgerEntry[];
  /** Why the exit was not graceful, or what took most of the time. */
  cause?: { code: FindingCode; container?: string };
  traffic?: TrafficReport;
  fix?: FixReport[];
  run?: RunReport;
  clocks: { api?: { offsetMs: Range }; node?: { offsetMs: Range } };
  assumes: { name: string; seconds: number }[];
  /** `to` is absent if the gap lasted to the end. */
  gaps: GapReport[];
  /** `what`: all facts of the observation, joined by `; also `. */
  observations: { seq: number; at: Time; what: string }[];
}
