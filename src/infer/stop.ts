/** When the kubelet began to stop a container, and since when its grace counts (SIGNALS.md §2 S1, S5, S11). */
import type { Occurrence } from '../model/trace.ts';
import { isBefore, type Estimate } from './estimate.ts';
import { graceSpan, type InferContext } from './context.ts';
import { beginsNewAttempt, isStart, outlived, type StopAttempts } from './stop-attempts.ts';
import { killingsMissing } from './missing-events.ts';
import { widthOf } from '../model/span.ts';
import { moment } from './stage.ts';

/** What is known of a container's stop when its hook, signal and end are judged. */
export interface Stop extends StopAttempts {
  /** Nothing but the acceptance says when the kubelet can have begun with it at the earliest. */
  readonly isOpen: boolean;
}

/**
 * States when the kubelet began: with its Killing, unless the kubelet had restarted by then and took the Events of a
 * first round with it; without any Killing by when it was first seen to know. `knows`: it was seen to know of this container.
 */
export function stateBegan(
  { trace, kubelet, stage }: InferContext,
  container: string,
  killings: readonly Occurrence[],
  knows = true,
): { began: Estimate; isOpen: boolean } {
  const at = moment('began', container);
  const [first] = killings;
  const isAnew = trace.events.some((one) => isStart(one) && !one.isOld && (!first || one.time.lo <= first.time.hi));
  stage.follows('accepted', at, {}, { because: 'the kubelet acts on the deletion (§2 S1)' });
  if (first) {
    const max = isAnew ? Infinity : 0;
    stage.follows(at, moment('stopping', container), { max }, { because: 'Killing is made as it begins (§2 S5)' });
  } else if (kubelet.noticed && knows) {
    const { client, node, evidence } = kubelet.noticed;
    const limits = { client: { lo: -Infinity, hi: client.hi }, node: { lo: -Infinity, hi: node.hi } };
    stage.within(at, limits, { because: 'the kubelet knew of the deletion (§2 S3)', evidence });
  }
  const isSeen = first !== undefined && !isAnew && first.time.lo === first.time.hi;
  return { began: stage.read(at, isSeen ? 'observed' : 'inferred'), isOpen: !first || isAnew };
}

/** 128 + SIGKILL. */
const killedCode = 137;

/**
 * States the last time that the kubelet began with it: from then the grace counts again (SIGNALS.md §2 S11, trap 36). Where a
 * kill failed, or the kubelet restarted, and no Killing came after it: at any time since. `code`: that it exited with.
 */
export function stateCounted(context: InferContext, container: string, stop: Stop, code: number | undefined): Estimate {
  const { trace, kubelet, stage } = context;
  const { killings, ended, lag } = stop;
  const at = moment('counted', container);
  const last = killings.length > 1 ? killings.at(-1) : undefined;
  const latest = `last-stopping/${container}`;
  if (last) {
    const proof = { because: 'the last Killing (§2 S11)', evidence: [last.seq] };
    stage.within(latest, { client: { lo: -Infinity, hi: last.at + 1 } }, proof);
    stage.stamp('node', latest, last.time, last.at + 1, proof);
  }
  const latestStart = last ? stage.read(latest) : stop.began;
  // What the kubelet began again after its end is nothing to it.
  const isAnew = trace.events.some(
    (one) =>
      beginsNewAttempt(one) &&
      !one.isOld &&
      one.time.hi >= latestStart.node.lo &&
      one.time.lo <= (ended?.node.hi ?? Infinity),
  );
  // A kubelet that keeps time leaves nothing alive so long that was not killed then: it was another round, or another grace.
  const isUnkilled = ended !== undefined && code !== killedCode && outlived(kubelet, latestStart, ended, lag);
  const max = isAnew || isUnkilled ? Infinity : 0;
  stage.follows(
    last ? latest : moment('began', container),
    at,
    { max },
    { because: 'the grace counts from here (§2 S1)' },
  );
  stage.follows(
    at,
    `grace-end/${container}`,
    { min: graceSpan(kubelet).lo, max: graceSpan(kubelet).hi },
    { because: 'the grace (§2 S1)' },
  );
  return stage.read(at, max === 0 ? latestStart.basis : 'inferred');
}

/**
 * From then on (node clock) what happened to the container is certainly not older than the deletion, and may be its doing:
 * its first Killing, or the latest that the deletion can have been accepted.
 */
export function sinceOf({ stage }: InferContext, { isOpen, killings }: Pick<Stop, 'isOpen' | 'killings'>): number {
  const first = killings[0]?.time.lo;
  if (!isOpen) return first ?? -Infinity;
  return Math.min(first ?? Infinity, stage.read('accepted').node.hi);
}

/**
 * The kubelet did stop it: it has a Killing, its hook failed, or it still ran when the kubelet knew. One that may have
 * ended before was perhaps never touched (trap 7): no Killing, no hook, no signal.
 */
export function wasStopped(
  { trace, kubelet }: InferContext,
  { killings, ended, failed }: { killings: readonly Occurrence[]; ended: Estimate | undefined; failed: boolean },
): boolean {
  if (killings.length > 0 || failed) return true;
  if (!ended) return trace.gone === undefined;
  return kubelet.noticed !== undefined && isBefore(kubelet.noticed, ended);
}

/**
 * It has no Killing: others of the pod had theirs, so that this one may have ended before the kubelet began (trap 7), or
 * none had, and the kubelet's first sign came late.
 */
export const isVague = ({ trace, kubelet }: InferContext, began: Estimate): boolean =>
  (kubelet.killings.size > 0 && !killingsMissing(trace)) || widthOf(began.client) > vague;

/** ms: more than two stamps of whole seconds are in doubt by. */
const vague = 2000;
