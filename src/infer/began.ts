/** When the kubelet began to stop a container (SIGNALS.md §2 S5): K. */
import type { Occurrence } from '../model/trace.ts';
import type { Deletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import { crossed, isBefore, narrowed, notBefore, onClient, onNode } from './estimate.ts';
import { widthOf } from '../model/span.ts';
import type { Rounds } from './rounds.ts';
import { isNewRound, isStart, outlived } from './rounds.ts';
import type { Scene } from './scene.ts';
import { isUntellable } from './tellable.ts';

/** K: the Event's own nanoseconds; a repeated Event only tells the second of its last occurrence (trap 19). */
export function stoppingOf({ deletion, kubelet }: Scene, killings: readonly Occurrence[]): Estimate | undefined {
  const [first] = killings;
  if (!first) return undefined;
  const stamp = onNode(first.time, [first.seq], first.time.lo === first.time.hi ? 'observed' : 'inferred');
  const told = onClient({ lo: deletion.accepted.client.lo, hi: first.at + 1 }, deletion.accepted.evidence);
  return crossed(narrowed(stamp, told), kubelet.clock);
}

/**
 * When the kubelet began with it: K, unless the kubelet had started anew by then and took the Events of a first round
 * with it. Without any Killing, when the kubelet was first seen to know.
 */
export function beganAt(
  { trace, deletion, kubelet }: Scene,
  stopping: Estimate | undefined,
  killings: readonly Occurrence[],
): Estimate {
  const [first] = killings;
  const began = stopping ?? (kubelet.noticed ? openFrom(deletion, kubelet.noticed) : notBefore(deletion.accepted));
  const anew = trace.events.some(
    (event) => isStart(event) && !event.isOld && (!first || event.time.lo <= first.time.hi),
  );
  return anew ? openFrom(deletion, began) : began;
}

/**
 * The last time that the kubelet began with it: from then the grace counts anew (SIGNALS.md §2 S11, trap 36). Where a kill
 * failed, or the kubelet started anew, and no Killing was told after it, at any time since. `code`: that it exited with.
 */
export function countedFrom(
  { trace, kubelet }: Scene,
  { began, killings, ended, lag }: Rounds,
  code: number | undefined,
): Estimate {
  const last = killings.length > 1 ? killings.at(-1) : undefined;
  const told = last
    ? crossed(narrowed(onNode(last.time, [last.seq]), onClient({ lo: -Infinity, hi: last.at + 1 }, [])), kubelet.clock)
    : began;
  // What the kubelet began again after its end is nothing to it.
  const isAnew = trace.events.some(
    (one) =>
      isNewRound(one) && !one.isOld && one.time.hi >= told.node.lo && one.time.lo <= (ended?.node.hi ?? Infinity),
  );
  // A kubelet that keeps time leaves nothing alive so long that was not killed then: it was another round, or another grace.
  const isUnkilled = ended !== undefined && code !== killedCode && outlived(kubelet, told, ended, lag);
  return isAnew || isUnkilled ? notBefore(told) : told;
}

/** 128 + SIGKILL. */
const killedCode = 137;

/** No later than that, and at any time since the deletion was accepted. */
const openFrom = ({ accepted }: Deletion, latest: Estimate): Estimate => ({
  ...latest,
  client: { lo: accepted.client.lo, hi: latest.client.hi },
  node: { lo: -Infinity, hi: latest.node.hi },
});

/** Nothing but the acceptance says when it can have begun at the earliest. */
export const isOpen = (began: Estimate): boolean => began.node.lo === -Infinity;

/**
 * From then on (node clock) what happened to the container is certainly not older than the deletion, and may be its doing:
 * its first Killing, or the latest that the deletion can have been accepted.
 */
export function sinceOf({ deletion, kubelet }: Scene, began: Estimate, killings: readonly Occurrence[]): number {
  const first = killings[0]?.time.lo;
  if (!isOpen(began)) return first ?? -Infinity;
  return Math.min(first ?? Infinity, crossed(deletion.accepted, kubelet.clock).node.hi);
}

/**
 * The kubelet did stop it: its Killing tells, its hook failed, or it still ran when the kubelet knew. One that may have
 * ended before was perhaps never touched (trap 7): no Killing, no hook, no signal.
 */
export function wasStopped(
  { trace, kubelet }: Scene,
  { killings, ended, failed }: { killings: readonly Occurrence[]; ended: Estimate | undefined; failed: boolean },
): boolean {
  if (killings.length > 0 || failed) return true;
  if (!ended) return trace.gone === undefined;
  return kubelet.noticed !== undefined && isBefore(kubelet.noticed, ended);
}

/**
 * No Killing told it: others of the pod had theirs, so that this one may have ended before the kubelet began (trap 7), or
 * nobody had, and the kubelet was heard of late.
 */
export const isVague = ({ trace, kubelet }: Scene, began: Estimate): boolean =>
  (kubelet.killings.size > 0 && !isUntellable(trace)) || widthOf(began.client) > vague;

/** ms: more than two stamps of whole seconds are in doubt by. */
const vague = 2000;
