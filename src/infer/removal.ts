/** From the last container's exit to the removal of the object: clean-up, the kubelet's last DELETE, finalizers. */
import { isFinished } from '../model/pod.ts';
import { atLeast } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import { arrival } from './arrival.ts';
import { reportedExit, type ContainerExit, type DeletionContext } from './context.ts';
import { ranAtDeletion, type Deletion } from './deletion.ts';
import { narrowed, narrowedByCause, onClient, type Estimate } from './estimate.ts';

/**
 * `done`: the pod's phase became Succeeded or Failed, after the deletion. `held`: from then on only finalizers kept the
 * object.
 */
export function removalOf(context: DeletionContext, exits: readonly ContainerExit[]) {
  const { trace, deletion } = context;
  const done = doneAt(context, exits);
  const final = finalAt(context, done ?? (ranAtDeletion(deletion) ? deletion.accepted : undefined));
  const finalizers = trace.finalizing?.value ?? [];
  // If nothing can run, the first DELETE is also the last one (trap 5).
  const idle = isIdle(deletion) ? deletion.accepted : undefined;
  // If grace 0 was stored while it ran, the kubelet's last DELETE changes nothing, and is not seen (SIGNALS.md §0 row 9).
  const held = final ?? idle ?? (trace.finalizing ? done : undefined);
  const removed = trace.gone && arrival(trace, trace.gone, 'pod', final ?? done ?? deletion.accepted);
  // A copy, as the schedule knows each mark by its moment, and `held` has a mark of its own.
  return {
    done,
    finalDelete: final,
    finalizers,
    held: finalizers.length > 0 && held ? { ...held } : undefined,
    removed,
  };
}

const isIdle = (deletion: Deletion): boolean => !ranAtDeletion(deletion) || deletion.pod.spec.nodeName === undefined;

function doneAt({ trace, deletion }: DeletionContext, exits: readonly ContainerExit[]): Estimate | undefined {
  if (!trace.terminal || isFinished(deletion.pod)) return undefined;
  const ends = exits.flatMap((exit) => reportedExit(exit) ?? []);
  return ends.reduce(narrowedByCause, arrival(trace, trace.terminal, 'pod', deletion.accepted));
}

/** The kubelet's last DELETE: grace 0 on a finished pod. On a running pod, grace 0 is a forced DELETE (trap 4). */
function finalAt({ trace, network }: DeletionContext, done: Estimate | undefined): Estimate | undefined {
  const final = trace.finalDelete;
  if (!final || !isFinished(final.value) || !done) return undefined;
  const arrived = arrival(trace, final, 'pod', done);
  const stamp = parseFloor(final.value.metadata.deletionTimestamp);
  if (!stamp) return arrived;
  // A timestamp after the arrival proves nothing: the server's clock may have been set.
  const { lo } = network.toClient('api', stamp);
  return lo <= arrived.client.hi ? narrowed(arrived, onClient(atLeast(lo), [final.seq])) : arrived;
}
