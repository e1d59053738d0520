import type { Pod } from '../kube.ts';
import { conditionOf, isReady } from '../pod.ts';
import type { SiblingFacts, Trace } from '../trace.ts';
import type { Seen } from './notes.ts';
import { factOf, note, withEntry } from './notes.ts';

/** More siblings than this are not told apart: a replacement is among the first to come. */
const mostSiblings = 4096;

/** How a sibling was told: seen to come, or in the first list, before anything was asked or after it. */
export type Coming = 'came' | 'was-there' | 'listed-late';

/** A pod of the same owner, or the successor of the same name. */
export function foldSibling(trace: Trace, pod: Pod, seen: Seen, coming: Coming): Trace {
  const old = coming === 'was-there';
  const { uid } = pod.metadata;
  if (uid === '' || uid === trace.uid) return trace;
  const known = trace.siblings.get(uid);
  if (known?.old || (!known && trace.siblings.size >= mostSiblings)) return trace;
  const facts: SiblingFacts = known ?? { pod, seen: factOf(true, seen), old, listedFirst: coming === 'listed-late' };
  const next: SiblingFacts = {
    ...facts,
    ...((facts.scheduled ?? conditionOf(pod, 'PodScheduled')?.status !== 'True')
      ? {}
      : { scheduled: factOf(true, seen) }),
    ...((facts.ready ?? !isReady(pod)) ? {} : { ready: factOf(true, seen) }),
  };
  if (known && next.ready === known.ready && next.scheduled === known.scheduled) return trace;
  const kept = { ...trace, siblings: withEntry(trace.siblings, uid, next) };
  return old ? kept : note(kept, seen, `pod ${pod.metadata.name} (${uid}) ${next.ready ? 'is ready' : 'is there'}`);
}
