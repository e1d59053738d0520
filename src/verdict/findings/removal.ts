/** Findings about the deletion itself: who asked for it, force, and what came after the containers. */
import { deliverableSince } from '../../infer/arrival.ts';
import { mayBeItsKubelets, wasStoppedAsStatic } from '../../infer/container-outcome.ts';
import { controllerOf, isMirror } from '../../model/pod.ts';
import type { FindingDraft } from '../finding.ts';
import { secondsText } from '../length-text.ts';
import { second } from '../../model/span.ts';
import { isWholeDeletion, ranExitsOf, type RuleInput } from '../rule-input.ts';
import { list, plural } from '../words.ts';

export const removalFindings = (input: RuleInput): FindingDraft[] => [
  ...finalizerHeld(input),
  ...slowCleanup(input),
  ...forceDeleted(input),
  ...unmanaged(input),
  ...deletedBefore(input),
];

function finalizerHeld(input: RuleInput): FindingDraft[] {
  const { trace, exit } = input;
  const { finalizers, done, held: since } = exit.removal;
  if (!since || !trace.finalizing) return [];
  // Both were seen to arrive on the same stream, so the difference of arrivals is the honest figure.
  const ended = done ? trace.terminal?.at : undefined;
  const began = ended === undefined ? exit.deletion.accepted.client.hi : Infinity;
  const from = Math.max(ended ?? -Infinity, Math.min(trace.finalizing.at, began));
  const until = trace.gone ? deliverableSince(trace, 'pod', trace.gone.at) : trace.now;
  const held = until - from;
  if (held < second) return [];
  // What a first look, or a list after a gap, found at one end may have been so for longer.
  const isSeen = sawAt(input, from) && until === trace.gone?.at;
  const length = `${isSeen ? '' : 'at least '}${secondsText(held)}`;
  const names = `${plural(finalizers.length, 'finalizer').replace(/^\d+ /, '')} ${list(finalizers)}`;
  const clause = trace.gone ? `${names} held the pod for ${length}` : `${names} has held the pod for ${length}`;
  return [
    {
      code: 'finalizer-held',
      severity: 'warning',
      message: `${clause}${exit.removal.finalDelete || done ? ' after its containers had ended' : ''}${trace.gone ? '' : ' and still does'}`,
      clause,
      advice: `The controller that sets ${list(finalizers)} has to remove it; look at its logs.`,
      cost: held,
      evidence: [trace.finalizing.seq, ...(trace.gone ? [trace.gone.seq] : [])],
    },
  ];
}

/** What the pod's stream brought then (client ms) it brought as it happened. */
const sawAt = ({ trace, exit: { deletion } }: RuleInput, at: number): boolean =>
  deliverableSince(trace, 'pod', at) === at && !(deletion.facts.underWay && at <= deletion.facts.seenAt + 1);

function slowCleanup({ trace, exit }: RuleInput): FindingDraft[] {
  const { done, finalDelete } = exit.removal;
  // Without a last DELETE of its own, what held a pod with finalizers is not known to be the clean-up.
  if (!done || !trace.terminal || (!finalDelete && trace.finalizing)) return [];
  const end = trace.finalDelete ?? trace.gone;
  const took = (end ? deliverableSince(trace, 'pod', end.at) : trace.now) - trace.terminal.at;
  if (took <= 5 * second) return [];
  // SIGNALS.md §2 S10, S12: the status that ends the containers is written once their sandbox is stopped.
  const sandbox =
    trace.sandboxStopped && trace.sandboxStopped.at <= trace.terminal.at ? trace.sandboxStopped : undefined;
  return [
    {
      code: 'slow-cleanup',
      severity: 'warning',
      message: `cleanup took ${finalDelete ? '' : 'at least '}${secondsText(took)} after the last container had ended${finalDelete ? '' : ', and is not done'}`,
      clause: `cleanup took ${finalDelete ? '' : 'at least '}${secondsText(took)}`,
      why: sandbox
        ? 'the pod sandbox was gone by then: it waited for volumes, the cgroup or a webhook'
        : 'the API does not say what it waited for: sandbox, volumes, cgroup or a webhook',
      advice: `${sandbox ? 'The sandbox was gone by then, so it' : 'It'} waited for ${sandbox ? '' : 'the sandbox, '}volumes to unmount, the cgroup, or a webhook that refuses the last DELETE: the kubelet log of the node says which.`,
      cost: took,
      evidence: [
        trace.terminal.seq,
        ...(sandbox ? [sandbox.seq] : []),
        ...(trace.finalDelete ? [trace.finalDelete.seq] : []),
      ],
    },
  ];
}

