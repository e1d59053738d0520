/** The part of a run's log that concerns one pod. Pure. Siblings are left out: pods share them (shared-facts.ts). */
import type { ObservedObject, Owner, Pod, Event } from './kube.ts';
import type { Observation, ObservationOf, StreamName } from './observation.ts';

export type Subject = ReturnType<typeof subjectOf>;

/** What must be known about a pod to find the observations that concern it. */
export const subjectOf = ({ metadata: { uid, name, namespace } }: Pod) => ({
  uid,
  name,
  namespace,
  node: undefined as string | undefined,
  /** Its owners and their owners, as `Kind/name` by uid. */
  owners: new Map<string, string>(),
});

/** Learns the pod's node and owners from an object. Returns true if something is new. */
export function learn(subject: Subject, object: ObservedObject): boolean {
  const isOwn = object.metadata.uid === subject.uid;
  if (!isOwn && !subject.owners.has(object.metadata.uid)) return false;
  let isNew = false;
  for (const { uid, kind, name } of object.metadata.ownerReferences ?? []) {
    isNew ||= !subject.owners.has(uid);
    subject.owners.set(uid, `${kind}/${name}`);
  }
  const node = object.kind === 'Pod' && isOwn ? object.spec.nodeName : undefined;
  if (node === undefined || node === subject.node) return isNew;
  subject.node = node;
  return true;
}

/** The objects in an observation. */
export function objectsOf(observation: Observation): readonly ObservedObject[] {
  if (observation.kind === 'listed') return observation.objects;
  if (observation.kind === 'changed') return [observation.object];
  return (observation.kind === 'answered' || observation.kind === 'looked') && observation.object
    ? [observation.object]
    : [];
}

/** What an observation means for the pod: nothing, or itself, with the streams that the pod would have of its own. */
export function concerning(subject: Subject, o: Observation): Observation[] {
  switch (o.kind) {
    case 'began':
      return [{ ...o, name: subject.name, namespace: subject.namespace ?? o.namespace }];
    case 'listed':
      return listed(subject, o);
    case 'changed':
      return isAbout(subject, o.stream, o.object) ? [o.stream === 'pods' ? { ...o, stream: 'pod' } : o] : [];
    case 'requested':
      return o.uid === subject.uid ? [o] : [];
    case 'probe-started':
      return [o];
    default:
      if ('pod' in o && o.pod !== undefined && o.pod !== subject.uid) return [];
      return 'stream' in o && o.stream === 'pods'
        ? (['pod', 'siblings'] as const).map((stream) => ({ ...o, stream }))
        : [o];
  }
}

function listed(subject: Subject, o: ObservationOf<'listed'>): Observation[] {
  const objects = o.objects.filter((object) => isAbout(subject, o.stream, object));
  const stream = o.stream === 'pods' ? 'pod' : o.stream;
  return objects.length > 0 || showsAbsence(subject, o) ? [{ ...o, stream, objects }] : [];
}

/** Whether a list shows that no object about the pod exists: if limited to one name, only that this object does not. */
function showsAbsence({ name, owners }: Subject, { stream, name: listedName }: ObservationOf<'listed'>): boolean {
  if (stream === 'siblings') return false;
  if (stream === 'owner')
    return [...owners.values()].some((owner) => owner.slice(owner.indexOf('/') + 1) === listedName);
  return listedName === undefined || (stream === 'pod' && listedName === name);
}

const inNamespace = ({ namespace }: Subject, metadata: { namespace?: string }): boolean =>
  namespace === undefined || metadata.namespace === undefined || metadata.namespace === namespace;

function isAbout(subject: Subject, stream: StreamName, object: ObservedObject): boolean {
  switch (stream) {
    case 'pods':
      return object.metadata.uid === subject.uid;
    case 'siblings':
      return false;
    case 'node':
    case 'lease':
      return object.metadata.name === subject.node;
    case 'node-events':
      return object.kind === 'Event' && object.involvedObject.name === subject.node;
    case 'owner':
      return subject.owners.has((object as Owner).metadata.uid);
    case 'namespace':
      return subject.namespace === undefined || object.metadata.name === subject.namespace;
    case 'events':
    case 'owner-events':
      return inNamespace(subject, object.metadata) && object.kind === 'Event' && isEventAbout(subject, object);
    default:
      return inNamespace(subject, object.metadata);
  }
}

/** By name: some Events have no uid (SIGNALS.md trap 21) or that of a static pod; reduce/events.ts compares uids. */
function isEventAbout(subject: Subject, { involvedObject: { kind, name } }: Event): boolean {
  if (kind === 'Pod') return name === subject.name;
  // An autoscaler's Event does not name its target: infer/trigger.ts compares the number of replicas.
  return kind === 'HorizontalPodAutoscaler' || [...subject.owners.values()].includes(`${kind}/${name}`);
}
