/** When the kubelet began to stop a container (SIGNALS.md §2 S5): K. */
import type { Occurrence } from '../trace.ts';
import type { Deletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import { crossed, narrowed, notBefore, onClient, onNode } from './estimate.ts';
import { widthOf } from '../span.ts';
import { isStart } from './rounds.ts';
import type { Scene } from './scene.ts';

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

/** No later than that, and at any time since the deletion was accepted. */
const openFrom = ({ accepted }: Deletion, latest: Estimate): Estimate => ({
  ...latest,
  client: { lo: accepted.client.lo, hi: latest.client.hi },
  node: { lo: -Infinity, hi: latest.node.hi },
});

/**
 * No Killing told it: others of the pod had theirs, so that this one may have ended before the kubelet began (trap 7), or
 * nobody had, and the kubelet was heard of late.
 */
export const isVague = ({ kubelet }: Scene, began: Estimate): boolean =>
  kubelet.killings.size > 0 || widthOf(began.client) > vague;

/** ms: more than two stamps of whole seconds are in doubt by. */
const vague = 2000;
