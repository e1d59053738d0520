/**
 * What happened early enough to be a cause of a deletion; a second template, and what a Deployment says that it did to its
 * ReplicaSets, which show a rollout or a scale-down (SIGNALS.md §4).
 */
import { millisecondsOf } from '../model/assumptions.ts';
import type { Owner, Pod } from '../model/kube.ts';
import { isMerged, newestMessage } from '../model/observe/event.ts';
import { conditionOf, controllerOf, isFinished } from '../model/pod.ts';
import { parseTime } from '../model/stamps.ts';
import type { Fact, Occurrence, OwnerFacts, SiblingFacts, Trace } from '../model/trace.ts';

/** ms. Streams are not ordered among themselves: what caused a write may arrive this much after it. */
export const deliveryLag = millisecondsOf('delivery-lag');

export const arrivedInTime = <T>(fact: Fact<T> | undefined, trace: Trace, by = deliveryLag): Fact<T> | undefined =>
  fact && trace.deletion && fact.at <= trace.deletion.seenAt + by ? fact : undefined;

/** ms. A controller acts within this time on a change that it receives. */
export const controllerDelay = 10_000;

export const withinCauseWindow = <T>(fact: Fact<T> | undefined, trace: Trace): Fact<T> | undefined =>
  fact && trace.deletion && fact.at >= trace.deletion.seenAt - controllerDelay ? arrivedInTime(fact, trace) : undefined;

/** When the deletion was asked for, by the API server's clock. */
export function requestedAt({ deletion }: Trace): number {
  const { metadata } = deletion?.first.value ?? {};
  return (parseTime(metadata?.deletionTimestamp) ?? 0) - (metadata?.deletionGracePeriodSeconds ?? 0) * 1000;
}

/** Whether a stamp (RFC 3339) lies close to the request. */
function isStampNearRequest(stamp: string | undefined, trace: Trace): boolean {
  const at = parseTime(stamp);
  return at !== undefined && at >= requestedAt(trace) - controllerDelay && at <= requestedAt(trace) + deliveryLag;
}

/** It arrived live around the deletion, or in a list with a stamp that fits. */
export const isAroundDeletion = (event: Pick<Occurrence, 'isOld' | 'time' | 'at'>, trace: Trace): boolean =>
  event.isOld
    ? event.time.hi >= requestedAt(trace) - deliveryLag
    : event.at >= (trace.deletion?.seenAt ?? 0) - controllerDelay &&
      event.at <= (trace.gone?.at ?? Infinity) + deliveryLag;

/** A controller says that it deletes a pod. */
export const isDeleting = (event: Occurrence, trace: Trace): boolean =>
  event.reason === 'SuccessfulDelete' && isAroundDeletion(event, trace);

/** The controller's Event about this pod. One that was there before may be about an older pod of the same name. */
export function deletedBy(trace: Trace): Occurrence | undefined {
  const name = trace.deletion?.first.value.metadata.name;
  return trace.events.find(
    (event) => name !== undefined && event.message.split(/\s+/).includes(name) && isDeleting(event, trace),
  );
}

/** The observations that show another template than the pod's; undefined where none does. */
export function otherTemplate(trace: Trace, pod: Pod, until: number): readonly number[] | undefined {
  const controller = controllerOf(pod);
  if (!controller) return undefined;
  const seqs = [
    ...(controller.kind === 'ReplicaSet' ? scaledUp(trace, controller.name, until) : []),
    ...[...trace.siblings.values()].filter((one) => isOfNewerTemplate(one, pod)).map((one) => one.seen.seq),
    ...revised(trace.owners.get(controller.uid), pod),
  ];
  return seqs.length > 0 ? seqs : undefined;
}

/** What comes up of another template around the deletion of a ReplicaSet's pod. */
interface Coming {
  readonly seqs: readonly number[];
  /** Of those, who was seen to become ready. */
  readonly ready: readonly Fact<true>[];
}

