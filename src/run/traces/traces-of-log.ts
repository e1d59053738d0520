/** The traces of a run; an observation goes only to the pods that it concerns, and shared facts are kept once. */
import { emptyTrace, type Trace } from '../../model/trace.ts';
import type { EndpointSlice, Pod } from '../../model/kube.ts';
import type { Observation } from '../../model/observation.ts';
import { isTerminating } from '../../model/pod.ts';
import { reduce } from '../../model/reduce.ts';
import { concerning, learn, objectsOf, subjectOf, type Subject } from '../../model/select.ts';
import { createHistory, createSharedProbes, createSharedSiblings } from './shared-facts.ts';
import { onePod, type Traces } from './traces.ts';

/** Traces one pod or several, as the log's first observation says; of several, those that `wants` chooses. */
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

/** Everything that a run about one pod observes is about this pod, or about the other pods of its workload. */
function tracesOfOne(): Traces {
  let trace = emptyTrace;
  return {
    add(o) {
      trace = reduce(trace, 'stream' in o && o.stream === 'pods' ? { ...o, stream: 'siblings' } : o);
      return [onePod];
    },
    get: (key) => (key === onePod ? trace : undefined),
    keys: () => [onePod],
    probes: () => trace.probes,
    close: () => {},
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
  /** What the trace does not contain yet: most of it concerns all pods, and is reduced at once when the trace is read. */
  readonly waiting: Observation[];
}

function tracesOfSeveral(wants: (pod: Pod) => boolean): Traces {
  const traced = new Map<string, Traced>();
  const begun = new Set<string>();
  /** When each pod was first seen to terminate, ms, by its uid; also of pods that are not traced, to which requests were lost. */
  const leaving = new Map<string, number>();
  const history = createHistory();
  const siblings = createSharedSiblings();
  const probes = createSharedProbes();
  const concernedBy = createRouting();
  /** Starts a trace, from what the run remembers and the observation that shows the pod terminating. */
  const begin = (pod: Pod, newest: Observation): void => {
    const one: Traced = { subject: subjectOf(pod), trace: emptyTrace, waiting: [] };
    learn(one.subject, pod);
    traced.set(pod.metadata.uid, one);
    begun.add(pod.metadata.uid);
    const remembered = history.of(pod);
    const owners = remembered.flatMap((o) => ('stream' in o && o.stream === 'owner' ? objectsOf(o) : []));
    // Twice: an owner may come before what it owns, and no owner of a third level is watched.
    for (const object of [...owners, ...owners]) learn(one.subject, object);
    for (const observation of [...remembered, newest]) addTo(one, observation);
  };
  return {
    add(observation) {
      if (probes.take(observation)) return [];
      siblings.take(observation);
      const keys = new Set<string>();
      const concerned = concernedBy(observation);
      for (const uid of concerned === 'all' ? traced.keys() : concerned) {
        const one = traced.get(uid);
        if (one && addTo(one, observation)) keys.add(uid);
      }
      for (const pod of terminatingPodsIn(observation)) {
        const { uid } = pod.metadata;
        leaving.set(uid, leaving.get(uid) ?? observation.at);
        if (begun.has(uid) || !wants(pod)) continue;
        begin(pod, observation);
        keys.add(uid);
      }
      history.take(observation);
      return [...keys];
    },
    get(key) {
      const one = traced.get(key);
      return one && probes.in(siblings.in(newestOf(one)), key, leaving);
    },
    keys: () => [...traced.keys()],
    probes: probes.all,
    close(key, replacement) {
      if (replacement !== undefined) siblings.name(replacement);
      traced.delete(key);
    },
  };
}

function addTo(one: Traced, observation: Observation): boolean {
  const parts = concerning(one.subject, observation);
  if (parts.length === 0) return false;
  for (const object of parts.flatMap(objectsOf)) learn(one.subject, object);
  // A bound, if nobody reads the trace.
  if (one.waiting.push(...parts) > 64) newestOf(one);
  return true;
}

const newestOf = (one: Traced): Trace => (one.trace = one.waiting.splice(0).reduce(reduce, one.trace));

/** Pods that an observation shows terminating. */
export function terminatingPodsIn(o: Observation): Pod[] {
  const isPods =
    'stream' in o ? o.stream === 'pods' || o.stream === 'pod' : o.kind === 'answered' || o.kind === 'looked';
  return isPods
    ? objectsOf(o).flatMap((object) => (object.kind === 'Pod' && isTerminating(object) ? [object] : []))
    : [];
}

/** Finds the few pods that most changes concern, so that not every trace is asked. */
function createRouting() {
  const known = new Map<string, ReadonlyMap<string, string>>();
  /** Uids of pods whose endpoint changed; `all`: for some pods it changed whether another endpoint is ready. */
  const concerned = (slice: EndpointSlice, isDeleted: boolean): ReadonlySet<string> | 'all' => {
    const key = `${slice.metadata.namespace ?? ''}/${slice.metadata.name}`;
    const before = known.get(key) ?? new Map<string, string>();
    const states = slice.endpoints.map(
      ({ targetRef, conditions: { ready = true, serving = '', terminating = '' } = {} }) =>
        [targetRef?.uid ?? '', `${ready},${serving},${terminating}`] as const,
    );
    const now = new Map(isDeleted ? [] : states);
    known.set(key, now);
    // With one ready endpoint left, its own pod sees no other ready endpoint, and the other pods see one.
    if (isDeleted || readyIn(before) <= 1 !== readyIn(now) <= 1 || readyIn(now) <= 1) return 'all';
    return new Set([...before.keys(), ...now.keys()].filter((uid) => before.get(uid) !== now.get(uid)));
  };
  /** Uids of the pods that an observation may concern. */
  return (o: Observation): ReadonlySet<string> | 'all' => {
    if ('pod' in o && o.pod !== undefined) return new Set([o.pod]);
    if (o.kind === 'changed' && o.object.kind === 'Pod') return new Set([o.object.metadata.uid]);
    if (o.kind === 'changed' && o.object.kind === 'EndpointSlice') return concerned(o.object, o.change === 'DELETED');
    for (const object of o.kind === 'listed' ? o.objects : [])
      if (object.kind === 'EndpointSlice') concerned(object, false);
    return 'all';
  };
}

const readyIn = (states: ReadonlyMap<string, string>): number =>
  [...states.values()].filter((state) => state.startsWith('true')).length;
