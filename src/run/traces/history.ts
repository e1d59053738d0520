/**
 * What a run remembers for pods that are not traced yet. A pod may begin to terminate after hours of watching: then its
 * trace needs the last states of the pod and of related objects, not every earlier change. Pure, except for its
 * own memory.
 */
import type { ObservedObject } from '../../model/kube.ts';
import type { Observation } from '../../model/observation.ts';

/** How many changes of one object are remembered; for Events, of the object that they are about. */
const maxChanges = {
  pods: 4,
  events: 16,
  'owner-events': 64,
  'node-events': 16,
  owner: 16,
  endpointslices: 32,
} as const;
const maxOtherChanges = 8;
/** Gaps, resumed streams and other observations about whole streams. */
const maxStreamObservations = 512;
const maxDates = 16;

export function createHistory() {
  const rings = new Map<string, Observation[]>();
  return {
    take(o: Observation): void {
      if (o.kind === 'changed' && o.stream === 'pods' && o.change === 'DELETED') {
        rings.delete(aboutKey('Pod', o.object.metadata.name));
        return void rings.delete(keyOf(o.object));
      }
      const { key, most } = ringOf(o);
      const ring = rings.get(key) ?? [];
      ring.push(o);
      if (ring.length > most) ring.shift();
      rings.set(key, ring);
    },
    /** Everything that is remembered, in the order of observation. */
    all: (): Observation[] => [...rings.values()].flat().sort((a, b) => a.seq - b.seq),
  };
}

/** What an observation is remembered with, and how many of them. */
function ringOf(o: Observation): { key: string; most: number } {
  if (o.kind === 'dated') return { key: 'dates', most: maxDates };
  if (o.kind === 'listed') return { key: listKey(o.stream, o.name, o.objects[0]), most: 1 };
  if (o.kind !== 'changed') return { key: 'streams', most: maxStreamObservations };
  const most: Partial<Record<string, number>> = maxChanges;
  return { key: keyOf(o.object), most: most[o.stream] ?? maxOtherChanges };
}

/** A newer list replaces an older one only if both have the same stream, name and kind. */
const listKey = (stream: string, name: string | undefined, first: ObservedObject | undefined): string =>
  `list/${stream}/${name ?? ''}/${first?.kind === 'Event' ? first.involvedObject.kind : (first?.kind ?? '')}`;

/** The key under which an object's changes are remembered; for Events, that of the object that they are about. */
function keyOf(object: ObservedObject): string {
  if (object.kind === 'Event') return aboutKey(object.involvedObject.kind, object.involvedObject.name);
  const { namespace, name, uid } = object.metadata;
  if (object.kind === 'EndpointSlice') return `EndpointSlice/${namespace ?? ''}/${name}`;
  return object.kind === 'Node' || object.kind === 'Lease' ? `${object.kind}/${name}` : `uid/${uid}`;
}

/** An autoscaler's Events do not say what it scales, so all autoscalers share one key. */
const aboutKey = (kind: string, name: string): string =>
  kind === 'HorizontalPodAutoscaler' ? 'about/autoscalers' : `about/${kind}/${name}`;
