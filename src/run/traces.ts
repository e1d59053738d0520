/**
 * The traces of one run, updated as its log grows. Each observation goes only to the pods that it concerns (select.ts),
 * and shared facts are kept once: the cost is linear in terminating pods and constant in the others.
 */
import { emptyTrace, type ProbeFacts, type Trace } from '../model/trace.ts';
import { aboutTopic, anyAutoscaler, createHistory, topicOf, type History } from './history.ts';
import type { EndpointSlice, Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import { isTerminating } from '../model/pod.ts';
import { reduce } from '../model/reduce.ts';
import { concerning, learn, objectsOf, subjectOf, type Subject } from '../model/select.ts';
import { createSharedProbes, createSharedSiblings } from './shared-facts.ts';

export interface Traces {
  /** Adds one observation of the log. Returns the keys of the traces that it concerns. */
  add(observation: Observation): readonly string[];
  /** The trace by the pod's uid, or by `onePod`. */
  get(key: string): Trace | undefined;
  /** The keys of the open traces, in the order in which they began. */
  keys(): readonly string[];
  /** The probes of the run, by number. */
  probes(): ReadonlyMap<number, ProbeFacts>;
  /** Closes a reported trace: it takes no more observations, and `replacement` can replace no other pod. */
  close(key: string, replacement?: string): void;
}

/** The key of the trace in a run about one pod, whose uid may not be known yet. */
export const onePod = '';

/** `wants` chooses which terminating pods are traced in a run over several pods. */
export function createTraces(wants: (pod: Pod) => boolean = () => true): Traces {
  let traces: Traces | undefined;
  return {
    add(observation) {
      const began = observation.kind === 'began' && observation.target !== undefined ? observation : undefined;
      traces ??= began ? tracesOfSeveral(began.next ? firstOf(wants) : wants) : traceOfOne();
      return traces.add(observation);
    },
    get: (key) => traces?.get(key) ?? (key === onePod && !traces ? emptyTrace : undefined),
    keys: () => traces?.keys() ?? [],
    probes: () => traces?.probes() ?? emptyTrace.probes,
    close: (key, replacement) => traces?.close(key, replacement),
  };
}

function firstOf(wants: (pod: Pod) => boolean): (pod: Pod) => boolean {
  let first: string | undefined;
  return (pod) => {
    if (first === undefined && wants(pod)) first = pod.metadata.uid;
    return pod.metadata.uid === first;
  };
}

/** Everything that a run about one pod observes is about this pod, or about the other pods of its workload. */
function traceOfOne(): Traces {
  let trace = emptyTrace;
  return {
    add(observation) {
      trace = reduce(trace, ofOnePod(observation));
      return [onePod];
    },
    get: (key) => (key === onePod ? trace : undefined),
    keys: () => [onePod],
    probes: () => trace.probes,
    close: () => {},
  };
}

const ofOnePod = (o: Observation): Observation =>
  'stream' in o && o.stream === 'pods' ? { ...o, stream: 'siblings' } : o;

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
  const slices = createSliceChanges();
  const byTopic = new Map<string, Set<Traced>>();

  const subscribe = (one: Traced): void => {
    for (const topic of topicsOf(one.subject)) {
      const subscribers = byTopic.get(topic) ?? new Set();
      byTopic.set(topic, subscribers.add(one));
    }
  };
  /** Starts a trace, from what the run remembers and the observation that shows the pod terminating. */
  const begin = (pod: Pod, newest: Observation): void => {
    const one: Traced = { subject: subjectOf(pod), trace: emptyTrace };
    learn(one.subject, pod);
    traced.set(pod.metadata.uid, one);
    learnAll(one, history);
    subscribe(one);
    for (const observation of [...history.of(topicsOf(one.subject)), newest]) addTo(one, observation);
  };
  return {
    add(observation) {
      if (probes.take(observation)) return [];
      siblings.take(observation);
      const keys = new Set<string>();
      for (const one of tracesConcernedBy(observation, { traced, byTopic, slices })) {
        // Subscribes to newly named owners; their earlier changes are in the history.
        if (objectsOf(observation).some((object) => learn(one.subject, object))) subscribe(one);
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
      if (one) byTopic.forEach((subscribers) => subscribers.delete(one));
    },
  };
}

function addTo(one: Traced, observation: Observation): boolean {
  const parts = concerning(one.subject, observation).filter((part) => !isAboutSiblings(part));
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

interface Routing {
  readonly traced: ReadonlyMap<string, Traced>;
  readonly byTopic: ReadonlyMap<string, ReadonlySet<Traced>>;
  readonly slices: ReturnType<typeof createSliceChanges>;
}

function tracesConcernedBy(o: Observation, { traced, byTopic, slices }: Routing): Iterable<Traced> {
  const all = traced.values();
  const ofPod = (uid: string): Traced[] => [traced.get(uid) ?? []].flat();
  switch (o.kind) {
    case 'changed': {
      if (o.object.kind === 'EndpointSlice') {
        const uids = slices.concerned(o.object, o.change === 'DELETED');
        return uids === 'all' ? all : [...uids].flatMap(ofPod);
      }
      return byTopic.get(topicOf(o.object)) ?? [];
    }
    case 'listed':
      o.objects.forEach((object) => void (object.kind === 'EndpointSlice' && slices.concerned(object, false)));
      return all;
    case 'requested':
      return ofPod(o.uid);
    case 'answered':
    case 'looked':
    case 'log-opened':
    case 'line':
    case 'log-ended':
    case 'timer':
    case 'gap':
    case 'refused':
      return o.pod === undefined ? all : ofPod(o.pod);
    default:
      return all;
  }
}

const isAboutSiblings = (part: Observation): boolean =>
  (part.kind === 'listed' || part.kind === 'changed') && part.stream === 'siblings';

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
