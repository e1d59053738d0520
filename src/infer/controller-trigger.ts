/** Whether the pod's controller deleted it, and why: for another template, or for a lower number (SIGNALS.md §4). */
import type { Pod } from '../model/kube.ts';
import type { StreamName } from '../model/observation.ts';
import { controllerOf } from '../model/pod.ts';
import type { Fact, Occurrence, OwnerFacts, Trace } from '../model/trace.ts';
import { isAroundDeletion, deliveryLag } from './cause-window.ts';
import type { Lowering, Scaling } from './scaling.ts';
import { loweredNear, scalingsOf, shrunkNear, wantedAt } from './scaling.ts';
import { comingTemplate, hasPlace, otherTemplate } from './template.ts';
import type { Rule, Trigger } from './trigger-rule.ts';

/**
 * The controller deleted the pod, as its Event says, or as it came to want fewer pods than it has named in Events: of a burst
 * it names the first 25 at most (SIGNALS.md §2.1). For another template, or for a lower number; where neither shows, it is
 * not known.
 */
export const byController: Rule = (trace, { facts }) => {
  const pod = facts.first.value;
  const named = deletedBy(trace);
  const controller = controllerOf(pod);
  const owner = controller && trace.owners.get(controller.uid);
  if (!controller) return undefined;
  const lowered = loweredNear(owner, trace);
  const unnamed = named ? undefined : unnamedOf(trace, controller, lowered);
  const isMissing = lowered !== undefined && eventMayBeMissing(trace, controller.name);
  if (!named && !unnamed && !isMissing) return undefined;
  const shown = [...(named ? [named] : []), ...(unnamed?.facts ?? lowered?.facts ?? [])];
  const evidence = [facts.seenSeq, ...new Set(shown.map(({ seq }) => seq))];
  const scaled = owner && scaledDown(trace, pod, owner, named);
  if (controller.kind === 'ReplicaSet') return bySet(trace, pod, { above: aboveOf(trace, owner), scaled, evidence });
  const isPlaced = controller.kind === 'StatefulSet' || controller.kind === 'DaemonSet';
  const template = scaled && isPlaced ? undefined : otherTemplate(trace, pod, facts.seenAt + deliveryLag);
  if (template) return { kind: 'rollout', evidence: [...evidence, ...template] };
  return scaled ? { kind: 'scale-down', evidence: [...evidence, scaled.seq] } : undefined;
};

/**
 * The controller deletes as many pods as it came to want fewer. Where it has named fewer than that, this one may be of the
 * others; where it has named as many, somebody else deleted this one.
 */
function unnamedOf(
  trace: Trace,
  controller: { kind: string; name: string },
  lowered: Lowering | undefined,
): Lowering | undefined {
  const events = controller.kind === 'ReplicaSet' ? shrunkNear(controller.name, trace) : undefined;
  const most = [lowered, events].flatMap((one) => one ?? []).sort((a, b) => b.by - a.by)[0];
  if (!most || most.by < leastBurst) return undefined;
  return namedBy(trace, controller.name) < most.by ? most : undefined;
}

/** Of fewer pods than these, all are named: what the Events do not name, the controller did not delete. */
const leastBurst = 2;

/** How many pods the controller's Events around the deletion name. */
const namedBy = (trace: Trace, owner: string): number =>
  new Set(
    trace.events
      .filter(
        (event) => event.reason === 'SuccessfulDelete' && event.about.name === owner && isAroundDeletion(event, trace),
      )
      .map(({ message }) => message),
  ).size;

interface SetFacts {
  /** The Deployment, where it is known. */
  readonly above: OwnerFacts | undefined;
  readonly scaled: Scaled | undefined;
  readonly evidence: readonly number[];
}

type Scaled = Pick<Fact<unknown>, 'seq' | 'at'>;

/**
 * A rollout may be stuck for hours: its template is there, and deletes nothing. Only what comes up around the deletion
 * shows that it went on. Where that and a lower number fit both, what came last before the deletion caused it, if
 * it was seen to; else it is not known.
 */
function bySet(trace: Trace, pod: Pod, { above, scaled, evidence }: SetFacts): Trigger | undefined {
  const coming = comingTemplate(trace, pod);
  if (!scaled) {
    const seqs = coming?.seqs ?? (above && otherTemplate(trace, pod, (trace.deletion?.seenAt ?? 0) + deliveryLag));
    return seqs && { kind: 'rollout', evidence: [...evidence, ...seqs] };
  }
  if (!coming) return { kind: 'scale-down', evidence: [...evidence, scaled.seq] };
  const seenAt = trace.deletion?.seenAt ?? -Infinity;
  const last = coming.ready.find(({ at }) => at >= scaled.at && at <= seenAt);
  if (last) return { kind: 'rollout', evidence: [...evidence, ...coming.seqs, last.seq] };
  return { kind: 'unknown', evidence: [...evidence, scaled.seq, ...coming.seqs] };
}

function aboveOf(trace: Trace, owner: OwnerFacts | undefined): OwnerFacts | undefined {
  const [above] = owner?.last.value.metadata.ownerReferences ?? [];
  return above && trace.owners.get(above.uid);
}

/** What the user set went down: a Deployment's replicas, or those of a controller that nothing owns. */
function scaledDown(trace: Trace, pod: Pod, owner: OwnerFacts, named: Occurrence | undefined): Scaled | undefined {
  const { kind, metadata } = owner.last.value;
  const [above] = metadata.ownerReferences ?? [];
  if (kind === 'ReplicaSet' && above) {
    const deployment = trace.owners.get(above.uid);
    return lastOf(loweredNear(deployment, trace)) ?? (deployment && scaledToAll(trace, metadata.name, deployment));
  }
  const outOfPlace = kind === 'StatefulSet' && hasPlace(owner.last.value, pod) === false;
  // A ReplicaSet of its own deletes a pod only where it has too many.
  return lastOf(loweredNear(owner, trace)) ?? (outOfPlace || kind === 'ReplicaSet' ? named : undefined);
}

const lastOf = (lowering: Lowering | undefined): Scaled | undefined => lowering?.facts.at(-1);

/** The pod's ReplicaSet was scaled down to all that the Deployment wanted then: no other one takes a share. */
function scaledToAll(trace: Trace, set: string, deployment: OwnerFacts): Occurrence | undefined {
  const isIt = (one: Scaling): boolean =>
    one.way === 'down' &&
    one.set === set &&
    one.to === wantedAt(deployment, one.event.at) &&
    isAroundDeletion(one.event, trace);
  return scalingsOf(trace).find(isIt)?.event;
}

/** The controller's Event about this pod. One that was there before may be about an older pod of the same name. */
export function deletedBy(trace: Trace): Occurrence | undefined {
  const name = trace.deletion?.first.value.metadata.name;
  return trace.events.find(
    (event) =>
      event.reason === 'SuccessfulDelete' &&
      name !== undefined &&
      event.message.split(/\s+/).includes(name) &&
      isAroundDeletion(event, trace),
  );
}

/** Events of the controller may be missing (SIGNALS.md trap 32), and it is not known to have chosen another pod. */
function eventMayBeMissing(trace: Trace, owner: string): boolean {
  const isOwners = ({ value }: Fact<{ stream: StreamName; to?: number }>): boolean =>
    value.stream === 'owner-events' && value.to === undefined;
  const isMissing = trace.namespaceEnding !== undefined || [...trace.refused, ...trace.gaps].some(isOwners);
  const chose = (event: Occurrence): boolean =>
    event.reason === 'SuccessfulDelete' && event.about.name === owner && isAroundDeletion(event, trace);
  return isMissing && !trace.events.some(chose);
}