/** Undefined where nothing does: a template that has been there for long, and is not getting ready, deletes no pod. */
export function comingTemplate(trace: Trace, pod: Pod): Coming | undefined {
  const controller = controllerOf(pod);
  const grown = controller && grownBeside(trace, controller.name, (trace.deletion?.seenAt ?? 0) + deliveryLag);
  const events = controller && grown && isRecent(grown, trace) ? [grown.seq, ...shrunk(trace, controller.name)] : [];
  const newer = [...trace.siblings.values()].filter((one) => isOfNewerTemplate(one, pod));
  const ready = newer.flatMap((one) => becameReady(one, trace) ?? []);
  const coming = newer.flatMap((one) => {
    if (isStampNearRequest(one.pod.metadata.creationTimestamp, trace) || wasReadied(one, trace)) return [one.seen.seq];
    return becameReady(one, trace)?.seq ?? [];
  });
  const seqs = [...events, ...coming];
  return seqs.length > 0 ? { seqs, ready } : undefined;
}

/** It became ready while we watched. */
const becameReady = ({ seen, ready }: SiblingFacts, trace: Trace): Fact<true> | undefined =>
  ready && ready.seq !== seen.seq ? withinCauseWindow(ready, trace) : undefined;

/** It was ready when it was first seen, and says since when. */
const wasReadied = ({ pod }: SiblingFacts, trace: Trace): boolean => {
  const condition = conditionOf(pod, 'Ready');
  return condition?.status === 'True' && isStampNearRequest(condition.lastTransitionTime, trace);
};

/** It arrived live around the deletion, or was written then; a repeated Event has the time of its repetition. */
const isRecent = ({ isOld, at, created, time, count }: Occurrence, trace: Trace): boolean =>
  isOld
    ? (count > 1 ? time : (created ?? time)).hi >= requestedAt(trace) - controllerDelay
    : at >= (trace.deletion?.seenAt ?? 0) - controllerDelay;

/** The Deployment grows a ReplicaSet that is not the pod's; that of an earlier rollout was followed by the pod's own. */
function scaledUp(trace: Trace, own: string, until: number): readonly number[] {
  const grown = grownBeside(trace, own, until);
  return grown ? [grown.seq, ...shrunk(trace, own)] : [];
}

function grownBeside(trace: Trace, own: string, until: number): Occurrence | undefined {
  const newest = newestGrown(trace, until);
  return newest && newest.set !== own ? newest.event : undefined;
}

const shrunk = (trace: Trace, own: string): number[] =>
  scalingsOf(trace).flatMap(({ way, set, event }) => (way === 'down' && set === own ? [event.seq] : []));

const revision = (pod: Pod): string | undefined =>
  pod.metadata.labels?.['pod-template-hash'] ?? pod.metadata.labels?.['controller-revision-hash'];

/** A pod of another revision that is younger than ours. */
export function isOfNewerTemplate({ pod }: SiblingFacts, own: Pod): boolean {
  const [theirs, ours] = [revision(pod), revision(own)];
  const created = (one: Pod): number => parseTime(one.metadata.creationTimestamp) ?? NaN;
  return theirs !== undefined && ours !== undefined && theirs !== ours && created(pod) > created(own);
}

/**
 * A StatefulSet says which revision it wants. Of a running pod whose place it keeps it is the only reason to delete
 * it, too: it scales down by the highest places.
 */
function revised(owner: OwnerFacts | undefined, pod: Pod): readonly number[] {
  if (owner?.first.value.kind !== 'StatefulSet') return [];
  const ours = revision(pod);
  const states = [owner.first, owner.last];
  const wants = states.find(({ value: { status } }) => {
    const old = ours ?? status.currentRevision;
    return status.updateRevision !== undefined && old !== undefined && status.updateRevision !== old;
  });
  if (wants) return [wants.seq];
  const keepsPlace = states.every(({ value }) => hasPlace(value, pod) === true);
  return keepsPlace && !isFinished(pod) ? [owner.first.seq] : [];
}

