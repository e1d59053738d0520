/** Facts that the pods of a run over several pods share: possible replacements, and the probes' requests. */
import type { ObservedObject, Pod } from '../../model/kube.ts';
import type { Observation } from '../../model/observation.ts';
import { updateSibling, type SiblingArrival } from '../../model/reduce/siblings.ts';
import { emptyTrace, type SiblingFacts, type Trace, type ProbeFacts } from '../../model/trace.ts';
import { reduce } from '../../model/reduce.ts';

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
    /** All probes, by number. */
    all: (): ReadonlyMap<number, ProbeFacts> => probes,
    /** The trace of the pod `uid`, with the probes of this pod and those of no particular pod. */
    in(trace: Trace, uid: string): Trace {
      if (probes.size === 0) return trace;
      const since = trace.deletion?.seenAt ?? -Infinity;
      const own = [...probes].filter(([, { started }]) => [undefined, uid].includes(started.value.pod));
      return {
        ...trace,
        probes: new Map(own.map(([probe, facts]) => [probe, { ...facts, slices: slicesSince(facts, since) }])),
      };
    },
  };
}

/** Failures before this pod's deletion belong to another pod. */
const slicesSince = ({ slices, started }: ProbeFacts, since: number): ProbeFacts['slices'] =>
  started.value.pod === undefined ? slices.filter(({ at }) => at >= since) : slices;
