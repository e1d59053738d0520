/** Changes of a workload that can cause a deletion (SIGNALS.md §4): another pod template, and scaling. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { Pod } from '../model/kube.ts';
import { controllerOf } from '../model/pod.ts';
import { parseTime, requestedAt } from '../model/stamps.ts';
import type { Fact, Occurrence, OwnerFacts, Seen, SiblingFacts, Trace } from '../model/trace.ts';
import { newestMessage } from './arrival.ts';

/** Streams are not ordered among each other: the cause of a write can arrive this much later than the write (ms). */
export const deliveryLag = millisecondsOf('delivery-lag');

export const arrivedInTime = <F extends Seen>(fact: F | undefined, trace: Trace, delay = deliveryLag): F | undefined =>
  fact && trace.deletion && fact.at <= trace.deletion.seenAt + delay ? fact : undefined;

/** A controller reacts to a change within this time (ms). */
export const controllerReactionMs = 10_000;

export const withinCauseWindow = <T>(fact: Fact<T> | undefined, trace: Trace): Fact<T> | undefined =>
  fact && trace.deletion && fact.at >= trace.deletion.seenAt - controllerReactionMs
    ? arrivedInTime(fact, trace)
    : undefined;

/** When the deletion was requested, by the API server's clock (ms). */
export const deletionRequestedAt = ({ deletion }: Trace): number =>
  (deletion && requestedAt(deletion.first.value)) ?? 0;

/** Whether an Event arrived live around the deletion, or in a list with a matching timestamp. */
export const isAroundDeletion = (event: Pick<Occurrence, 'isOld' | 'time' | 'at'>, trace: Trace): boolean =>
  event.isOld
    ? event.time.hi >= deletionRequestedAt(trace) - deliveryLag
    : event.at >= (trace.deletion?.seenAt ?? 0) - controllerReactionMs &&
      event.at <= (trace.gone?.at ?? Infinity) + deliveryLag;

/** Whether a controller reports, around the deletion, that it deleted a pod. */
export const isPodDeletion = (event: Occurrence, trace: Trace): boolean =>
  event.reason === 'SuccessfulDelete' && isAroundDeletion(event, trace);

/** The controller's Event that it deleted this pod. An older Event may be about an earlier pod of the same name. */
export function deletedBy(trace: Trace): Occurrence | undefined {
  const name = trace.deletion?.first.value.metadata.name;
  return trace.events.find(
    (event) => name !== undefined && event.message.split(/\s+/).includes(name) && isPodDeletion(event, trace),
  );
}

/** The observations that show another template than the pod's, if any. Of a Deployment's pod: `rolloutEvidence`. */
export function otherTemplate(trace: Trace, pod: Pod): readonly number[] | undefined {
  const controller = controllerOf(pod);
  if (!controller) return undefined;
  const seqs = [
    ...[...trace.siblings.values()].filter((one) => isOfNewerTemplate(one, pod)).map(({ seen }) => seen.seq),
    ...revised(trace.owners.get(controller.uid), pod),
  ];
  return seqs.length > 0 ? seqs : undefined;
}

/** The observations of pods of a newer template that start around the deletion. Undefined if there are none. */
export function rolloutEvidence(trace: Trace, pod: Pod): readonly number[] | undefined {
  const controller = controllerOf(pod);
  const events = controller ? scaledBeside(trace, controller.name) : [];
  const newer = [...trace.siblings.values()].filter((sibling) => isOfNewerTemplate(sibling, pod));
  const started = newer.flatMap((sibling) => {
    const after = (parseTime(sibling.pod.metadata.creationTimestamp) ?? NaN) - deletionRequestedAt(trace);
    const isNew = after >= -controllerReactionMs && after <= deliveryLag;
    return isNew ? sibling.seen.seq : (becameReady(sibling, trace)?.seq ?? []);
  });
  const seqs = [...events, ...started];
  return seqs.length > 0 ? seqs : undefined;
}

const becameReady = ({ seen, ready }: SiblingFacts, trace: Trace): Fact<true> | undefined =>
  ready && ready.seq !== seen.seq ? withinCauseWindow(ready, trace) : undefined;

