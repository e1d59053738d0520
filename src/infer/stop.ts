/** When a stop and its grace started, and whether there was another attempt (SIGNALS.md §2 S1, S5, S11, trap 36). */
import { millisecondsOf } from '../model/assumptions.ts';
import { hookOf } from '../model/pod.ts';
import { atMost, second } from '../model/span.ts';
import type { Fact, NodeSign, Occurrence, Trace } from '../model/trace.ts';
import { constrainChange, killingsMissing } from './arrival.ts';
import type { ContainerContext } from './before-deletion.ts';
import { graceSpan, minimumGrace, stopTimeout } from './context.ts';
import { isBefore, moved, type Estimate } from './estimate.ts';
import { moment } from './pod-network.ts';

/** A container that the kubelet stops: what is known before its hook, signal and exit are inferred. */
export interface Stop extends ContainerContext {
  readonly stopStart: Estimate;
  /** Only the acceptance of the deletion bounds the start from below. */
  readonly isStartOpen: boolean;
  /** For a sidecar: when all containers that it waits for had ended (SIGNALS.md §2 S7). */
  readonly turn: Estimate | undefined;
}

/**
 * At its Killing, or earlier if a kubelet restart lost the Events of a first attempt. Without a Killing: by the
 * kubelet's first sign, unless the container may be started later (`mayBeNew`).
 */
export function constrainStopStart(
  { trace, kubelet, network, spec, killings }: ContainerContext,
  mayBeNew: boolean,
): Pick<Stop, 'stopStart' | 'isStartOpen'> {
  const at = moment('stop-start', spec.name);
  const [first] = killings;
  // If only the repetition of a Killing arrived, it does not show when the first attempt started.
  const isRestarted =
    (first?.isOld === true && first.count > 1) ||
    trace.events.some((event) => isKubeletStart(event) && !event.isOld && (!first || event.time.lo <= first.time.hi));
  network.follows('accepted', at, {}, { because: 'the kubelet acts on the deletion (§2 S1)' });
  if (first) {
    const max = isRestarted ? Infinity : 0;
    network.follows(at, moment('stopping', spec.name), { max }, { because: 'Killing is made as it begins (§2 S5)' });
  } else if (kubelet.noticed && !mayBeNew) {
    network.notAfter(at, kubelet.noticed, 'the kubelet knew of the deletion (§2 S3)');
  }
  const isSeen = first !== undefined && !isRestarted && first.time.lo === first.time.hi;
  return { stopStart: network.read(at, isSeen ? 'observed' : 'inferred'), isStartOpen: !first || isRestarted };
}

/** 128 + SIGKILL. */
export const sigkillCode = 137;

/** The grace counts from the last start (SIGNALS.md §2 S11, trap 36): no upper bound after an unseen retry. */
export function constrainGraceStart(stop: Stop): Estimate {
  const { trace, kubelet, network, spec, facts, killings, ended } = stop;
  const at = moment('grace-start', spec.name);
  const last = killings.length > 1 ? killings.at(-1) : undefined;
  const latest = `last-stopping/${spec.name}`;
  if (last)
    constrainChange(network, latest, { fact: last, written: atMost(last.at + 1), stamp: last.time, clock: 'node' });
  const latestStart = last ? network.read(latest) : stop.stopStart;
  // An attempt that started after the container had ended does not count.
  const isRetried = trace.events.some(
    (event) =>
      startsNewAttempt(event) &&
      !event.isOld &&
      event.time.hi >= latestStart.node.lo &&
      event.time.lo <= (ended?.node.hi ?? Infinity),
  );
  // A kubelet on time would have killed the container before: there was another attempt, or another grace period.
  const isUnkilled = facts.terminated?.value.exitCode !== sigkillCode && outlivedDeadline(stop, latestStart);
  const max = isRetried || isUnkilled ? Infinity : 0;
  const start = last ? latest : moment('stop-start', spec.name);
  network.follows(start, at, { max }, { because: 'the grace counts from here (§2 S1)' });
  const grace = graceSpan(kubelet);
  const graceEnd = moment('grace-end', spec.name);
  network.follows(at, graceEnd, { min: grace.lo, max: grace.hi }, { because: 'the grace (§2 S1)' });
  return network.read(at, max === 0 ? latestStart.basis : 'inferred');
}

/** Node ms after which what happened to the container is certainly not older than the deletion. */
export const deletedAtLatest = ({ network, killings: [first] }: Stop): number =>
  Math.min(first?.time.lo ?? Infinity, network.read('accepted').node.hi);

