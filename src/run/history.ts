/**
 * What a run remembers of the past for pods that are not traced yet: a pod that begins to terminate after hours of
 * watching needs the last states of itself and of what it hangs on, not all that ever passed by. Pure, but for its own
 * memory.
 */
import type { KubeObject } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';

export interface History {
  take(observation: Observation): void;
  /** What is remembered of these topics and of all pods alike, in the order in which it was observed. */
  of(topics: Iterable<string>): Observation[];
}

/** How many changes of one object (or about one object, for Events) are remembered. */
const mostChanges = {
  pods: 4,
  events: 16,
  'owner-events': 64,
  'node-events': 16,
  owner: 16,
  endpointslices: 32,
} as const;
const mostOthers = 8;
/** Gaps, cuts and what else is said of streams as a whole. */
const mostNotes = 512;
const mostDates = 16;

export function createHistory(): History {
  const lists = new Map<string, Observation>();
  const changes = new Map<string, Observation[]>();
  const notes: Observation[] = [];
  const dates: Observation[] = [];
  const push = (ring: Observation[], observation: Observation, most: number): void => {
    ring.push(observation);
    if (ring.length > most) ring.shift();
  };
  return {
    take(o) {
      if (o.kind === 'dated') return push(dates, o, mostDates);
      if (o.kind === 'listed') return void lists.set(listKey(o.stream, o.name, o.objects[0]), o);
      if (o.kind !== 'changed') return push(notes, o, mostNotes);
      const topic = topicOf(o.object);
      if (o.stream === 'pods' && o.change === 'DELETED') {
        changes.delete(aboutTopic('Pod', o.object.metadata.name));
        return void changes.delete(topic);
      }
      const ring = changes.get(topic) ?? [];
      changes.set(topic, ring);
      const most: Partial<Record<string, number>> = mostChanges;
      push(ring, o, most[o.stream] ?? mostOthers);
    },
    of(topics) {
      const slices = [...changes].filter(([topic]) => topic.startsWith('EndpointSlice/'));
      const found = [...topics].flatMap((topic) => changes.get(topic) ?? []);
      return [...lists.values(), ...notes, ...dates, ...found, ...slices.flatMap(([, ring]) => ring)].sort(
        (a, b) => a.seq - b.seq,
      );
    },
  };
}

/** Lists of one stream that bring different kinds, or different names, do not replace one another. */
const listKey = (stream: string, name: string | undefined, first: KubeObject | undefined): string =>
  `${stream}/${name ?? ''}/${first?.kind === 'Event' ? first.involvedObject.kind : (first?.kind ?? '')}`;

/** By which the changes of an object are found again: Events by what they are about. */
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

/** Which of them scales what is not in its Events. */
export const anyAutoscaler = `about/${autoscaler}`;
