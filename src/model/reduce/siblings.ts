import type { Pod } from '../kube.ts';
import { conditionOf, isReady, statusesOf } from '../pod.ts';
import type { Seen, SiblingFacts, Trace } from '../trace.ts';
import { factOf, addNote } from './notes.ts';

/**
 * How a sibling was first seen: created during the run (`created`; `took-name`: on the traced pod's stream, with the same
 * name), or in the first list, from before (`existed`) or after (`listed-late`) the first request.
 */
export type SiblingArrival = 'created' | 'took-name' | 'existed' | 'listed-late';

/** Adds a whole list at once: copying the map for each of 4000 pods would take a second. */
export function foldSiblings(trace: Trace, pods: readonly Pod[], seen: Seen, arrival: SiblingArrival): Trace {
  let siblings: Map<string, SiblingFacts> | undefined;
  let news: string | undefined;
  let newSiblingCount = trace.newSiblingCount;
  for (const pod of pods) {
    const known = (siblings ?? trace.siblings).get(pod.metadata.uid);
    const isNewSibling = !known && arrival === 'created';
    // A replacement is among the first. Pods of the first list do not count: a DaemonSet may have 5000.
    if (isNewSibling && newSiblingCount >= 4096) continue;
    const next = updateSibling(trace.uid, known, { pod, seen, arrival });
    if (!next) continue;
    if (isNewSibling) newSiblingCount += 1;
    siblings ??= new Map(trace.siblings);
    siblings.set(pod.metadata.uid, next);
    if (!next.old) news ??= `pod ${pod.metadata.name} (${pod.metadata.uid}) ${progressText(next)}`;
  }
  if (!siblings) return trace;
  const kept = { ...trace, siblings, newSiblingCount };
  return news === undefined ? kept : addNote(kept, seen, news);
}

/** The facts about a pod after one more state. Undefined if it is the traced pod, or nothing is new. */
export function updateSibling(
  traced: string | undefined,
  known: SiblingFacts | undefined,
  { pod, seen, arrival }: { pod: Pod; seen: Seen; arrival: SiblingArrival },
): SiblingFacts | undefined {
  const { uid } = pod.metadata;
  if (uid === '' || uid === traced || known?.old) return undefined;
  const progress = progressOf(pod, seen);
  const held = holdOf(pod);
  const isHeldAnew = held !== undefined && held !== known?.held?.value;
  if (known && !isHeldAnew && !hasNews(known, pod, progress)) return undefined;
  const old = arrival === 'existed';
  const facts: SiblingFacts = known ?? { pod, seen: factOf(true, seen), old, listedFirst: arrival === 'listed-late' };
  return {
    ...progress,
    ...facts,
    held: isHeldAnew ? factOf(held, seen) : facts.held,
    node: facts.node ?? pod.spec.nodeName,
    onPodStream: arrival === 'took-name' ? [...(facts.onPodStream ?? []), seen.seq] : facts.onPodStream,
  };
}

const hasNews = (known: SiblingFacts, { spec }: Pod, progress: Progress): boolean =>
  (known.node === undefined && spec.nodeName !== undefined) ||
  steps.some((step) => known[step] === undefined && progress[step] !== undefined);

const steps = ['scheduled', 'started', 'ready'] as const;

type Progress = Pick<SiblingFacts, (typeof steps)[number]>;

/** The progress that this state shows; earlier facts keep their first observation. */
function progressOf(pod: Pod, seen: Seen): Progress {
  const scheduled = conditionOf(pod, 'PodScheduled');
  const started = startOf(pod);
  return {
    ...(scheduled?.status === 'True' ? { scheduled: factOf(scheduled.lastTransitionTime, seen) } : {}),
    ...(started ? { started: factOf(started, seen) } : {}),
    ...(isReady(pod) ? { ready: factOf(true, seen) } : {}),
  };
}

/** What keeps it from being scheduled or started: reasons of the scheduler and the kubelet. */
function holdOf(pod: Pod): string | undefined {
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status === 'False') return scheduled.reason;
  const waiting = statusesOf(pod).flatMap(({ state }) => state.waiting?.reason ?? []);
  return waiting.find((reason) => !['ContainerCreating', 'PodInitializing'].includes(reason));
}

/** When the last main container started. Undefined unless all run; without `at` if one does not say when. */
function startOf({ spec, status: { containerStatuses = [] } }: Pod) {
  const running = containerStatuses.flatMap(({ state }) => state.running ?? []);
  if (running.length === 0 || running.length !== spec.containers.length) return undefined;
  const starts = running.flatMap(({ startedAt }) => startedAt ?? []).sort();
  return { at: starts.length === running.length ? starts.at(-1) : undefined, node: spec.nodeName };
}

function progressText({ scheduled, started, ready, held }: SiblingFacts): string {
  if (ready) return 'is ready';
  if (held && held.seq > (started?.seq ?? scheduled?.seq ?? 0)) return `waits: ${held.value}`;
  return started ? 'has started' : scheduled ? 'is scheduled' : 'is there';
}