/** Whether an Event arrived live, or was last written, around the deletion or later. */
const isRecent = ({ isOld, at, time }: Occurrence, trace: Trace): boolean =>
  isOld
    ? time.hi >= deletionRequestedAt(trace) - controllerReactionMs
    : at >= (trace.deletion?.seenAt ?? 0) - controllerReactionMs;

/** The Event of the last scale-up, if it is of another ReplicaSet and around the deletion, and those scaling down the pod's own. */
function scaledBeside(trace: Trace, ownSet: string): number[] {
  const scalings = scalingsOf(trace);
  const grown = scalings.filter(({ way, event }) => way === 'up' && arrivedInTime(event, trace));
  const newest = grown.sort((a, b) => a.event.time.lo - b.event.time.lo).at(-1);
  if (!newest || newest.set === ownSet || !isRecent(newest.event, trace)) return [];
  const shrunk = scalings.filter(({ way, set }) => way === 'down' && set === ownSet);
  return [newest, ...shrunk].map(({ event }) => event.seq);
}

const revision = (pod: Pod): string | undefined =>
  pod.metadata.labels?.['pod-template-hash'] ?? pod.metadata.labels?.['controller-revision-hash'];

/** Whether a pod has another revision than ours and was created later. */
export function isOfNewerTemplate({ pod }: SiblingFacts, own: Pod): boolean {
  const [theirs, ours] = [revision(pod), revision(own)];
  const created = ({ metadata }: Pod): number => parseTime(metadata.creationTimestamp) ?? NaN;
  return theirs !== undefined && ours !== undefined && theirs !== ours && created(pod) > created(own);
}

function revised(owner: OwnerFacts | undefined, pod: Pod): readonly number[] {
  if (owner?.first.value.kind !== 'StatefulSet') return [];
  const ours = revision(pod);
  const states = [owner.first, owner.last];
  const changed = states.find(({ value: { status } }) => {
    const old = ours ?? status.currentRevision;
    return status.updateRevision !== undefined && old !== undefined && status.updateRevision !== old;
  });
  return changed ? [changed.seq] : [];
}

/** `way`: up or down. `by`: 1 if the Event does not have the number of pods before. */
const scalingsOf = ({ events }: Trace) =>
  events.flatMap((event) => {
    const [, way, set, from, to] = scaled.exec(newestMessage(event)) ?? [];
    if (event.reason !== 'ScalingReplicaSet' || set === undefined) return [];
    return [{ way, set, by: from === undefined ? 1 : Number(from) - Number(to), event }];
  });

const scaled = /^Scaled (up|down) replica set (\S+) (?:from (\d+) )?to (\d+)$/;

/** Reductions of an owner's replicas around the deletion. */
export interface Lowering {
  readonly facts: readonly Seen[];
  readonly by: number;
}

/** By the owner's own states: the replicas that it wanted before and after. */
export function loweredNear(owner: OwnerFacts | undefined, trace: Trace): Lowering | undefined {
  const steps = (owner?.wanted ?? []).flatMap((fact, index, all) => {
    const by = (all[index - 1]?.value ?? fact.value) - fact.value;
    return by > 0 && withinCauseWindow(fact, trace) ? [{ fact, by }] : [];
  });
  return inTotal(steps);
}

/** By the Deployment's Events about its ReplicaSet. */
export function shrunkNear(set: string, trace: Trace): Lowering | undefined {
  const steps = scalingsOf(trace).filter(
    (scaling) => scaling.way === 'down' && scaling.set === set && isAroundDeletion(scaling.event, trace),
  );
  return inTotal(steps.map(({ event, by }) => ({ fact: event, by })));
}

const inTotal = (steps: readonly { fact: Seen; by: number }[]): Lowering | undefined =>
  steps.length === 0
    ? undefined
    : { facts: steps.map(({ fact }) => fact), by: steps.reduce((sum, { by }) => sum + by, 0) };

/** How many pods an owner wanted at a time (client ms), if that is known. */
export const wantedAt = ({ wanted }: OwnerFacts, at: number): number | undefined =>
  (wanted.findLast((fact) => fact.at <= at + deliveryLag) ?? wanted[0])?.value;
