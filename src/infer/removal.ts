/** From the last container's exit to the removal of the object: clean-up, the kubelet's last DELETE, finalizers. */
import { containersOf, isFinished } from '../model/pod.ts';
import { atLeast, type Span } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { Fact } from '../model/trace.ts';
import { constrainChange, writtenAt } from './arrival.ts';
import type { DeletionContext } from './context.ts';
import { ranAtDeletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import { moment } from './pod-network.ts';

/** Constrains when the pod became Succeeded or Failed, when the kubelet sent its last DELETE, and the removal. */
export function constrainRemoval({ trace, network, deletion }: DeletionContext): void {
  const add = (name: string, fact: Fact<unknown>, after: string[], stamp?: Span): void =>
    constrainChange(network, name, { fact, written: writtenAt(trace, fact, 'pod'), after, stamp });
  const { terminal, finalDelete, gone } = trace;
  const exits = containersOf(deletion.pod).map(({ name }) => moment('exit', name));
  // The status waits for all containers (SIGNALS.md §2 S10, S12).
  const isDone = terminal !== undefined && !isFinished(deletion.pod);
  if (isDone) add('containers-done', terminal, ['accepted', ...exits.filter((exit) => network.has(exit))]);
  const done = isDone ? 'containers-done' : 'accepted';
  // On a running pod, grace 0 is a forced DELETE (trap 4).
  const isFinal = finalDelete && isFinished(finalDelete.value) && (isDone || ranAtDeletion(deletion));
  // It rewrites deletionTimestamp to now (SIGNALS.md §0 row 9); another DELETE may do so again.
  const stamp = parseFloor(finalDelete?.value.metadata.deletionTimestamp);
  if (isFinal) add('final-delete', finalDelete, [done], stamp && atLeast(stamp.lo));
  if (gone) add('removed', gone, [isFinal ? 'final-delete' : done]);
}

/** Since when only finalizers kept the object, if they did. */
export function heldSince({ trace, network, deletion }: DeletionContext): Estimate | undefined {
  const { finalizing } = trace;
  if (!finalizing || finalizing.value.length === 0) return undefined;
  // If nothing can run, the first DELETE is also the last one (trap 5).
  const isIdle = !ranAtDeletion(deletion) || deletion.pod.spec.nodeName === undefined;
  // If grace 0 was stored while it ran, the kubelet's last DELETE changes nothing, and is not seen (SIGNALS.md §0 row 9).
  return network.observed('final-delete') ?? (isIdle ? deletion.accepted : network.observed('containers-done'));
}
