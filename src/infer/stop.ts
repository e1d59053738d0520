/**
 * When the kubelet began to stop a container, since when its grace counts, and whether it kept time: a failed kill or a restarted
 * kubelet begins everything again (SIGNALS.md §2 S1, S5, S11, trap 36).
 */
import { millisecondsOf, type AssumptionName } from '../model/assumptions.ts';
import type { ContainerSpec } from '../model/pod.ts';
import { atMost, second, widthOf } from '../model/span.ts';
import type { Fact, Occurrence, Trace } from '../model/trace.ts';
import { graceSpan, longestStop, minimumGrace, type InferContext, type Kubelet } from './context.ts';
import { isBefore, moved, type Estimate } from './estimate.ts';
import { killingsMissing } from './gaps.ts';
import { moment } from './pod-network.ts';

/** What is known of a container's stop when its hook, signal and end are judged. */
export interface Stop {
  readonly began: Estimate;
  readonly killings: readonly Occurrence[];
  readonly ended: Estimate | undefined;
  readonly lag: AssumptionName;
  /** Nothing but the acceptance says when the kubelet can have begun with it at the earliest. */
  readonly isOpen: boolean;
}

/**
 * States when the kubelet began: with its Killing, unless the kubelet had restarted by then and took the Events of a
 * first attempt with it; without any Killing by when it was first seen to know. `knows`: it was seen to know of this container.
 */
export function stateBegan(
  { trace, kubelet, network }: InferContext,
  container: string,
  killings: readonly Occurrence[],
  knows = true,
): { began: Estimate; isOpen: boolean } {
  const at = moment('began', container);
  const [first] = killings;
  const isRestarted = trace.events.some(
    (one) => isStart(one) && !one.isOld && (!first || one.time.lo <= first.time.hi),
  );
  network.follows('accepted', at, {}, { because: 'the kubelet acts on the deletion (§2 S1)' });
  if (first) {
    const max = isRestarted ? Infinity : 0;
    network.follows(at, moment('stopping', container), { max }, { because: 'Killing is made as it begins (§2 S5)' });
  } else if (kubelet.noticed && knows && !isAcknowledgedByProbe(trace)) {
    network.notAfter(at, kubelet.noticed, 'the kubelet knew of the deletion (§2 S3)');
  }
  const isSeen = first !== undefined && !isRestarted && first.time.lo === first.time.hi;
  return { began: network.read(at, isSeen ? 'observed' : 'inferred'), isOpen: !first || isRestarted };
}

/** The status that acknowledges the deletion may be a probe's, written before the kubelet begins (SIGNALS.md §2 S3). */
export const isAcknowledgedByProbe = ({ acknowledged, containers }: Trace): boolean =>
  acknowledged !== undefined &&
  [...containers.values()].some(({ readyLost }) => readyLost !== undefined && readyLost.seq <= acknowledged.seq);

/** 128 + SIGKILL. */
export const killedCode = 137;

/**
 * States the last time that the kubelet began with it: from then the grace counts again (SIGNALS.md §2 S11, trap 36). Where a
 * kill failed, or the kubelet restarted, and no Killing came after it: at any time since. `code`: that it exited with.
 */
export function stateCounted(context: InferContext, container: string, stop: Stop, code: number | undefined): Estimate {
  const { trace, kubelet, network } = context;
  const { killings, ended, lag } = stop;
  const at = moment('counted', container);
  const last = killings.length > 1 ? killings.at(-1) : undefined;
  const latest = `last-stopping/${container}`;
  if (last) {
    const proof = { because: 'the last Killing (§2 S11)', evidence: [last.seq] };
    network.within(latest, { client: atMost(last.at + 1) }, proof);
    network.stamp('node', latest, last.time, last.at + 1, proof);
  }
  const latestStart = last ? network.read(latest) : stop.began;
  // What the kubelet began again after its end does not count.
  const isRetried = trace.events.some(
    (one) =>
      beginsNewAttempt(one) &&
      !one.isOld &&
      one.time.hi >= latestStart.node.lo &&
      one.time.lo <= (ended?.node.hi ?? Infinity),
  );
  // A kubelet that keeps time leaves nothing alive so long that was not killed then: it was another attempt, or another grace.
  const isUnkilled = ended !== undefined && code !== killedCode && outlived(kubelet, latestStart, ended, lag);
  const max = isRetried || isUnkilled ? Infinity : 0;
  const start = last ? latest : moment('began', container);
  network.follows(start, at, { max }, { because: 'the grace counts from here (§2 S1)' });
  const grace = graceSpan(kubelet);
  network.follows(at, `grace-end/${container}`, { min: grace.lo, max: grace.hi }, { because: 'the grace (§2 S1)' });
  return network.read(at, max === 0 ? latestStart.basis : 'inferred');
}

/**
 * From then on (node clock) what happened to the container is certainly not older than the deletion, and may be its doing:
 * its first Killing, or the latest that the deletion can have been accepted.
 */
export function sinceOf({ network }: InferContext, { isOpen, killings }: Pick<Stop, 'isOpen' | 'killings'>): number {
  const first = killings[0]?.time.lo;
  if (!isOpen) return first ?? -Infinity;
  return Math.min(first ?? Infinity, network.read('accepted').node.hi);
}

