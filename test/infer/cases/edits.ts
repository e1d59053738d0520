/** The changes that cases make. Times are ms from the arrival of the first state with deletionTimestamp. */
import type { RawObservation, StreamName } from '../../../src/model/observation.ts';
import {
  adding,
  attached,
  changed,
  changesOf,
  comingAt,
  editing,
  eventOf,
  listed,
  markedIn,
  ownedBy,
  ownerOf,
  stampOf,
  without,
} from '../../helpers/cases.ts';
import type { Change, Raw } from '../../helpers/cases.ts';
import { merged } from '../../helpers/object-changes.ts';
import { withoutLogs } from '../../helpers/views.ts';
import type { Edit } from './case.ts';

type Status = Record<string, unknown> & { state: Record<string, unknown> };

export const statusesIn = (pod: Raw): Status[] => (pod.status['containerStatuses'] ?? []) as Status[];

/** The pod as it was listed before the deletion. */
export function podBefore(rawObservations: readonly RawObservation[]): Raw {
  const { uid } = markedIn(rawObservations).object.metadata;
  const pods = rawObservations.flatMap((one) =>
    one.kind === 'listed' && one.stream === 'pod' ? one.objects : [],
  ) as Raw[];
  const found = pods.find((pod) => pod.metadata.uid === uid);
  if (!found) throw new Error('the pod was not listed');
  return structuredClone(found);
}

/** Owners as they were listed. */
export const ownersIn = (rawObservations: readonly RawObservation[]): Raw[] =>
  rawObservations.flatMap((one) => (one.kind === 'listed' && one.stream === 'owner' ? (one.objects as Raw[]) : []));

/** The Event at another time. */
export function retimed(event: Raw, at: number): Raw {
  const name = `${event.metadata.name.split('.')[0]}.${(BigInt(at) * 1_000_000n).toString(16)}`;
  const stamp = stampOf(at);
  return {
    ...event,
    metadata: { ...event.metadata, name, creationTimestamp: stamp },
    firstTimestamp: stamp,
    lastTimestamp: stamp,
  };
}

/** Changes every terminated state in the statuses of the pod. */
export function endingAs(
  rawObservations: readonly RawObservation[],
  change: Record<string, unknown>,
): RawObservation[] {
  const { uid } = markedIn(rawObservations).object.metadata;
  return editing(rawObservations, 'pod', (pod) => {
    if (pod.metadata.uid !== uid) return pod;
    for (const { state } of statusesIn(pod)) if (state['terminated']) Object.assign(state['terminated'], change);
    return pod;
  });
}

/** Another client deletes the pod; this run is attached. */
export const attach: Edit = (all) => attached(all);

export const withoutStreams =
  (...streams: StreamName[]): Edit =>
  (all) =>
    without(all, ...streams);

/** `change` changes every object of the stream, or leaves it out (undefined). */
export const each =
  (stream: StreamName, change: (object: Raw, rawObservation: RawObservation) => Raw | undefined): Edit =>
  (all) =>
    editing(all, stream, change);

/** These fields are merged into every object of the stream. */
export const merging = (stream: StreamName, fields: object): Edit => each(stream, (one) => merged(one, fields) as Raw);

/** The same, for objects that are being deleted. */
export const eachDeleted = (change: (pod: Raw) => Raw): Edit =>
  each('pod', (pod) => (pod.metadata['deletionTimestamp'] === undefined ? pod : change(pod)));

/** No log arrives. */
export const noLogs: Edit = withoutLogs;

/** Events of these reasons are lost. */
export const withoutReasons = (...reasons: string[]): Edit =>
  each('events', (event) => (reasons.includes(String(event['reason'])) ? undefined : event));

/** No Event of the deletion arrives. */
export const noEvents: Edit = each('events', () => undefined);

/** As before Kubernetes 1.35, no status acknowledges the deletion. */
export const unacknowledged: Edit = each('pod', ({ status: { observedGeneration: _, ...status }, ...pod }) => ({
  ...pod,
  status,
}));

/** Every reported exit of a container has these fields. */
export const ending =
  (fields: Record<string, unknown>): Edit =>
  (all) =>
    endingAs(all, fields);

/** Every reported exit of a container is dated this long after the deletion, and has these fields. */
export const endingAt =
  (ms: number, fields: Record<string, unknown> = {}): Edit =>
  (all) =>
    endingAs(all, { ...fields, finishedAt: stampOf(deletionIn(all).at + ms) });

/** Everything arrives at the time that `when` returns. */
export const arriving =
  (when: (one: RawObservation, deletion: Deletion) => number): Edit =>
  (all) => {
    const deletion = deletionIn(all);
    return adding(all.map((one) => ({ ...one, at: when(one, deletion) })));
  };

/** Only these observations arrive. */
export const only =
  (keeps: (one: RawObservation, deletion: Deletion) => boolean): Edit =>
  (all) => {
    const deletion = deletionIn(all);
    return all.filter((one) => keeps(one, deletion));
  };

