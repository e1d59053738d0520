/** The traces of a run, updated as its log grows: an observation goes only to the pods that it concerns, and shared facts are kept once. */
import { type ProbeFacts, type Trace, emptyTrace } from '../../model/trace.ts';
import type { Observation } from '../../model/observation.ts';
import { isTerminating } from '../../model/pod.ts';
import type { EndpointSlice, Pod } from '../../model/kube.ts';
import { reduce } from '../../model/reduce.ts';
import { concerning, learn, objectsOf, subjectOf, type Subject } from '../../model/select.ts';
import { createHistory, createSharedProbes, createSharedSiblings } from './shared-facts.ts';

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

/** The trace of the one pod, or of several pods the open trace that began first. */
export const firstTrace = (traces: Traces): Trace | undefined => traces.get(traces.keys()[0] ?? onePod);

/** Traces one pod or several, as the log's first observation says; of several, those that `wants` chooses. */
export function tracesOfLog(wants: (pod: Pod) => boolean = () => true): Traces {
  let traces: Traces | undefined;
  const tracesFor = (first: Observation): Traces =>
    first.kind === 'began' && first.target !== undefined
      ? tracesOfSeveral(first.next ? firstOf(wants) : wants)
      : tracesOfOne();
  return {
    add: (observation) => (traces ??= tracesFor(observation)).add(observation),
    get: (key) => traces?.get(key),
    keys: () => traces?.keys() ?? [],
    probes: () => traces?.probes() ?? emptyTrace.probes,
    close: (key, replacement) => traces?.close(key, replacement),
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

/** What a run over several pods observes. The pods share what is known about replacements and probes. */
function tracesOfSeveral(wants: (pod: Pod) => boolean): Traces {
  /** When each pod was first seen to terminate, ms, by its uid; also of pods that are not traced, to which requests were lost. */
  const leaving = new Map<string, number>();
  const siblings = createSharedSiblings();
  const probes = createSharedProbes();
  const ended = new Set<string>();
  const traces = tracesOfTerminating({
    wants: (pod) => !ended.has(pod.metadata.uid) && wants(pod),
    history: createHistory(),
  });
  return {
    ...traces,
    add(o) {
      if (probes.take(o)) return [];
      siblings.take(o);
      for (const { metadata } of terminatingPodsIn(o)) leaving.set(metadata.uid, leaving.get(metadata.uid) ?? o.at);
      return traces.add(o);
    },
    get(key) {
      const trace = traces.get(key);
      return trace && probes.in(siblings.in(trace), key, leaving);
    },
    probes: probes.all,
    close(key, replacement) {
      if (replacement !== undefined) siblings.name(replacement);
      ended.add(key);
      traces.close(key);
    },
  };
}

interface Traced {
  readonly subject: Subject;
  trace: Trace;
  /** What the trace does not contain yet: most of it concerns all pods, and is reduced at once when the trace is read. */
  readonly waiting: Observation[];
}

/** What differs between the traces of a run and those of a watch. `wants`: asked of each pod without an open trace. */
interface TerminatingOptions {
  wants(this: void, pod: Pod): boolean;
  /** What was observed before; `about` gives what concerns a pod, in the order of observation, and teaches its owners. */
  history: { take(o: Observation): void; about(subject: Subject): readonly Observation[] };
  partsFor?(this: void, subject: Subject, o: Observation): readonly Observation[];
}

/** The traces of pods that terminate: each begins with what is remembered about its pod. */
export function tracesOfTerminating({ wants, history, partsFor = concerning }: TerminatingOptions): Traces {
  const traced = new Map<string, Traced>();
  /** Uids by the pod's name. */
  const named = new Map<string, Set<string>>();
  const concernedBy = createRouting(named);
  const addTo = (one: Traced, o: Observation): boolean => {
    const parts = partsFor(one.subject, o);
    for (const object of parts.flatMap(objectsOf)) learn(one.subject, object);
    // A bound, if nobody reads the trace.
    if (one.waiting.push(...parts) > 64) newestOf(one);
    return parts.length > 0;
  };
  const begin = (pod: Pod): void => {
    const one: Traced = { subject: subjectOf(pod), trace: emptyTrace, waiting: [] };
    learn(one.subject, pod);
    traced.set(pod.metadata.uid, one);
    named.set(pod.metadata.name, (named.get(pod.metadata.name) ?? new Set()).add(pod.metadata.uid));
    for (const o of history.about(one.subject)) addTo(one, o);
  };
  return {
    add(o) {
      for (const pod of terminatingPodsIn(o)) if (!traced.has(pod.metadata.uid) && wants(pod)) begin(pod);
      const concerned = concernedBy(o);
      const keys = [...(concerned === 'all' ? traced.keys() : concerned)].filter((uid) => {
        const one = traced.get(uid);
        return one !== undefined && addTo(one, o);
      });
      history.take(o);
      return keys;
    },
    get(uid) {
      const one = traced.get(uid);
      return one && newestOf(one);
    },
    keys: () => [...traced.keys()],
    probes: () => emptyTrace.probes,
    close(uid) {
      const { name = '' } = traced.get(uid)?.subject ?? {};
      traced.delete(uid);
      if (named.get(name)?.delete(uid) && named.get(name)?.size === 0) named.delete(name);
    },
  };
}

const newestOf = (one: Traced): Trace => (one.trace = one.waiting.splice(0).reduce(reduce, one.trace));

/** Pods that an observation shows terminating. */
function terminatingPodsIn(o: Observation): Pod[] {
  const isPods =
    'stream' in o ? o.stream === 'pods' || o.stream === 'pod' : o.kind === 'answered' || o.kind === 'looked';
  return isPods
    ? objectsOf(o).flatMap((object) => (object.kind === 'Pod' && isTerminating(object) ? [object] : []))
    : [];
}

/** Finds the few pods that most changes concern, so that not every trace is asked. `named`: uids by the pod's name. */
function createRouting(named: ReadonlyMap<string, ReadonlySet<string>>) {
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
    if (isDeleted) known.delete(key);
    else known.set(key, now);
    // With one ready endpoint left, its own pod sees no other ready endpoint, and the other pods see one.
    if (isDeleted || readyIn(before) <= 1 !== readyIn(now) <= 1 || readyIn(now) <= 1) return 'all';
    return new Set([...before.keys(), ...now.keys()].filter((uid) => before.get(uid) !== now.get(uid)));
  };
  /** Uids of the pods that an observation may concern. */
  return (o: Observation): ReadonlySet<string> | 'all' => {
    if ('pod' in o && o.pod !== undefined) return new Set([o.pod]);
    if (o.kind === 'changed' && o.object.kind === 'Pod') return new Set([o.object.metadata.uid]);
    if (o.kind === 'changed' && o.object.kind === 'EndpointSlice') return concerned(o.object, o.change === 'DELETED');
    if (o.kind === 'changed' && o.object.kind === 'Event' && o.object.involvedObject.kind === 'Pod')
      return named.get(o.object.involvedObject.name) ?? new Set();
    // Slices that a list does not have are forgotten; of an unknown slice, a change concerns all.
    if (o.kind === 'listed' && o.stream === 'endpointslices') known.clear();
    for (const object of o.kind === 'listed' ? o.objects : [])
      if (object.kind === 'EndpointSlice') concerned(object, false);
    return 'all';
  };
}

const readyIn = (states: ReadonlyMap<string, string>): number =>
  [...states.values()].filter((state) => state.startsWith('true')).length;
