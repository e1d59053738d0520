/** Facts that the pods of a run over several pods share: possible replacements, and the probes' requests. */
import type { KubeObject, Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import { updateSibling, type SiblingArrival } from '../model/reduce/siblings.ts';
import { emptyTrace, type SiblingFacts, type Trace, type ProbeFacts } from '../model/trace.ts';
import { reduce } from '../model/reduce.ts';

interface SharedSiblings {
  take(observation: Observation): void;
  /** The pod `uid` is the replacement of a reported pod, and so of no other. */
  name(uid: string): void;
  /** The trace with the current siblings: all pods of the run, including the traced pod itself. */
  in(trace: Trace): Trace;
}

export function createSharedSiblings(): SharedSiblings {
  const siblings = new Map<string, SiblingFacts>();
  let areListed = false;
  let isPartial = false;
  let newcomers = 0;
  let taken: ReadonlySet<string> = new Set();
  const fold = (pod: Pod, o: Observation, coming: SiblingArrival): void => {
    const known = siblings.get(pod.metadata.uid);
    const next = updateSibling(undefined, known, { pod, seen: o, coming });
    if (!next) return;
    if (!known && coming === 'came') newcomers += 1;
    siblings.set(pod.metadata.uid, next);
  };
  return {
    take(o) {
      // The pods of a node are replaced on other nodes, which are not watched.
      if (o.kind === 'began') isPartial = o.target?.startsWith('node/') ?? false;
      if (o.kind === 'changed' && o.stream === 'pods' && o.change !== 'DELETED')
        podsIn([o.object]).forEach((pod) => fold(pod, o, 'came'));
      if (o.kind !== 'listed' || o.stream !== 'pods') return;
      // A pod in the first list existed when the run began; its timestamps show whether it is older than a deletion.
      for (const pod of podsIn(o.objects)) fold(pod, o, areListed ? 'came' : 'listed-late');
      areListed = true;
    },
    name: (uid) => void (taken = new Set([...taken, uid])),
    in: (trace) => ({ ...trace, siblings, siblingsKnown: areListed && !isPartial, newcomers, taken }),
  };
}

const podsIn = (objects: readonly KubeObject[]): Pod[] =>
  objects.flatMap((object) => (object.kind === 'Pod' ? [object] : []));

export interface SharedProbes {
  /** Returns whether the observation was about a probe. */
  take(observation: Observation): boolean;
  /** All probes, by number. */
  all(): ReadonlyMap<number, ProbeFacts>;
  /** The trace of the pod `uid`, with the probes of this pod and those of no particular pod. */
  in(trace: Trace, uid: string): Trace;
}

export function createSharedProbes(): SharedProbes {
  let { probes } = emptyTrace;
  return {
    take(o) {
      const isAboutProbe = o.kind === 'probe-started' || o.kind === 'probe-counts' || o.kind === 'probe-ended';
      if (isAboutProbe) ({ probes } = reduce({ ...emptyTrace, probes }, o));
      return isAboutProbe;
    },
    all: () => probes,
    in(trace, uid) {
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