/** Nothing arrives from this long after the deletion on. */
export const cutAt = (ms: number): Edit => only((one, { at }) => one.at < at + ms);

/** No observation of these kinds arrives. */
export const withoutKinds =
  (...kinds: string[]): Edit =>
  (all) =>
    all.filter(({ kind }) => !kinds.includes(kind));

/** These observations arrive too. */
export const also =
  (...more: ((deletion: Deletion) => RawObservation)[]): Edit =>
  (all) => {
    const deletion = deletionIn(all);
    return adding(all, ...more.map((make) => make(deletion)));
  };

/** Every line of the log has this text. */
export const logging =
  (text: string): Edit =>
  (all) =>
    all.map((one) => (one.kind === 'line' ? { ...one, text } : one));

/** Our request was sent so long before the run began, which waited for an answer. */
export const askedBefore =
  (ms: number): Edit =>
  (all) =>
    all.map((one) => (one.kind === 'began' ? { ...one, askedAt: one.at - ms } : one));

/** A stream breaks off at this time, and comes back at another one or not at all. */
export const gap = (stream: StreamName, from: number, to?: number): Edit =>
  also(({ at }) => ({
    ...{ at: at + from, kind: 'gap', stream, from: at + from, cause: 'disconnected' },
    ...(to !== undefined && { to: at + to }),
  }));

/** The run reaches its limit. */
export const timesOutAt = (ms: number): Edit => also(({ at }) => ({ at: at + ms, kind: 'timer', name: 'timeout' }));

/** The run starts this long after the deletion. Its first lists hold what exists by then. */
export const startingAfter =
  (ms: number): Edit =>
  (all) =>
    comingAt(deletionIn(all).at + ms, all);

/** The run starts this long before the pod is removed. */
export const startingBeforeRemoval =
  (ms: number): Edit =>
  (all) =>
    comingAt(deletionIn(all).removed - ms, all);

/** Every status of a container. */
export const eachStatus = (change: (status: ReturnType<typeof statusesIn>[number]) => void): Edit =>
  each('pod', (pod) => {
    statusesIn(pod).forEach(change);
    return pod;
  });

/** The deletion that a case is about. */
export interface Deletion {
  /** The client time of its first state, ms. */
  at: number;
  /** The client time at which the run starts, ms. */
  runStart: number;
  pod: Raw;
  /** The client time at which its removal was received, ms; NaN if it was not. */
  removed: number;
}

/** An Event of the kubelet about a container of the pod. */
export const aboutPod =
  (reason: string, message: string, ms: number, more: About = {}) =>
  ({ at, pod }: Deletion): Raw => {
    const { container = 'app', uid = pod.metadata.uid, count = 1, firstMs = ms } = more;
    const about = { kind: 'Pod', name: pod.metadata.name, uid, ...(container && { container }) };
    return eventOf(about, { reason, message }, { at: at + ms, count, firstAt: at + firstMs });
  };

interface About {
  container?: string | undefined;
  uid?: string;
  count?: number;
  /** When it first happens. */
  firstMs?: number;
}

/** The Event arrives 8 ms after it happens. */
export const event = (reason: string, message: string, ms: number, more: About = {}): Edit =>
  change(ms + 8, 'events', aboutPod(reason, message, ms, more), 'ADDED');

/** An object, or what makes it for a deletion. */
type Made = Raw | ((deletion: Deletion) => Raw);

const madeFor = (deletion: Deletion, object: Made): Raw => (typeof object === 'function' ? object(deletion) : object);

/** A change of the object arrives at that time. */
export const change =
  (ms: number, stream: StreamName, object: Made, how?: Change['change']): Edit =>
  (all) => {
    const deletion = deletionIn(all);
    return adding(all, changed(deletion.at + ms, stream, madeFor(deletion, object), how));
  };

/** A list arrives at that time. */
export const list =
  (ms: number, stream: StreamName, ...objects: Made[]): Edit =>
  (all) => {
    const deletion = deletionIn(all);
    return adding(all, listed(deletion.at + ms, stream, ...objects.map((object) => madeFor(deletion, object))));
  };

/** Another object in the first list of its stream. */
export const inList =
  (stream: StreamName, object: Made): Edit =>
  (all) => {
    const added = madeFor(deletionIn(all), object);
    return all.map((one) =>
      one.kind === 'listed' && one.stream === stream ? { ...one, objects: [...one.objects, added] } : one,
    );
  };

/** The pod has this owner, which the run lists at its start. */
export const owned =
  (kind: string, name: string, owner: Partial<Raw> = {}): Edit =>
  (all) => {
    const began = all[0]?.at ?? 0;
    return adding(editing(all, 'pod', ownedBy(kind, name)), listed(began + 100, 'owner', ownerOf(kind, name, owner)));
  };

export function deletionIn(all: Parameters<Edit>[0]): Deletion {
  const { at, object } = markedIn(all);
  const removed = changesOf(all, 'pod').find((one) => one.change === 'DELETED')?.at ?? NaN;
  return { at, runStart: all[0]?.at ?? 0, pod: object, removed };
}
