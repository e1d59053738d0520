/** Findings about what came after the containers, and about force. */
import { heardSince } from '../../infer/arrival.ts';
import { mayBeItsKubelets, wasStoppedAsStatic } from '../../infer/container-outcome.ts';
import type { Estimate } from '../../infer/estimate.ts';
import { between } from '../../infer/estimate.ts';
import { controllerOf, isFinished, isMirror } from '../../model/pod.ts';
import type { Finding } from '../../model/report.ts';
import { second } from '../../model/span.ts';
import type { Scene } from '../scene.ts';
import { isWhole, ranOf } from '../scene.ts';
import { exactSeconds, list, outward } from '../words.ts';

export const removalFindings = (scene: Scene): Finding[] => [
  ...finalizerHeld(scene),
  ...slowCleanup(scene),
  ...forceDeleted(scene),
  ...unmanaged(scene),
];

function finalizerHeld(scene: Scene): Finding[] {
  const { trace, exit } = scene;
  const { finalizers, finalDelete, done, held: since, removed } = exit.removal;
  const pod = exit.deletion.facts.first.value;
  if (!since || !trace.finalizing) return [];
  // Both were seen to arrive on the same stream, so the difference of arrivals is the honest figure.
  const ended = done ? trace.terminal?.at : undefined;
  const began = ended === undefined ? exit.deletion.accepted.client.hi : Infinity;
  const from = Math.max(ended ?? -Infinity, Math.min(trace.finalizing.at, began));
  const until = trace.gone ? heardSince(trace, 'pod', trace.gone.at) : trace.now;
  const held = until - from;
  if (held < second) return [];
  // What a first look, or a list after a gap, found at one end may have been so for longer.
  const isSeen = sawAt(scene, from) && until === trace.gone?.at;
  return [
    {
      code: 'finalizer-held',
      severity: 'warning',
      message: `finalizers held the ${finalDelete || done || isFinished(pod) ? 'finished' : 'unscheduled'} pod ${isSeen ? 'about' : 'for at least'} ${exactSeconds(held)}${trace.gone ? '' : ' and still do'}: ${list(finalizers)}${isSeen ? possibleWords(since, removed) : ''}`,
      advice: `Whatever owns ${list(finalizers)} has to remove it; look at that controller's logs.`,
      evidence: [trace.finalizing.seq, ...(trace.gone ? [trace.gone.seq] : [])],
    },
  ];
}

/** The interval of its phase, where that says less than two arrivals seem to: news of either end may have been late. */
function possibleWords(held: Estimate, removed: Estimate | undefined): string {
  const { lo, hi } = removed ? between(held, removed) : { lo: 0, hi: 0 };
  if (hi - lo <= second) return '';
  return ` (${outward(lo / second, 1, Math.floor)}–${outward(hi / second, 1, Math.ceil)} s where news of it came late)`;
}

/** What the pod's stream brought then (client ms) it brought as it happened. */
const sawAt = ({ trace, exit: { deletion } }: Scene, at: number): boolean =>
  heardSince(trace, 'pod', at) === at && !(deletion.facts.underWay && at <= deletion.facts.seenAt + 1);

function slowCleanup({ trace, exit }: Scene): Finding[] {
  const { done, finalDelete } = exit.removal;
  // Without a last DELETE of its own, what held a pod with finalizers is not known to be the clean-up.
  if (!done || !trace.terminal || (!finalDelete && trace.finalizing)) return [];
  const end = trace.finalDelete ?? trace.gone;
  const took = (end ? heardSince(trace, 'pod', end.at) : trace.now) - trace.terminal.at;
  if (took <= 5 * second) return [];
  // SIGNALS.md §2 S10, S12: the status that ends the containers is written once their sandbox is stopped.
  const sandbox =
    trace.sandboxStopped && trace.sandboxStopped.at <= trace.terminal.at ? trace.sandboxStopped : undefined;
  return [
    {
      code: 'slow-cleanup',
      severity: 'warning',
      message: `clean-up after the last container took ${finalDelete ? '' : 'at least '}${exactSeconds(took)}${finalDelete ? '' : ' and is not done'}`,
      advice: `${sandbox ? 'The sandbox with its network was gone by then (PodReadyToStartContainers), so it waited for volumes to unmount, the cgroup' : 'The API does not say what it waited for: the sandbox, volumes to unmount, the cgroup'}, or a webhook that refuses the last DELETE. The kubelet log tells which.`,
      evidence: [
        trace.terminal.seq,
        ...(sandbox ? [sandbox.seq] : []),
        ...(trace.finalDelete ? [trace.finalDelete.seq] : []),
      ],
    },
  ];
}

function forceDeleted(scene: Scene): Finding[] {
  const { trace, exit } = scene;
  if (exit.removal.removed && mayBeItsKubelets({ trace, deletion: exit.deletion }))
    return exit.containers.some(({ spec }) => wasStoppedAsStatic({ trace, deletion: exit.deletion }, spec))
      ? []
      : [copyRemoved(exit.removal.removed.evidence)];
  const left = ranOf(scene).filter((one) => one.outcome === 'abandoned');
  if (left.length === 0 || !exit.removal.removed) return [];
  const removed = exit.removal.removed;
  const evidence = [...new Set([...removed.evidence, ...left.flatMap((one) => one.exit?.at.evidence ?? [])])];
  if (isMirror(exit.deletion.facts.first.value)) return [copyDeleted(evidence)];
  const ran = left.flatMap(({ spec, exit: end, facts }) => {
    if (!end || !facts.log.ended) return [];
    const on = facts.log.ended.at + 1 - removed.client.hi;
    // What ended before the removal says nothing of the time after it.
    if (on < 0) return [];
    return [`${spec.name} ran on for about ${Math.max(1, Math.round(on / second))} s (its log ended then)`];
  });
  const told = ran.length > 0 ? list(ran) : `nothing tells how long ${list(left.map((one) => one.spec.name))} ran on`;
  return [
    {
      code: 'force-deleted',
      severity: 'warning',
      message: `the object was removed while its containers still ran: ${told}`,
      advice:
        'Use force only where the node is gone for good: a successor of the same name or volume may run beside the old one.',
      evidence,
    },
  ];
}

/** The kubelet runs a static pod from a file on its node, and makes a new copy of it in the API (SIGNALS.md trap 30). */
const copyDeleted = (evidence: number[]): Finding => ({
  code: 'force-deleted',
  severity: 'warning',
  message: 'only the copy of a static pod was removed from the API: its containers were not stopped and run on',
  advice: 'The kubelet makes a new copy. To stop a static pod, take its manifest away from the node.',
  evidence,
});

/** The kubelet itself removes the copy like this, once it has stopped the containers (infer/container-outcome.ts). */
const copyRemoved = (evidence: readonly number[]): Finding => ({
  code: 'force-deleted',
  severity: 'info',
  message:
    'the copy of a static pod was removed at once: its kubelet does that where the manifest is gone and the containers have been stopped, but a forced deletion, which stops nothing, looks the same',
  advice: 'Where a new copy comes the containers run on. The kubelet log of its node tells.',
  evidence: [...evidence],
});

function unmanaged(scene: Scene): Finding[] {
  const { exit } = scene;
  const pod = exit.deletion.facts.first.value;
  if (controllerOf(pod) || isMirror(pod) || isWhole(scene)) return [];
  return [
    {
      code: 'unmanaged-pod',
      severity: 'info',
      message: 'no controller owns this pod: nothing will replace it',
      evidence: [exit.deletion.facts.seenSeq],
    },
  ];
}
