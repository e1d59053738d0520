/** When a container ended: by its status, or, until one comes, by the end of its log. */
import type { AssumptionName } from '../model/assumptions.ts';
import { logStampLagMs, millisecondsOf } from '../model/assumptions.ts';
import { isStepped } from '../model/clock.ts';
import type { ContainerSpec } from '../model/pod.ts';
import { atLeast, atMost, second } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerFacts, LogFacts, Occurrence, Trace } from '../model/trace.ts';
import { heardSince } from './arrival.ts';
import type { Estimate } from './estimate.ts';
import { crossed, moved, narrowed, notBefore, onClient, onNode } from './estimate.ts';
import { longestStop, minimumGrace } from './grace.ts';
import type { Kubelet } from './kubelet.ts';
import { isStart } from './rounds.ts';
import type { Scene } from './scene.ts';

/** `provisional`: only its log says so. */
export interface ExitFacts {
  readonly at: Estimate;
  readonly code?: number;
  readonly reason?: string;
  readonly provisional: boolean;
}

/** The status that ends it: [finishedAt, + 1 s) on the node's clock, and it had arrived. */
export function endOf({ kubelet }: Scene, spec: ContainerSpec, facts: ContainerFacts): Estimate | undefined {
  const fact = facts.terminated;
  const finished = parseFloor(fact?.value.finishedAt);
  if (!fact || !finished || isMadeUp(fact.value.reason, fact.value.exitCode)) return undefined;
  const stamped = narrowed(onNode(finished, [fact.seq]), onClient(atMost(fact.at + 1), [fact.seq]));
  // Of a clock that was set, what it showed before does not come before what it showed after.
  return crossed(isStepped(kubelet.clock) ? stamped : withLastLine(stamped, facts), kubelet.clock);
}

/** It still ran when it wrote its last line; the stamp may be a little late. Only lines of the same run count. */
function withLastLine(ended: Estimate, facts: ContainerFacts): Estimate {
  const line = facts.log.lastLine;
  if (!line || line.value - logStampLagMs > ended.node.hi) return ended;
  return narrowed(ended, onNode(atLeast(line.value - logStampLagMs), [line.seq]));
}

/** 137 ContainerStatusUnknown is made up by the kubelet (trap 24); 255 Unknown is a runtime that lost the status (§5). */
const isMadeUp = (reason: string | undefined, code: number): boolean =>
  reason === 'ContainerStatusUnknown' || (reason === 'Unknown' && code === 255);

interface ExitInputs {
  ended: Estimate | undefined;
  /** What it certainly followed: its kill, its signal. */
  after: readonly Estimate[];
  signal: Estimate | undefined;
  facts: ContainerFacts;
  killings: readonly Occurrence[];
  began: Estimate;
  lag: AssumptionName;
  /** A hook or a turn may have eaten the grace before the signal. */
  hooked: boolean;
}

export function exitOf({ kubelet, trace }: Scene, inputs: ExitInputs): ExitFacts | undefined {
  const { ended, after, facts } = inputs;
  if (ended && facts.terminated) {
    const at = after.reduce((next, one) => narrowed(next, notBefore(one)), ended);
    const { exitCode: code, reason } = facts.terminated.value;
    return { at: crossed(at, kubelet.clock), code, ...(reason === undefined ? {} : { reason }), provisional: false };
  }
  const provisional = logEndOf(inputs, kubelet, trace);
  return provisional && { at: provisional, provisional: true };
}

/**
 * The kubelet ends a log within about a second of the container's exit (SIGNALS.md §5), long before any status. It may
 * also be a broken connection or the kubelet's own end, so it counts only until something speaks against it.
 */
function logEndOf(
  { facts, signal, killings, began, lag, hooked }: ExitInputs,
  kubelet: Kubelet,
  trace: Trace,
): Estimate | undefined {
  const end = logEndThatTells(trace, facts, killings);
  if (!end || !signal || end.at + 1 < signal.client.lo || facts.terminated) return undefined;
  const told = crossed(
    narrowed(
      withLastLine(onClient(atMost(end.at + 1), [end.seq]), facts),
      causeOf(endedSince(trace, facts.log, end.at), began, signal, hooked),
    ),
    kubelet.clock,
  );
  const known = trace.gone ? orKilled(told, began, kubelet, lag, hooked) : told;
  return Number.isFinite(known.client.hi) ? known : undefined;
}

/** The end of its log, where nothing speaks against it being that of the container. */
export function logEndThatTells(
  trace: Trace,
  { log: { ended: end } }: ContainerFacts,
  killings: readonly Occurrence[],
): LogFacts['ended'] {
  const doubted =
    !end?.value.clean ||
    killings.some((one) => one.at > end.at) ||
    trace.events.some((one) => isStart(one) && one.at > end.at) ||
    trace.nodeReady.some((one) => one.value !== 'True' && one.at >= end.at);
  return doubted ? undefined : end;
}

/** The earliest (client ms) that a log which was told to end at `at` can have ended: its connection may have been away. */
function endedSince(trace: Trace, { reopened }: LogFacts, at: number): number {
  if (reopened && at - reopened.at <= millisecondsOf('delivery-lag')) return -Infinity;
  return heardSince(trace, 'logs', at);
}

/**
 * What it followed: the signal. Where that had to wait for a hook or a turn the container may have ended by itself just
 * before, and its log soon after.
 */
function causeOf(loggedUntil: number, began: Estimate, signal: Estimate, hooked: boolean): Estimate {
  const alone = loggedUntil - millisecondsOf('log-end');
  if (!hooked || signal.client.lo <= alone) return notBefore(signal);
  return narrowed(notBefore(began), onClient(atLeast(alone), []));
}

/** No status will ever confirm it: if the log ended for another reason, the kill at the end of grace did the rest. */
function orKilled(told: Estimate, began: Estimate, kubelet: Kubelet, lag: AssumptionName, hooked: boolean): Estimate {
  const wait = hooked ? kubelet.grace.max * second + minimumGrace : longestStop(kubelet);
  const longest = wait + millisecondsOf(lag);
  const latest = moved(began, { lo: 0, hi: longest });
  return {
    ...told,
    client: { lo: told.client.lo, hi: Math.max(told.client.hi, latest.client.hi) },
    node: { lo: told.node.lo, hi: Math.max(told.node.hi, latest.node.hi) },
  };
}
