/**
 * What a run remembers for pods that are not traced yet. A pod may begin to terminate after hours of watching: then its
 * trace needs the last states of the pod and of related objects, not every change that went by. Pure, except for its
 * own memory.
 */
import type { KubeObject } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';

export interface History {
  take(observation: Observation): void;
  /** What is remembered about these topics and about all pods, in the order of observation. */
  of(topics: Iterable<string>): Observation[];
}

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

export function createHistory(): History {
  const lists = new Map<string, Observation>();
  const changes = new Map<string, Observation[]>();
  const streamObservations: Observation[] = [];
  const dates: Observation[] = [];
  const push = (ring: Observation[], observation: Observation, most: number): void => {
    ring.push(observation);
    if (ring.length > most) ring.shift();
  };
  return {
    take(o) {
      if (o.kind === 'dated') return push(dates, o, maxDates);
      if (o.kind === 'listed') return void lists.set(listKey(o.stream, o.name, o.objects[0]), o);
      if (o.kind !== 'changed') return push(streamObservations, o, maxStreamObservations);
      const topic = topicOf(o.object);
      if (o.stream === 'pods' && o.change === 'DELETED') {
        changes.delete(aboutTopic('Pod', o.object.metadata.name));
        return void changes.delete(topic);
      }
      const ring = changes.get(topic) ?? [];
      changes.set(topic, ring);
      const most: Partial<Record<string, number>> = maxChanges;
      push(ring, o, most[o.stream] ?? maxOtherChanges);
    },
    of(topics) {
      const slices = [...changes].filter(([topic]) => topic.startsWith('EndpointSlice/'));
      const found = [...topics].flatMap((topic) => changes.get(topic) ?? []);
      return [...lists.values(), ...streamObservations, ...dates, ...found, ...slices.flatMap(([, ring]) => ring)].sort(
        (a, b) => a.seq - b.seq,
      );
    },
  };
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
      return `EndpointSlice/${object.metadata.namespace ?? ''}/${object.metadata.name}`;
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