/** It has a Killing, or it ran when the kubelet knew. One that had ended gets none (trap 7). */
export function wasCertainlyStopped({ trace, kubelet, killings, ended }: Stop): boolean {
  if (killings.length > 0) return true;
  if (!ended) return trace.gone === undefined;
  return kubelet.noticed !== undefined && isBefore(kubelet.noticed, ended);
}

/** Too uncertain to date a kill: only others have a Killing (trap 7), or the kubelet's first sign came late. */
export const isStartUncertain = (stop: Stop): boolean =>
  (stop.kubelet.killings.size > 0 && !killingsMissing(stop.trace) && !wasCertainlyStopped(stop)) ||
  stop.stopStart.client.hi - stop.stopStart.client.lo > 2 * second;

/**
 * Whether there may have been a second attempt: then only the exit, or a log line, bounds the signal from above (trap
 * 36). If no Killing arrived, those of failed attempts may not have arrived either.
 */
export const mayHaveRetried = (stop: Stop): boolean => sawRetry(stop) || stop.killings.length === 0;

/** Whether something shows that there was, or may have been, a second attempt. */
export function sawRetry(stop: Stop): boolean {
  const { trace, killings, stopStart } = stop;
  const [first] = killings;
  const since = first?.time.lo ?? stopStart.node.lo;
  return (
    killings.length > 1 ||
    trace.events.some((event) => startsNewAttempt(event) && event.time.hi >= since) ||
    trace.nodeReady.some((ready, index) => index > 0 && ready.value !== 'True' && ready.at >= (first?.at ?? 0)) ||
    stop.isLate ||
    outlivedDeadline(stop, stopStart)
  );
}

/** Longer than hook, minimum grace and kill take, so that kubelet or runtime cannot have been on time. */
export function outlivedDeadline(container: ContainerContext, start: Estimate): boolean {
  const { kubelet, ended, lag } = container;
  const longer = mayTakeLonger(container) ? minimumGrace + second : 0;
  const deadline = stopTimeout(kubelet, 'max') + 2 * millisecondsOf(lag) + longer;
  return ended !== undefined && isBefore(moved(start, { lo: 0, hi: deadline }), ended);
}

/** After a hook or a wait for its turn, SIGKILL may come as late as the minimum grace; and a killed process may die slowly. */
const mayTakeLonger = ({ spec, facts }: ContainerContext): boolean =>
  spec.kind === 'sidecar' || hookOf(spec.container) !== undefined || facts.terminated?.value.exitCode === sigkillCode;

/** A Killing with which the kubelet starts to stop a container of the pod, not one after a failed probe or hook. */
export const isStopKilling = ({ reason, about, message }: Occurrence): boolean =>
  reason === 'Killing' && about.kind === 'Pod' && message.startsWith('Stopping container ');

export const isKubeletStart = (event: Occurrence): boolean =>
  event.reason === 'Starting' && event.about.kind === 'Node' && event.component === 'kubelet';

/** The kubelet tries again to stop the pod. */
export const startsNewAttempt = (event: Occurrence): boolean =>
  event.reason === 'FailedKillPod' || isKubeletStart(event);

/**
 * Whether the kubelet paused (frozen, starved of CPU): sleep hooks and signals are late then. Signs of that: a late renewal
 * of the Lease, or an application that logs its signal long after it was due. Without a Killing the two clocks are hardly
 * linked: then it is enough that the line arrives late. `due`: when the sleep can have ended.
 */
export function hasPaused(
  { trace, spec, facts, killings }: Stop,
  { node: due, client }: Pick<Estimate, 'client' | 'node'>,
): boolean {
  // A sidecar gets its signal late in any case, as it waits for its turn.
  const lines = spec.kind === 'sidecar' ? [] : facts.log.signalLines;
  const line = lines.find(({ value }) => value >= due.lo);
  return (
    (line && (line.value > due.hi || (killings.length === 0 && line.at > client.hi))) ||
    lateRenewals(trace).some(({ value }) => value.stamp > due.hi)
  );
}

/** The renewals of the Lease that came too long after the one before: the kubelet had stood still. */
export function lateRenewals({ nodeSigns: { listedRenewal, renewals } }: Trace): Fact<NodeSign>[] {
  const all = [...(listedRenewal ? [listedRenewal] : []), ...renewals];
  return all.filter(
    ({ value: { stamp } }, index) => stamp - (all[index - 1]?.value.stamp ?? stamp) > maxRenewalIntervalMs,
  );
}

/** The kubelet renews its Lease every 10 s, and up to 4 % later (kubelet.go, `wait.JitterUntil`). */
const maxRenewalIntervalMs = 10.5 * second;
