/** Pods that were created lately, by workload: the possible replacements of a pod that terminates. */
import type { Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import { familyOf } from '../output/pod-facts.ts';
import { updateSibling } from '../model/reduce/siblings.ts';
import { emptyTrace, type SiblingFacts, type Trace } from '../model/trace.ts';

/** ms. A rollout creates a pod at most as long before it deletes another. */
const recentMs = 2 * 60_000;
const sweepMs = 10_000;
/** Pods of one workload; a rollout with a larger surge names fewer replacements. */
const mostOfWorkload = 200;

export function createRecentPods() {
  const families = new Map<string, Map<string, SiblingFacts>>();
  const taken = new Set<string>();
  let isListed = false;
  let sweptAt = -Infinity;
  const sweep = (now: number): void => {
    if (now - sweptAt < sweepMs) return;
    sweptAt = now;
    for (const [family, pods] of families) {
      for (const [uid, { seen }] of pods) if (seen.at < now - recentMs) pods.delete(uid);
      if (pods.size === 0) families.delete(family);
    }
    const kept = new Set([...families.values()].flatMap((pods) => [...pods.keys()]));
    for (const uid of taken) if (!kept.has(uid)) taken.delete(uid);
  };
  const fold = (pod: Pod, o: Observation, isNew: boolean): void => {
    const family = familyOf(pod);
    const pods = families.get(family) ?? new Map<string, SiblingFacts>();
    const known = pods.get(pod.metadata.uid);
    if (!known && (!isNew || pods.size >= mostOfWorkload)) return;
    const facts = updateSibling(undefined, known, { pod, seen: o, arrival: 'created' });
    if (facts) families.set(family, pods.set(pod.metadata.uid, facts));
  };
  return {
    take(o: Observation): void {
      sweep(o.at);
      if (o.kind === 'changed' && o.object.kind === 'Pod') {
        if (o.change === 'DELETED') families.get(familyOf(o.object))?.delete(o.object.metadata.uid);
        else fold(o.object, o, o.change === 'ADDED');
      }
      // Which of the pods of a later list are new is not known: none of them counts as a replacement.
      isListed ||= o.kind === 'listed' && o.stream === 'pods';
    },
    /** The pod `uid` is the replacement of a reported pod, and so of no other. */
    name: (uid: string): void => void taken.add(uid),
    /**
     * The trace with the recent pods of its workload. They are not all its siblings, so a replacement that is not among
     * them is unknown, not missing.
     */
    in(trace: Trace): Trace {
      const pod = trace.pod?.value;
      const siblings = (pod && isListed ? families.get(familyOf(pod)) : undefined) ?? emptyTrace.siblings;
      return { ...trace, siblings, siblingsKnown: false, newSiblingCount: siblings.size, taken };
    },
  };
}
