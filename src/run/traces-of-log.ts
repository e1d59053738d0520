/**
 * The traces of a run about one pod or several. With several, each observation goes only to the pods that it concerns
 * (select.ts), and shared facts are kept once: the cost is linear in terminating pods and constant in the others.
 */
import { emptyTrace, type Trace } from '../model/trace.ts';
import { aboutTopic, anyAutoscaler, createHistory, topicOf, type History } from './history.ts';
import type { EndpointSlice, Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import { isTerminating } from '../model/pod.ts';
import { reduce } from '../model/reduce.ts';
import { concerning, learn, objectsOf, subjectOf, type Subject } from '../model/select.ts';
import { createSharedProbes, createSharedSiblings } from './shared-facts.ts';
import { tracesOfOne, type Traces } from './traces.ts';

/**
 * Traces one pod or several, as the log's first observation says. `wants` chooses which terminating pods are traced in a
 * run over several pods.
 */
export function tracesOfLog(wants: (pod: Pod) => boolean = () => true): Traces {
  let traces = tracesOfOne();
  let isChosen = false;
  return {
    add(observation) {
      if (!isChosen && observation.kind === 'began' && observation.target !== undefined)
        traces = tracesOfSeveral(observation.next ? firstOf(wants) : wants);
      isChosen = true;
      return traces.add(observation);
    },
    get: (key) => traces.get(key),
    keys: () => traces.keys(),
    probes: () => traces.probes(),
    close: (key, replacement) => traces.close(key, replacement),
  };
}

function firstOf(wants: (pod: Pod) => boolean): (pod: Pod) => boolean {
  let first: string | undefined;
  return (pod) => {
    if (first === undefined && wants(pod)) first = pod.metadata.uid;
    return pod.metadata.uid === first;
  };
}

interface Traced {
  readonly subject: Subject;
  trace: Trace;
}

function tracesOfSeveral(wants: (pod: Pod) => boolean): Traces {
  const traced = new Map<string, Traced>();
  const closed = new Set<string>();
  const history = createHistory();
  const siblings = createSharedSiblings();
  const probes = createSharedProbes();
  const routing = createRouting(traced);
  /** Starts a trace, from what the run remembers and the observation that shows the pod terminating. */
  const begin = (pod: Pod, newest: Observation): void => {
    const one: Traced = { subject: subjectOf(pod), trace: emptyTrace };
    learn(one.subject, pod);
    traced.set(pod.metadata.uid, one);
    learnAll(one, history);
    routing.subscribe(one);
    for (const observation of [...history.of(topicsOf(one.subject)), newest]) addTo(one, observation);
  };
  return {
    add(observation) {
      if (probes.take(observation)) return [];
      siblings.take(observation);
      const keys = new Set<string>();
      for (const one of routing.concernedBy(observation)) {
        // Subscribes to newly named owners; their earlier changes are in the history.
        if (objectsOf(observation).some((object) => learn(one.subject, object))) routing.subscribe(one);
        if (addTo(one, observation)) keys.add(one.subject.uid);
      }
      for (const pod of terminatingPodsIn(observation)) {
        const { uid } = pod.metadata;
        if (traced.has(uid) || closed.has(uid) || !wants(pod)) continue;
        begin(pod, observation);
        keys.add(uid);
      }
      history.take(observation);
      return [...keys];
    },
    get(key) {
      const one = traced.get(key);
      return one && probes.in(siblings.in(one.trace), key);
    },
    keys: () => [...traced.keys()],
    probes: probes.all,
    close(key, replacement) {
      if (replacement !== undefined) siblings.name(replacement);
      const one = traced.get(key);
      traced.delete(key);
      closed.add(key);
      if (one) routing.unsubscribe(one);
    },
  };
}

/** Finds the traces that an observation concerns, without asking each of them. */
function createRouting(traced: ReadonlyMap<string, Traced>) {
  const byTopic = new Map<string, Set<Traced>>();
  const slices = createSliceChanges();
  const ofPod = (uid: string): Traced[] => [traced.get(uid) ?? []].flat();
  return {
    subscribe(one: Traced): void {
      for (const topic of topicsOf(one.subject)) byTopic.set(topic, (byTopic.get(topic) ?? new Set()).add(one));
    },
    unsubscribe: (one: Traced): void => byTopic.forEach((subscribers) => subscribers.delete(one)),
    concernedBy(o: Observation): Iterable<Traced> {
      if (o.kind === 'listed')
        for (const object of o.objects) if (object.kind === 'EndpointSlice') slices.concerned(object, false);
      if (o.kind === 'changed' && o.object.kind === 'EndpointSlice') {
        const uids = slices.concerned(o.object, o.change === 'DELETED');
        return uids === 'all' ? traced.values() : [...uids].flatMap(ofPod);
      }
      if (o.kind === 'changed') return byTopic.get(topicOf(o.object)) ?? [];
      if (o.kind === 'requested') return ofPod(o.uid);
      return 'pod' in o && o.pod !== undefined ? ofPod(o.pod) : traced.values();
    },
  };
}

function addTo(one: Traced, observation: Observation): boolean {
  const parts = concerning(one.subject, observation);
  one.trace = parts.reduce(reduce, one.trace);
  return parts.length > 0;
}

/** Learns the known owners of the pod's owners. */
function learnAll({ subject }: Traced, history: History): void {
  for (let known = -1; known !== subject.owners.size;) {
    known = subject.owners.size;
    for (const observation of history.of(topicsOf(subject)))
      for (const object of objectsOf(observation)) if (object.kind !== 'Event') learn(subject, object);
  }
}

/** Topics whose changes concern the pod. Slices are routed by content (createSliceChanges). */
function topicsOf({ uid, name, node, owners }: Subject): string[] {
  return [
    `Pod/${uid}`,
    aboutTopic('Pod', name),
    anyAutoscaler,
    ...(node === undefined ? [] : [aboutTopic('Node', node), `name/${node}`]),
    ...[...owners].flatMap(([owner, named]) => [`owner/${owner}`, `about/${named}`]),
  ];
}

/** Pods that an observation shows terminating. */
function terminatingPodsIn(o: Observation): Pod[] {
  const isPods =
    'stream' in o ? o.stream === 'pods' || o.stream === 'pod' : o.kind === 'answered' || o.kind === 'looked';
  return isPods
    ? objectsOf(o).flatMap((object) => (object.kind === 'Pod' && isTerminating(object) ? [object] : []))
    : [];
}

function createSliceChanges() {
  const known = new Map<string, ReadonlyMap<string, string>>();
  return {
    /** Uids of pods whose endpoint changed; `all`: for some pods it changed whether another endpoint is ready. */
    concerned(slice: EndpointSlice, isDeleted: boolean): ReadonlySet<string> | 'all' {
      const key = `${slice.metadata.namespace ?? ''}/${slice.metadata.name}`;
      const before = known.get(key) ?? new Map<string, string>();
      const now = new Map(isDeleted ? [] : slice.endpoints.map((one) => [one.targetRef?.uid ?? '', stateOf(one)]));
      known.set(key, now);
      // With one ready endpoint left, its own pod sees no other ready endpoint, and the other pods see one.
      if (isDeleted || readyIn(before) <= 1 !== readyIn(now) <= 1 || readyIn(now) <= 1) return 'all';
      const changed = [...new Set([...before.keys(), ...now.keys()])].filter((uid) => before.get(uid) !== now.get(uid));
      return new Set(changed);
    },
  };
}

const stateOf = ({ conditions = {} }: EndpointSlice['endpoints'][number]): string =>
  `${conditions.ready ?? true},${conditions.serving ?? ''},${conditions.terminating ?? ''}`;

const readyIn = (states: ReadonlyMap<string, string>): number =>
  [...states.values()].filter((state) => state.startsWith('true')).length;
