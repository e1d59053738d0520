/** The inputs of the inference (trace, deletion, kubelet, network) and its results, as types. */
import { driftOver, type AssumptionName } from '../model/assumptions.ts';
import type { PodContainer } from '../model/pod.ts';
import type {
  ContainerOutcome,
  EndpointReport,
  PreStopReport,
  ReplacementReport,
  TriggerKind,
} from '../model/report.ts';
import { second, type Span } from '../model/span.ts';
import type { ContainerFacts, Fact, Occurrence, Trace } from '../model/trace.ts';
import type { Deletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import type { PodNetwork } from './pod-network.ts';

export interface Kubelet {
  /** The Killing Events of this deletion ("Stopping container …"; trap 20), by container, oldest first. */
  readonly killings: ReadonlyMap<string, readonly Occurrence[]>;
  /** When the kubelet first knew of the deletion: no Killing and no acknowledgement is earlier. */
  readonly noticed: Estimate | undefined;
  /** The grace period that the kubelet used, s: what the API showed when it started, at least 1 (SIGNALS.md §2 S1). */
  readonly grace: {
    readonly min: number;
    /** Infinite if no observation limits it. */
    readonly max: number;
    /** The longest that was observed, or the pod's own if that may have been in force. */
    readonly likely: number;
  };
}

/** What is known before the kubelet's part is inferred. */
export interface DeletionContext {
  readonly trace: Trace;
  readonly deletion: Deletion;
  readonly network: PodNetwork;
}

export interface InferContext extends DeletionContext {
  readonly kubelet: Kubelet;
  /** A container of the pod outlived its deadline: kubelet or runtime were late, perhaps for all containers. */
  readonly isLate: boolean;
}

/** What is known of a container's preStop hook. */
export interface HookFacts extends Readonly<PreStopReport<Estimate>> {
  /** The hook failed, perhaps because its container had ended. If so, no stop signal was sent. */
  readonly mayHaveDied?: boolean;
  /** The container may have ended before the kubelet stopped it. If so, the hook never ran. */
  readonly mayNotHaveRun?: true;
  /** The Event of a failure may still arrive, as Events can come later than the status. */
  readonly mayStillFail?: boolean;
  /** The hook cannot itself send a signal to the application. */
  readonly inert: boolean;
  readonly failure?: Occurrence;
  /** Length of a sleep action, s. */
  readonly sleepSeconds?: number;
}

export interface SignalFacts extends Estimate {
  readonly name?: string;
  /** A log line of the application names the signal, so it was sent, even if the kill fails later. */
  readonly proved: boolean;
}

/** Without `code`, only the end of the container's log shows the exit. */
export interface ExitFacts<At = Estimate> {
  readonly at: At;
  readonly code?: number;
  readonly reason?: string;
}

export interface ContainerExit {
  readonly spec: PodContainer;
  readonly facts: ContainerFacts;
  /** The container was running when the deletion came, or the kubelet stopped it. True also if that is possible. */
  readonly ran: boolean;
  readonly outcome: ContainerOutcome;
  /** The evidence allows two outcomes; this is the likelier one, and sentences say "probably". */
  readonly probable?: boolean;
  /** The Killing Events of this deletion, oldest first; the kubelet makes one per attempt to stop the container. */
  readonly killings: readonly Occurrence[];
  /** The first Killing: K. */
  readonly stopping?: Estimate;
  readonly hook?: HookFacts;
  readonly signal?: SignalFacts;
  readonly kill?: Estimate;
  readonly exit?: ExitFacts;
  /** When it stopped accepting new requests, if a probe of the pod measured that. */
  readonly served?: Estimate;
  /** When the kubelet last started the grace: the last K. */
  readonly graceStart?: Estimate;
  /** The end of the grace as the kubelet counts it: the last K + grace. */
  readonly graceEnd?: Estimate;
  /** The hook may have run past the end of the grace, although the container was not killed. */
  readonly mayHaveOverrun?: boolean;
  readonly assumes: readonly AssumptionName[];
}

/** `At`: how a moment is given. */
export interface EndpointExit<At = Estimate> extends Readonly<EndpointReport<At>> {
  /** publishNotReadyAddresses: the endpoint stays ready until it is removed (trap 15). */
  readonly staysReady: boolean;
  readonly wasReady: boolean;
  /** The observation that `otherReady` was read from. */
  readonly counted: readonly number[];
}

export type Replacement<At = Estimate> = Readonly<ReplacementReport<At>>;

export interface Trigger {
  readonly kind: TriggerKind;
  readonly evidence: readonly number[];
  readonly note?: string;
  /** ms for which it was held up before the deletion, as the note says. */
  readonly heldMs?: number;
}

/** Everything inferred about a deletion. */
export interface PodExit extends InferContext {
  readonly containers: readonly ContainerExit[];
  readonly endpoints: readonly EndpointExit[];
  readonly replacement?: Replacement;
  readonly replacementHold?: Fact<string>;
  readonly trigger: Trigger;
}

/** SIGNALS.md §2 S8: minimumGracePeriodInSeconds. */
export const minimumGrace = 2 * second;

export const graceSpan = (kubelet: Kubelet): Span => ({
  lo: kubelet.grace.min * second - driftOver(kubelet.grace.min * second),
  hi: kubelet.grace.max * second + driftOver(kubelet.grace.max * second),
});

/** The timeout (ms) of the runtime's kill, if neither hook nor sidecar turn used up grace. */
export const stopTimeout = ({ grace }: Kubelet, which: keyof Kubelet['grace']): number =>
  Math.max(minimumGrace, grace[which] * second);

/** Whether hook and exit are final: a log can end early, and a failed kill or kubelet restart repeats the hook. */
export const isEndSettled = ({ gone }: Pick<Trace, 'gone'>, container: ContainerExit): boolean =>
  reportedExit(container) !== undefined || gone !== undefined;

/** When the container ended, if a status reported that. */
export const reportedExit = <At>({ exit }: { readonly exit?: ExitFacts<At> }): At | undefined =>
  exit?.code === undefined ? undefined : exit.at;

/** Proved by a log line, or no failure of the hook can still arrive, which may mean that none was sent (§2 S6). */
export const isSignalSettled = (trace: Pick<Trace, 'gone'>, container: ContainerExit): boolean =>
  container.signal?.proved === true || (isEndSettled(trace, container) && container.hook?.mayStillFail !== true);
