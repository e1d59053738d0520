/** What all pods of a run over several share, kept once: the pods that may replace them, and the requests that were sent. */
import type { KubeObject, Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import { siblingAfter, type Coming } from '../model/reduce/siblings.ts';
import { emptyTrace, type SiblingFacts, type Trace, type ProbeFacts } from '../model/trace.ts';
import { reduce } from '../model/reduce.ts';

interface SharedSiblings {
  take(observation: Observation): void;
  /** The pod of this uid is named as a replacement: it is no other pod's. */
  name(uid: string): void;
  /** A pod's trace, with all pods of the run as they are known by now: it is one of them itself. */
  in(trace: Trace): Trace;
}

export function createSharedSiblings(): SharedSiblings {
  const siblings = new Map<string, SiblingFacts>();
  let areListed = false;
  let isPartial = false;
  let newcomers = 0;
  let taken: ReadonlySet<string> = new Set();
  const fold = (pod: Pod, o: Observation, coming: Coming): void => {
    const known = siblings.get(pod.metadata.uid);
    const next = siblingAfter(undefined, known, { pod, seen: o, coming });
    if (!next) return;
    if (!known && coming === 'came') newcomers += 1;
    siblings.set(pod.metadata.uid, next);
  };
  return {
    take(o) {
      // A node's pods are replaced on other nodes, which are not watched.
      if (o.kind === 'began') isPartial = o.target?.startsWith('node/') ?? false;
      if (o.kind === 'changed' && o.stream === 'pods' && o.change !== 'DELETED')
        podsIn([o.object]).forEach((pod) => fold(pod, o, 'came'));
      if (o.kind !== 'listed' || o.stream !== 'pods') return;
      // A pod in the first list existed when the run began; its stamps show whether before a deletion.
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
  /** Whether it was about a probe. */
  take(observation: Observation): boolean;
  /** All of them, by their number. */
  all(): ReadonlyMap<number, ProbeFacts>;
  /** The trace of the pod `uid`, with the probes that ask it, or none of the pods. */
  in(trace: Trace, uid: string): Trace;
}

export function createSharedProbes(): SharedProbes {
  let { probes } = emptyTrace;
  return {
    take(o) {
      const isAbout = o.kind === 'probe-started' || o.kind === 'probe-counts' || o.kind === 'probe-ended';
      if (isAbout) ({ probes } = reduce({ ...emptyTrace, probes }, o));
      return isAbout;
    },
    all: () => probes,
    in(trace, uid) {
      if (probes.size === 0) return trace;
      const since = trace.deletion?.seenAt ?? -Infinity;
      const own = [...probes].filter(([, { started }]) => [undefined, uid].includes(started.value.pod));
      return {
        ...trace,
        probes: new Map(own.map(([probe, facts]) => [probe, { ...facts, slices: sliceSince(facts, since) }])),
      };
    },
  };
}

/** What failed before this pod was deleted is another's loss. */
const sliceSince = ({ slices, started }: ProbeFacts, since: number): ProbeFacts['slices'] =>
  started.value.pod === undefined ? slices.filter(({ at }) => at >= since) : slices;
