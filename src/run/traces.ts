/**
 * The traces of one run, kept as its log grows: each observation is handed only to the pods that it concerns (select.ts), and
 * what all of them share is kept once. So the cost is linear in pods that terminate, and constant in pods that do not.
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
  /** Takes one more observation of the log. The keys of the traces that it concerns. */
  add(observation: Observation): readonly string[];
  /** The trace of a pod's uid, or of `onePod`. */
  get(key: string): Trace | undefined;
  /** Those whose trace is kept, in the order in which they began. */
  keys(): readonly string[];
  /** What was asked while the run lasted, by number. */
  probes(): ReadonlyMap<number, ProbeFacts>;
  /** Its exit is reported: nothing that comes concerns it any more, and the uid of its replacement is no other pod's. */
  close(key: string, replacement?: string): void;
}

/** The key of the trace of a run that is about one pod, whose uid need not be known. */
export const onePod = '';

/** `wants`: of which terminating pods traces are kept, in a run that is about several. */
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

/** All that such a run observes is about its pod, or about the other pods of its workload. */
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
  /** It is traced from what the run remembers, and from the observation that shows it terminating. */
  const begin = (pod: Pod, newest: Observation): void => {
    const one: Traced = { subject: subjectOf(pod), trace: emptyTrace };
    learn(one.subject, pod);
    traced.set(pod.metadata.uid, one);
    learnAll(one, history);
    subscribe(one);
    for (const observation of [...history.of(topicsOf(one.subject)), newest]) handTo(one, observation);
  };
  return {
    add(observation) {
      if (probes.take(observation)) return [];
      siblings.take(observation);
      const keys = new Set<string>();
      for (const one of concernedBy(observation, { traced, byTopic, slices })) {
        // Owners that an object names are subscribed to from now on; what came of them before is in the history.
        if (objectsOf(observation).some((object) => learn(one.subject, object))) subscribe(one);
        if (handTo(one, observation)) keys.add(one.subject.uid);
      }
      for (const pod of beginningIn(observation)) {
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

function handTo(one: Traced, observation: Observation): boolean {
  const parts = concerning(one.subject, observation).filter((part) => !isOfSiblings(part));
  one.trace = parts.reduce(reduce, one.trace);
  return parts.length > 0;
}

/** Its owners' owners, as far as they are known. */
function learnAll({ subject }: Traced, history: History): void {
  for (let known = -1; known !== subject.owners.size;) {
    known = subject.owners.size;
    for (const observation of history.of(topicsOf(subject)))
      for (const object of objectsOf(observation)) if (object.kind !== 'Event') learn(subject, object);
  }
}

/** What changes of these concern it. Slices are routed by what they say (createSliceChanges). */
function topicsOf({ uid, name, node, owners }: Subject): string[] {
  return [
    `Pod/${uid}`,
    aboutTopic('Pod', name),
    anyAutoscaler,
    ...(node === undefined ? [] : [aboutTopic('Node', node), `name/${node}`]),
    ...[...owners].flatMap(([owner, named]) => [`owner/${owner}`, `about/${named}`]),
  ];
}

interface Routes {
  readonly traced: ReadonlyMap<string, Traced>;
  readonly byTopic: ReadonlyMap<string, ReadonlySet<Traced>>;
  readonly slices: ReturnType<typeof createSliceChanges>;
}

function concernedBy(o: Observation, { traced, byTopic, slices }: Routes): Iterable<Traced> {
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

const isOfSiblings = (part: Observation): boolean =>
  (part.kind === 'listed' || part.kind === 'changed') && part.stream === 'siblings';

/** Pods that are terminating, or asked to. */
function beginningIn(o: Observation): Pod[] {
  const isPods =
    'stream' in o ? o.stream === 'pods' || o.stream === 'pod' : o.kind === 'answered' || o.kind === 'looked';
  return isPods
    ? objectsOf(o).flatMap((object) => (object.kind === 'Pod' && isTerminating(object) ? [object] : []))
    : [];
}

function createSliceChanges() {
  const known = new Map<string, ReadonlyMap<string, string>>();
  return {
    /** Uids of pods; `all`: whether any endpoint is ready has changed, for some of them. */
    concerned(slice: EndpointSlice, isDeleted: boolean): ReadonlySet<string> | 'all' {
      const key = `${slice.metadata.namespace ?? ''}/${slice.metadata.name}`;
      const before = known.get(key) ?? new Map<string, string>();
      const now = new Map(isDeleted ? [] : slice.endpoints.map((one) => [one.targetRef?.uid ?? '', stateOf(one)]));
      known.set(key, now);
      // With one ready endpoint left, its own pod sees none and the others see one.
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