function forceDeleted(input: RuleInput): FindingDraft[] {
  const { trace, exit } = input;
  if (exit.removal.removed && mayBeItsKubelets({ trace, deletion: exit.deletion }))
    return exit.containers.some(({ spec }) => wasStoppedAsStatic({ trace, deletion: exit.deletion }, spec))
      ? []
      : [copyRemoved(exit.removal.removed.evidence)];
  const left = ranExitsOf(input).filter((one) => one.outcome === 'abandoned');
  if (left.length === 0 || !exit.removal.removed) return [];
  const removed = exit.removal.removed;
  const evidence = [...new Set([...removed.evidence, ...left.flatMap((one) => one.exit?.at.evidence ?? [])])];
  if (isMirror(exit.deletion.facts.first.value)) return [copyDeleted(evidence)];
  const ran = left.flatMap(({ spec, exit: end, facts }) => {
    if (!end || !facts.log.ended) return [];
    const on = facts.log.ended.at + 1 - removed.client.hi;
    // What ended before the removal says nothing of the time after it.
    return on < 0 ? [] : [`${spec.name} ran on for about ${Math.max(1, Math.round(on / second))}s more`];
  });
  const names = list(left.map(({ spec }) => spec.name));
  const clause = `the pod was removed while ${names} still ran`;
  return [
    {
      code: 'force-deleted',
      severity: 'warning',
      message: `${clause}: ${ran.length > 0 ? `${list(ran)}, until its log ended` : 'how long it ran on was not observable'}`,
      clause,
      why: ran.length > 0 ? `${list(ran)}, until its log ended` : undefined,
      advice:
        'Use --force only where the node is gone for good: a successor of the same name or volume may run beside the old pod.',
      evidence,
    },
  ];
}

/** The kubelet runs a static pod from a file on its node, and makes a new copy of it in the API (SIGNALS.md trap 30). */
const copyDeleted = (evidence: number[]): FindingDraft => ({
  code: 'force-deleted',
  severity: 'warning',
  message: 'only the API copy of a static pod was deleted: its containers run on',
  clause: 'only the API copy of a static pod was deleted',
  advice: 'The kubelet makes a new copy. To stop a static pod, remove its manifest from the node.',
  evidence,
});

/** The kubelet itself removes the copy like this, once it has stopped the containers (infer/container-outcome.ts). */
const copyRemoved = (evidence: readonly number[]): FindingDraft => ({
  code: 'force-deleted',
  severity: 'info',
  message:
    'the API copy of a static pod was deleted at once: by its kubelet after the manifest was removed, or by force, which stops nothing',
  advice: 'Where a new copy appears, the containers run on. The kubelet log of the node says which it was.',
  evidence: [...evidence],
});

function unmanaged(input: RuleInput): FindingDraft[] {
  const { exit } = input;
  const pod = exit.deletion.facts.first.value;
  if (controllerOf(pod) || isMirror(pod) || isWholeDeletion(input)) return [];
  return [
    {
      code: 'unmanaged-pod',
      severity: 'info',
      message: 'no controller owns this pod: nothing replaces it',
      clause: 'nothing replaces this pod',
      advice: 'Let a Deployment, StatefulSet, DaemonSet or Job own it.',
      evidence: [exit.deletion.facts.seenSeq],
    },
  ];
}

/** A DELETE of a pod that is terminating is answered like any other (SIGNALS.md §1 "Repeat delete"). */
function deletedBefore({ exit }: RuleInput): FindingDraft[] {
  const { deletedByOther, facts, grace } = exit.deletion;
  if (!deletedByOther?.answer) return [];
  const { verb, graceSeconds } = deletedByOther;
  const asked = graceSeconds === null || graceSeconds === grace ? '' : ` instead of the ${graceSeconds}s asked for`;
  return [
    {
      code: 'deleted-before',
      severity: 'warning',
      message: `another client had deleted the pod before this command's ${verb === 'evict' ? 'eviction' : 'DELETE'}: its grace period was ${grace}s${asked}`,
      clause: 'another client had deleted the pod before',
      advice:
        'Find out who else deletes these pods: a controller, a drain, an autoscaler. A second request rarely shortens a kill in progress.',
      evidence: [deletedByOther.sent.seq, deletedByOther.answer.seq, facts.seenSeq],
    },
  ];
}
