/**
 * A trace is built from the part of the run's log that concerns one pod: observations about the pod, its node, its
 * owners and its Services, each with its meaning for this pod. Pure; `traces.ts` does the same while the log grows.
 */
import type { Event } from './observe/event.ts';
import type { KubeObject, Owner, Pod } from './kube.ts';
import type { Observation, ObservationOf, StreamName } from './observation.ts';

/** What must be known about a pod to find the observations that concern it. */
export interface Subject {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  node: string | undefined;
  /** Its owners and their owners, as `Kind/name` by uid. */
  readonly owners: Map<string, string>;
  /** The pod has its own stream, so gaps of the shared stream do not affect it. */
  hasOwnStream: boolean;
}

export const subjectOf = ({ metadata: { uid, name, namespace } }: Pod): Subject => ({
  uid,
  name,
  namespace,
  node: undefined,
  owners: new Map(),
  hasOwnStream: false,
});

/** The observations of a complete log that concern the pod. */
export function select(log: readonly Observation[], uid: string): Observation[] {
  const subject = learnSubject(log, uid);
  return subject ? log.flatMap((observation) => concerning(subject, observation)) : [];
}

function learnSubject(log: readonly Observation[], uid: string): Subject | undefined {
  let subject: Subject | undefined;
  for (const observation of log)
    for (const object of objectsOf(observation))
      if (object.kind === 'Pod' && object.metadata.uid === uid) learn((subject ??= subjectOf(object)), object);
  // An owner may be listed before the pod that names it.
  for (let known = -1; subject && known !== subject.owners.size;) {
    known = subject.owners.size;
    for (const object of log.flatMap(objectsOf)) learn(subject, object);
  }
  if (subject) subject.hasOwnStream = log.some((one) => one.kind === 'listed' && one.stream === 'pod');
  return subject;
}

/** Learns the pod's node and owners from an object. Returns true if something is new. */
export function learn(subject: Subject, object: KubeObject): boolean {
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
export function objectsOf(observation: Observation): readonly KubeObject[] {
  if (observation.kind === 'listed') return observation.objects;
  if (observation.kind === 'changed') return [observation.object];
  return (observation.kind === 'answered' || observation.kind === 'looked') && observation.object
    ? [observation.object]
    : [];
}

/** What an observation means for the pod: nothing, itself, or one observation each about the pod and its siblings. */
export function concerning(subject: Subject, o: Observation): Observation[] {
  switch (o.kind) {
    case 'began':
      return [{ ...o, name: subject.name, namespace: subject.namespace ?? o.namespace }];
    case 'listed':
      return o.stream === 'pods' ? podsListed(subject, o) : listed(subject, o);
    case 'changed':
      return changed(subject, o);
    case 'kin':
      return o.uids.includes(subject.uid) ? [o] : [];
    case 'requested':
      return o.uid === subject.uid ? [o] : [];
    case 'synced':
    case 'resumed':
    case 'refused':
    case 'gap':
      if ('pod' in o && !isFor(subject, o.pod)) return [];
      return rolesOf(subject, o.stream).map((stream) => ({ ...o, stream }));
    case 'dated':
    case 'interrupted':
    case 'probe-started':
    case 'probe-counts':
    case 'probe-ended':
      return [o];
    default:
      return isFor(subject, o.pod) ? [o] : [];
  }
}

const isFor = ({ uid }: Subject, pod: string | undefined): boolean => pod === undefined || pod === uid;

/** The streams under which the pod sees an observation about a whole stream. */
function rolesOf({ hasOwnStream }: Pick<Subject, 'hasOwnStream'>, stream: StreamName): StreamName[] {
  if (stream !== 'pods') return [stream];
  return hasOwnStream ? ['siblings'] : ['pod', 'siblings'];
}

/** Splits a list of the shared stream: the pod itself, and its siblings. */
function podsListed(subject: Subject, o: ObservationOf<'listed'>): Observation[] {
  const own = o.objects.filter(({ metadata }) => metadata.uid === subject.uid);
  const others = o.objects.filter(({ metadata }) => metadata.uid !== subject.uid && inNamespace(subject, metadata));
  const siblings: Observation = { ...o, stream: 'siblings', objects: others };
  return subject.hasOwnStream ? [siblings] : [{ ...o, stream: 'pod', objects: own }, siblings];
}

function listed(subject: Subject, o: ObservationOf<'listed'>): Observation[] {
  const objects = o.objects.filter((object) => isAbout(subject, o.stream, object));
  const ownersNames = [...subject.owners.values()].map((owner) => owner.slice(owner.indexOf('/') + 1));
  // An empty list limited to one name only proves that this object does not exist.
  const isAboutOther =
    o.name !== undefined &&
    objects.length === 0 &&
    !(o.stream === 'owner' ? ownersNames.includes(o.name) : o.stream === 'pod' && o.name === subject.name);
  return isAboutOther || (o.stream === 'owner' && objects.length === 0 && o.name === undefined)
    ? []
    : [{ ...o, objects }];
}

function changed(subject: Subject, o: ObservationOf<'changed'>): Observation[] {
  if (o.stream === 'pods') {
    if (o.object.metadata.uid !== subject.uid)
      return inNamespace(subject, o.object.metadata) ? [{ ...o, stream: 'siblings' }] : [];
    return subject.hasOwnStream ? [] : [{ ...o, stream: 'pod' }];
  }
  return isAbout(subject, o.stream, o.object) ? [o] : [];
}

const inNamespace = ({ namespace }: Subject, metadata: { namespace?: string }): boolean =>
  namespace === undefined || metadata.namespace === undefined || metadata.namespace === namespace;

/** Whether an object of a stream concerns the pod. */
function isAbout(subject: Subject, stream: StreamName, object: KubeObject): boolean {
  switch (stream) {
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
