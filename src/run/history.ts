/**
 * What a run remembers for pods that are not traced yet. A pod may begin to terminate after hours of watching: then its
 * trace needs the last states of the pod and of related objects, not every earlier change. Pure, except for its
 * own memory.
 */
import type { KubeObject } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';

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

export type History = ReturnType<typeof createHistory>;

export function createHistory() {
  const rings = new Map<string, Observation[]>();
  return {
    take(o: Observation): void {
      if (o.kind === 'changed' && o.stream === 'pods' && o.change === 'DELETED') {
        rings.delete(aboutTopic('Pod', o.object.metadata.name));
        return void rings.delete(topicOf(o.object));
      }
      const { key, most } = ringOf(o);
      const ring = rings.get(key) ?? [];
      ring.push(o);
      if (ring.length > most) ring.shift();
      rings.set(key, ring);
    },
    /** What is remembered about these topics and about all pods, in the order of observation. */
    of(topics: Iterable<string>): Observation[] {
      const wanted = new Set(topics);
      return [...rings]
        .flatMap(([key, ring]) => (wanted.has(key) || key.startsWith(ofAll) ? ring : []))
        .sort((a, b) => a.seq - b.seq);
    },
  };
}

/** The beginning of the keys of what concerns all pods. */
const ofAll = 'all/';

/** What an observation is remembered with, and how many of them. */
function ringOf(o: Observation): { key: string; most: number } {
  if (o.kind === 'dated') return { key: `${ofAll}dates`, most: maxDates };
  if (o.kind === 'listed') return { key: `${ofAll}${listKey(o.stream, o.name, o.objects[0])}`, most: 1 };
  if (o.kind !== 'changed') return { key: `${ofAll}streams`, most: maxStreamObservations };
  const most: Partial<Record<string, number>> = maxChanges;
  return { key: topicOf(o.object), most: most[o.stream] ?? maxOtherChanges };
}

/** A newer list replaces an older one only if both have the same stream, name and kind. */
const listKey = (stream: string, name: string | undefined, first: KubeObject | undefined): string =>
  `${stream}/${name ?? ''}/${first?.kind === 'Event' ? first.involvedObject.kind : (first?.kind ?? '')}`;

/** The key under which an object's changes are remembered; for Events, that of the object that they are about. */
export function topicOf(object: KubeObject): string {
  switch (object.kind) {
    case 'Event':
      return aboutTopic(object.involvedObject.kind, object.involvedObject.name);
    case 'Pod':
      return `Pod/${object.metadata.uid}`;
    case 'EndpointSlice':
      return `${ofAll}EndpointSlice/${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    case 'Node':
    case 'Lease':
      return `name/${object.metadata.name}`;
    default:
      return `owner/${object.metadata.uid}`;
  }
}

export const aboutTopic = (kind: string, name: string): string =>
  kind === autoscaler ? anyAutoscaler : `about/${kind}/${name}`;

const autoscaler = 'HorizontalPodAutoscaler';

/** An autoscaler's Events do not say what it scales, so all autoscalers share one topic. */
export const anyAutoscaler = `about/${autoscaler}`;