/**
 * Whether a StatefulSet wants the pod of this number: its places begin at spec.ordinals.start. Undefined where it does
 * not say how many it wants, or the name has no number.
 */
export function hasPlace({ spec }: Owner, pod: Pod): boolean | undefined {
  const digits = /-(\d{1,9})$/.exec(pod.metadata.name)?.[1];
  if (digits === undefined || spec.replicas === undefined) return undefined;
  const first = spec.ordinals?.start ?? 0;
  return Number(digits) >= first && Number(digits) < first + spec.replicas;
}

export interface Scaling {
  readonly way: 'up' | 'down';
  /** Name of the ReplicaSet. */
  readonly set: string;
  /** How many pods it had to have before, where that is said, and has to have now. */
  readonly from?: number;
  readonly to: number;
  readonly event: Occurrence;
}

export const scalingsOf = ({ events }: Trace): Scaling[] =>
  events.flatMap((event) => {
    const [, way, set, from, to] = scaled.exec(newestMessage(event)) ?? [];
    if (event.reason !== 'ScalingReplicaSet' || set === undefined) return [];
    const before = from === undefined ? {} : { from: Number(from) };
    return [{ way: way === 'up' ? ('up' as const) : ('down' as const), set, ...before, to: Number(to), event }];
  });

const scaled = /^Scaled (up|down) replica set (\S+) (?:from (\d+) )?to (\d+)$/;

/** The ReplicaSet that was scaled up last; undefined where that is not known. */
function newestGrown(trace: Trace, until: number): Scaling | undefined {
  const known = scalingsOf(trace).filter(({ way, event }) => way === 'up' && event.at <= until);
  const newest = known.sort((a, b) => a.event.time.lo - b.event.time.lo).at(-1);
  return newest && !isHiddenSince(trace, newest) ? newest : undefined;
}

/** A list holds only the newest of those that were merged into one Event: what was scaled up between is lost. */
const isHiddenSince = ({ events }: Trace, newest: Scaling): boolean =>
  events.some(
    (event) =>
      event.reason === 'ScalingReplicaSet' &&
      isMerged(event) &&
      event.isOld &&
      event.id !== newest.event.id &&
      event.time.hi > newest.event.time.lo,
  );

/** The times that an owner came to want fewer pods, around the deletion: the facts that show them, and by how many in all. */
export interface Lowering {
  readonly facts: readonly Pick<Fact<unknown>, 'seq' | 'at'>[];
  readonly by: number;
}

/** By its own state: what it wanted before and after. */
export function loweredNear(owner: OwnerFacts | undefined, trace: Trace): Lowering | undefined {
  const steps = (owner?.wanted ?? []).flatMap((fact, index, all) => {
    const by = (all[index - 1]?.value ?? fact.value) - fact.value;
    return by > 0 && withinCauseWindow(fact, trace) ? [{ fact, by }] : [];
  });
  return inAll(steps);
}

/** By its Deployment's Events about it. */
export function shrunkNear(set: string, trace: Trace): Lowering | undefined {
  const steps = scalingsOf(trace).filter(
    (one) => one.way === 'down' && one.set === set && isAroundDeletion(one.event, trace),
  );
  return inAll(steps.map(({ event, from, to }) => ({ fact: event, by: (from ?? to + 1) - to })));
}

const inAll = (steps: readonly { fact: Lowering['facts'][number]; by: number }[]): Lowering | undefined =>
  steps.length === 0
    ? undefined
    : { facts: steps.map(({ fact }) => fact), by: steps.reduce((sum, { by }) => sum + by, 0) };

/** How many pods an owner wanted at a time (client ms); undefined where that is not known. */
export const wantedAt = ({ wanted }: OwnerFacts, at: number): number | undefined =>
  (wanted.findLast((fact) => fact.at <= at + deliveryLag) ?? wanted[0])?.value;