/**
 * The kubelet did stop it: it has a Killing, its hook failed, or it still ran when the kubelet knew. One that may have
 * ended before was perhaps never touched (trap 7): no Killing, no hook, no signal.
 */
export function wasSurelyStopped(
  { trace, kubelet }: InferContext,
  { killings, ended, failed }: Pick<Stop, 'killings' | 'ended'> & { failed: boolean },
): boolean {
  if (killings.length > 0 || failed) return true;
  if (!ended) return trace.gone === undefined;
  return kubelet.noticed !== undefined && isBefore(kubelet.noticed, ended);
}

/**
 * It has no Killing: others of the pod had theirs, so that this one may have ended before the kubelet began (trap 7), or
 * none had, and the kubelet's first sign came late.
 */
export const isStartUncertain = ({ trace, kubelet }: InferContext, began: Estimate): boolean =>
  (kubelet.killings.size > 0 && !killingsMissing(trace)) || widthOf(began.client) > mostUncertain;

/** ms: more than two stamps of whole seconds are in doubt by. */
const mostUncertain = 2000;

/**
 * The kubelet did not keep time: a kill failed, the kubelet restarted, or the container outlived every deadline.
 * Everything begins again then, with a signal only if none was sent before (trap 36), and nothing but the exit or a
 * line that names the signal bounds it from above.
 */
export function mayHaveRetried(
  { trace, kubelet }: InferContext,
  { killings, ended, began, lag }: Stop,
  ready: Estimate,
): boolean {
  const last = killings.at(-1);
  const since = killings[0]?.time.lo ?? began.node.lo;
  const again =
    killings.length > 1 ||
    trace.events.some((event) => beginsNewAttempt(event) && event.time.hi >= since) ||
    trace.nodeReady.some(
      (ready, index) => index > 0 && ready.value !== 'True' && ready.at >= (killings[0]?.at ?? -Infinity),
    );
  const late = killings.length < 2 && ended !== undefined && outlived(kubelet, began, ended, lag);
  // Without any Killing seen, attempts that failed would not have been seen either.
  // Of an Event that was repeated before, only its last time is known.
  const repeated = (killings[0]?.count ?? 1) > 2;
  return again || late || repeated || last === undefined || !Number.isFinite(ready.client.hi);
}

/** Nothing shows a second attempt. Without any Killing the only one began when the kubelet was first seen to know. */
export const isInTime = ({ trace, kubelet }: InferContext, { ended, began, lag }: Stop): boolean =>
  !trace.events.some(beginsNewAttempt) &&
  !trace.nodeReady.some((ready, index) => index > 0 && ready.value !== 'True') &&
  !(ended !== undefined && outlived(kubelet, began, ended, lag));

/** It lived past hook, minimum grace and kill: the kubelet did not keep time. */
export function outlived(kubelet: Kubelet, began: Estimate, ended: Estimate, lag: AssumptionName): boolean {
  const deadline = longestStop(kubelet) + minimumGrace + second + millisecondsOf(lag);
  return isBefore(moved(began, { lo: 0, hi: deadline }), ended);
}

export const isStart = (event: Occurrence): boolean =>
  event.reason === 'Starting' && event.about.kind === 'Node' && event.component === 'kubelet';

export const beginsNewAttempt = (event: Occurrence): boolean => event.reason === 'FailedKillPod' || isStart(event);

/** Node clock, ms. */
interface PauseEnd {
  readonly at: number;
  /** The log line that shows it. */
  readonly evidence: readonly number[];
}

/**
 * A kubelet that paused (frozen, starved of CPU) while it waited goes on late: a sleep hook ends, and its signal is sent, when
 * it resumes. A late renewal of its node's Lease shows that, and so does an application that names its signal long after it
 * was due. When it last resumed; undefined where nothing shows a pause. `due`: node clock.
 */
export function pauseEndOf(
  { trace }: InferContext,
  { name, kind }: ContainerSpec,
  due: { readonly from: number; readonly to: number },
): PauseEnd | undefined {
  const { listedRenewal, renewals } = trace.nodeSigns;
  const stamps = [...(listedRenewal ? [listedRenewal] : []), ...renewals.map(stampOf)];
  const late = stamps.filter(
    ({ value }, index) => index > 0 && value - (stamps[index - 1]?.value ?? value) > longestRenewal && value > due.from,
  );
  // A sidecar gets its signal late anyway: it waits for its turn.
  const lines = kind === 'sidecar' ? [] : (trace.containers.get(name)?.log.signalLines ?? []);
  const line = lines.find(({ value }) => value >= due.from);
  const signs = [...late, ...(line && line.value > due.to ? [line] : [])].filter(({ value }) => value > due.to);
  const last = signs.at(-1);
  return last && { at: last.value, evidence: last === line ? [last.seq] : [] };
}

const stampOf = ({ value, seq, at }: Fact<{ readonly stamp: number }>): Fact<number> => ({
  value: value.stamp,
  seq,
  at,
});

/** The kubelet renews every 10 s, and up to 4 % later (kubelet.go, `wait.JitterUntil`). ms */
export const longestRenewal = 10.5 * second;
