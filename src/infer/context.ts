/** What the inference of a container needs to know (the trace, the deletion, the kubelet, the network), and what it concludes. */
import { driftOver, type AssumptionName } from '../model/assumptions.ts';
import type { HookKind } from '../model/observe/container.ts';
import type { ContainerSpec } from '../model/pod.ts';
import type { ContainerOutcome, PreStopReport, TriggerKind } from '../model/report.ts';
import { second, type Span } from '../model/span.ts';
import type { ContainerFacts, Occurrence, Trace } from '../model/trace.ts';
import type { Deletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import type { PodNetwork } from './pod-network.ts';

export interface Kubelet {
  /** Killing "Stopping container …" of this deletion, by container, oldest first (trap 20: other Killings are not). */
  readonly killings: ReadonlyMap<string, readonly Occurrence[]>;
  /** From when on the kubelet knew: no Killing and no acknowledgement is earlier. */
  readonly noticed: Estimate | undefined;
  /** Seconds that the kubelet may have counted: what the API said before it began, at least 1 (SIGNALS.md §2 S1). */
  readonly grace: {
    readonly min: number;
    /** Infinite: nothing that was seen bounds it. */
    readonly max: number;
    /** The longest of those that were seen, and the pod's own where that may have been it. */
    readonly likely: number;
  };
}

/** Before anything is known of the kubelet. */
export interface DeletionContext {
  readonly trace: Trace;
  readonly deletion: Deletion;
  readonly network: PodNetwork;
}

export interface InferContext extends DeletionContext {
  readonly kubelet: Kubelet;
}

/** When a hook was over, as far as that is known, and what became of it. */
export interface HookEnd {
  readonly end: Estimate;
  readonly outcome: PreStopReport['outcome'];
  /** It failed, and its container may have ended before it did: then no signal came. */
  readonly mayHaveDied?: boolean;
}

/** A preStop hook of this exit, as far as it is known. */
export interface HookFacts extends HookEnd {
  readonly kind: HookKind;
  readonly start: Estimate;
  /** The kubelet perhaps never touched the container: then the hook did not run at all. */
  readonly doubted?: true;
  /** Its failure may yet be reported: the status overtook the Event. */
  readonly mayFail?: boolean;
  /** It cannot have signalled the application itself. */
  readonly inert: boolean;
  /** FailedPreStopHook, where it arrived. */
  readonly failure?: Occurrence;
  /** Length of a sleep action, s. */
  readonly sleepSeconds?: number;
}

export interface SignalFacts extends Estimate {
  readonly name?: string;
  /** A line of the application names it: it was sent, whatever becomes of the kill. */
  readonly proved: boolean;
}

/** `provisional`: only its log says so. */
export interface ExitFacts {
  readonly at: Estimate;
  readonly code?: number;
  readonly reason?: string;
  readonly provisional: boolean;
}

export interface ContainerExit {
  readonly spec: ContainerSpec;
  readonly facts: ContainerFacts;
  /** It ran when the deletion came, or the kubelet stopped it; or may have, where that is unknown. */
  readonly ran: boolean;
  /** It had ended when it was first looked at, and perhaps before the deletion. */
  readonly mayBeOlder?: true;
  readonly outcome: ContainerOutcome;
  /** The outcome is the likelier of two that the evidence allows. */
  readonly probable?: boolean;
  readonly killings: readonly Occurrence[];
  /** The kubelet began to stop it: K. Absent without a Killing. */
  readonly stopping?: Estimate;
  readonly hook?: HookFacts;
  readonly signal?: SignalFacts;
  readonly kill?: Estimate;
  readonly exit?: ExitFacts;
  /** Until when it took new requests, where a probe of the pod measured it. */
  readonly served?: Estimate;
  /** A status reported its end: until then a kill may fail, or the kubelet restart, and hook and signal come again. */
  readonly settled: boolean;
  /** From when the grace counted that was the last: the last K. */
  readonly counted?: Estimate;
  /** The end of the grace as the kubelet counts it: the last K + grace. */
  readonly graceEnd?: Estimate;
  /** Its hook may have eaten so much of the grace that it was still there when that ended, though nothing was killed. */
  readonly mayHaveOverrun?: boolean;
  /** Assumptions that an instant leans on. */
  readonly assumes: readonly AssumptionName[];
}

export interface EndpointExit {
  readonly slice: string;
  readonly service?: string;
  readonly addressType: string;
  /** publishNotReadyAddresses: the endpoint stays ready until it is removed (trap 15). */
  readonly staysReady: boolean;
  /** It was ready there when the deletion came. */
  readonly wasReady: boolean;
  readonly unrouted?: Estimate & { serving: boolean };
  readonly removed?: Estimate;
  /** Other ready endpoints of the Service and address type when this one was unrouted (or at the end). */
  readonly otherReady: number;
  /** The observation that `otherReady` was read from. */
  readonly counted: readonly number[];
}

export interface Removal {
  /** The terminal phase, after the deletion. */
  readonly done?: Estimate;
  readonly finalDelete?: Estimate;
  readonly finalizers: readonly string[];
  /** From when on nothing but finalizers held the object. */
  readonly held?: Estimate;
  readonly removed?: Estimate;
}

export interface Replacement {
  readonly name: string;
  readonly uid: string;
  readonly created: Estimate;
  readonly scheduled?: Estimate;
  /** All its main containers run. */
  readonly started?: Estimate;
  readonly ready?: Estimate;
}

export interface Trigger {
  readonly kind: TriggerKind;
  readonly evidence: readonly number[];
  /** In words, for people: what more is known. */
  readonly note?: string;
}

/** All that is concluded of a deletion. */
export interface PodExit extends InferContext {
  readonly containers: readonly ContainerExit[];
  readonly endpoints: readonly EndpointExit[];
  readonly removal: Removal;
  readonly replacement?: Replacement;
  readonly trigger: Trigger;
}

/** SIGNALS.md §2 S8: minimumGracePeriodInSeconds. */
export const minimumGrace = 2 * second;

export const graceSpan = (kubelet: Kubelet): Span => ({
  lo: kubelet.grace.min * second - driftOver(kubelet.grace.min * second),
  hi: kubelet.grace.max * second + driftOver(kubelet.grace.max * second),
});

/** The timeout that the runtime is given where no hook and no turn ate of it: the shortest that it can have been. */
export const shortestStop = ({ grace }: Kubelet): number => Math.max(minimumGrace, grace.min * second);

/** The longest. */
export const longestStop = ({ grace }: Kubelet): number => Math.max(minimumGrace, grace.max * second);

/** The longest that has evidence: a 137 that fits it is taken for the end of the grace. */
export const likelyStop = ({ grace }: Kubelet): number => Math.max(minimumGrace, grace.likely * second);

/**
 * What later news may take back is provisional while the run lasts: a hook and a signal whose container has not been reported
 * to have ended (a kill may fail, the kubelet may restart), an exit that only the end of a log shows. Nothing is judged by it,
 * and a report of a run that was left before the end does not have it. Here: hook and end are not going to be taken back.
 */
export const isEndSettled = ({ gone }: Pick<Trace, 'gone'>, { settled }: Pick<ContainerExit, 'settled'>): boolean =>
  settled || gone !== undefined;

/**
 * The same of its stop signal, which the application itself may have named. None came where the container took its hook along
 * (SIGNALS.md §2 S6), and only the Event of the hook's failure shows that.
 */
export const isSignalSettled = (trace: Pick<Trace, 'gone'>, container: ContainerExit): boolean =>
  container.signal?.proved === true ||
  (isEndSettled(trace, container) && (container.hook?.mayFail !== true || trace.gone !== undefined));
