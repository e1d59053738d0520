/** What the traces of a group share: possible replacements, the probes' requests, and what happened before a deletion. */
import type { ObservedObject, Pod } from '../../model/kube.ts';
import type { Observation } from '../../model/observation.ts';
import { updateSibling, type SiblingArrival } from '../../model/reduce/siblings.ts';
import { emptyTrace, type SiblingFacts, type Trace, type ProbeFacts } from '../../model/trace.ts';
import { reduce } from '../../model/reduce.ts';
import { learn, objectsOf, type Subject } from '../../model/select.ts';

export function createSharedSiblings() {
  const siblings = new Map<string, SiblingFacts>();
  let areListed = false;
  let isPartial = false;
  let newSiblingCount = 0;
  let taken: ReadonlySet<string> = new Set();
  const fold = (pod: Pod, o: Observation, arrival: SiblingArrival): void => {
    const known = siblings.get(pod.metadata.uid);
    const next = updateSibling(undefined, known, { pod, seen: o, arrival });
    if (!next) return;
    if (!known && arrival === 'created') newSiblingCount += 1;
    siblings.set(pod.metadata.uid, next);
  };
  return {
    take(o: Observation): void {
      // The pods of a node are replaced on other nodes, which are not watched.
      if (o.kind === 'began') isPartial = o.target?.startsWith('node/') ?? false;
      if (o.kind === 'changed' && o.stream === 'pods' && o.change !== 'DELETED')
        podsIn([o.object]).forEach((pod) => fold(pod, o, 'created'));
      if (o.kind !== 'listed' || o.stream !== 'pods') return;
      // A pod in the first list existed when the run began; its timestamps show whether it is older than a deletion.
      for (const pod of podsIn(o.objects)) fold(pod, o, areListed ? 'created' : 'listed-late');
      areListed = true;
    },
    /** The pod `uid` is the replacement of a reported pod, and so of no other. */
    name: (uid: string): void => void (taken = new Set([...taken, uid])),
    /** The trace with the current siblings: all pods of the run, including the traced pod itself. */
    in: (trace: Trace): Trace => ({
      ...trace,
      siblings,
      siblingsKnown: areListed && !isPartial,
      newSiblingCount,
      taken,
    }),
  };
}

const podsIn = (objects: readonly ObservedObject[]): Pod[] =>
  objects.flatMap((object) => (object.kind === 'Pod' ? [object] : []));

export function createSharedProbes() {
  let { probes } = emptyTrace;
  return {
    /** Returns whether the observation was about a probe. */
    take(o: Observation): boolean {
      const isAboutProbe = o.kind === 'probe-started' || o.kind === 'probe-counts' || o.kind === 'probe-ended';
      if (isAboutProbe) ({ probes } = reduce({ ...emptyTrace, probes }, o));
      return isAboutProbe;
    },
    all: (): ReadonlyMap<number, ProbeFacts> => probes,
    /** The trace of the pod `uid`, with its own probes and those of no particular pod. */
    in(trace: Trace, uid: string, leaving: ReadonlyMap<string, number>): Trace {
      if (probes.size === 0) return trace;
      const since = trace.deletion?.seenAt ?? -Infinity;
      // Failures before this pod's deletion belong to another pod, and later ones may: load balancers lag by a minute.
      // What was never answered belongs to none.
      const others = [...leaving.values()].filter((at) => at > since - 60_000).length - 1;
      const mayBeIts = (at: number, { slices }: ProbeFacts): boolean =>
        at >= since && slices.some(({ value }) => value.new.failed < value.new.sent);
      const partOf = (facts: ProbeFacts): ProbeFacts =>
        facts.started.value.pod !== undefined
          ? facts
          : { ...facts, slices: facts.slices.filter(({ at }) => mayBeIts(at, facts)), otherPods: others };
      const own = [...probes].filter(([, { started }]) => [undefined, uid].includes(started.value.pod));
      return { ...trace, probes: new Map(own.map(([probe, facts]) => [probe, partOf(facts)])) };
    },
  };
}

/** What a run remembers of pods that are not traced yet: the last states of the pod and of related objects. */
export function createHistory() {
  const shared = new Map<string, Observation[]>();
  const ofPods = new Map<string, Observation[]>();
  return {
    take(o: Observation): void {
      if (o.kind === 'changed' && o.stream === 'pods' && o.change === 'DELETED')
        return keysOf(o.object.metadata).forEach((key) => ofPods.delete(key));
      const { key, most } = ringOf(o);
      const rings = /^(pod|about\/[^/]*\/Pod)\//.test(key) ? ofPods : shared;
      rings.set(key, [...(rings.get(key) ?? []), o].slice(-most));
    },
    /** What may concern the pod, in the order of observation. Without other pods' own changes: half the CPU of 500 pods. */
    about(subject: Subject): Observation[] {
      const own = keysOf(subject).flatMap((key) => ofPods.get(key) ?? []);
      const found = [...own, ...shared.values()].flat().sort((a, b) => a.seq - b.seq);
      const owners = found.flatMap((o) => ('stream' in o && o.stream === 'owner' ? objectsOf(o) : []));
      // Twice: an owner may come before what it owns, and no owner of a third level is watched.
      for (const object of [...owners, ...owners]) learn(subject, object);
      return found;
    },
  };
}

/** The keys of a pod's states and of the Events about it. */
const keysOf = ({ uid, namespace = '', name }: { uid: string; name: string; namespace?: string | undefined }) =>
  [`pod/${uid}`, aboutKey(namespace, 'Pod', name)] as const;

/** What an observation is remembered with, and how many of them: few states of each pod, as there may be many pods. */
function ringOf(o: Observation): { key: string; most: number } {
  if (o.kind === 'dated') return { key: 'dates', most: 16 };
  // A newer list replaces an older one only if both have the same stream, name and kind.
  const [first] = o.kind === 'listed' ? o.objects : [];
  const kind = first?.kind === 'Event' ? first.involvedObject.kind : (first?.kind ?? '');
  if (o.kind === 'listed') return { key: `list/${o.stream}/${o.name ?? ''}/${kind}`, most: 1 };
  if (o.kind !== 'changed') return { key: 'streams', most: 512 };
  return { key: rememberedKey(o.object), most: o.object.kind === 'Pod' ? 4 : 64 };
}

/** The key under which an object's changes are remembered; for Events, that of the object that they are about. */
export function rememberedKey(object: ObservedObject): string {
  const { namespace = '', name, uid } = object.metadata;
  if (object.kind === 'Event') {
    const { kind, name: about } = object.involvedObject;
    return aboutKey(kind === 'Node' ? '' : namespace, kind, about);
  }
  if (object.kind === 'EndpointSlice') return `EndpointSlice/${namespace}/${name}`;
  if (object.kind === 'Pod') return keysOf(object.metadata)[0];
  return object.kind === 'Node' || object.kind === 'Lease' ? `${object.kind}/${name}` : `uid/${uid}`;
}

/** An autoscaler's Events do not say what it scales, so all autoscalers of a namespace share one key. */
export const aboutKey = (namespace: string, kind: string, name: string): string =>
  kind === 'HorizontalPodAutoscaler' ? `about/${namespace}/autoscalers` : `about/${namespace}/${kind}/${name}`;
