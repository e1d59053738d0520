/** What a watch has counted so far, by workload: for its table and its summary. Bounded. */
import type { Pod } from '../model/kube.ts';
import { familyOf } from '../output/pod-facts.ts';
import type { Workload } from '../infer/timeline.ts';
import { plural } from '../verdict/words.ts';

export interface PlaceOfExit {
  readonly namespace: string;
  /** `deployment/checkout`. */
  readonly workload: string;
}

export interface WorkloadCounts extends PlaceOfExit {
  exits: number;
  /** Exits that were not graceful, and ends of containers that were not wanted. */
  bad: number;
  readonly outcomes: Map<string, number>;
}

/** Where a pod belongs: its Deployment rather than its ReplicaSet. `known`: what its owners say. */
export function workloadOfPod(pod: Pod, known?: Pick<Workload, 'kind' | 'name'>): PlaceOfExit {
  const [, ownKind = '', ownName = ''] = familyOf(pod).split('/');
  const { kind, name } = known ?? { kind: ownKind, name: ownName };
  // Each run of a Job, and each pod without a controller, has a name of its own, and would be a label of its own.
  const parts = kind === 'Job' || kind === 'Pod' ? [kind] : [kind, name];
  const [word = '', ...names] = parts.map((part) => part.replace(/[^\w.:-]/g, '-').slice(0, 253));
  return { namespace: pod.metadata.namespace ?? '', workload: [word.toLowerCase(), ...names].join('/') };
}

/** What can be left out within bounds. */
export type Droppable = 'exits' | 'recordings' | 'traces' | 'events' | 'lines';

export const isFine = (outcome: string): boolean =>
  ['graceful', 'removed', 'not-started', 'completed', 'signalled'].includes(outcome);

export function createExitCounts() {
  const workloads = new Map<string, WorkloadCounts>();
  /** Of pods. */
  const outcomes = new Map<string, number>();
  const totals = { exits: 0, containerEnds: 0, unseen: 0, gaps: 0, dropped: 0 };
  const countsOf = ({ namespace, workload }: PlaceOfExit): WorkloadCounts => {
    // Beyond 2000 they are counted together.
    const isKnown = workloads.has(`${namespace}/${workload}`) || workloads.size < 2000;
    const place = isKnown ? { namespace, workload } : { namespace: '', workload: 'other' };
    const key = `${place.namespace}/${place.workload}`;
    const known = workloads.get(key) ?? { ...place, exits: 0, bad: 0, outcomes: new Map<string, number>() };
    workloads.set(key, known);
    return known;
  };
  const count = (what: 'exits' | 'containerEnds' | 'unseen', place: PlaceOfExit, outcome: string): void => {
    const own = countsOf(place);
    totals[what] += 1;
    own.exits += 1;
    if (!isFine(outcome)) own.bad += 1;
    for (const counts of what === 'containerEnds' ? [own.outcomes] : [own.outcomes, outcomes])
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  };
  return {
    exit: ({ kind, place, outcome }: { kind: 'pod' | 'container'; place: PlaceOfExit; outcome: string }): void =>
      count(kind === 'pod' ? 'exits' : 'containerEnds', place, outcome),
    unseen: (place: PlaceOfExit): void => count('unseen', place, 'unknown'),
    gap: (): void => void (totals.gaps += 1),
    dropped: (what: Droppable): void => void (totals.dropped += what === 'exits' ? 1 : 0),
    worst: (most: number): WorkloadCounts[] =>
      [...workloads.values()]
        .filter(({ bad }) => bad > 0)
        .sort((a, b) => b.bad - a.bad || b.exits - a.exits)
        .slice(0, most),
    numbers: () => ({
      ...totals,
      workloads: workloads.size,
      outcomes: Object.fromEntries([...outcomes].sort((a, b) => b[1] - a[1])),
    }),
  };
}

export type ExitNumbers = ReturnType<ReturnType<typeof createExitCounts>['numbers']>;

/** `312 exits of 14 workloads: 300 graceful, 8 killed; 4 containers ended in pods that stayed`. `open`: pods in flight. */
export function summaryText(numbers: ExitNumbers, open: number): string {
  const { exits, containerEnds, workloads, outcomes, unseen, gaps, dropped } = numbers;
  const counts = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  const many = (count: number, text: string): string[] => (count > 0 ? [text] : []);
  return [
    `${plural(exits, 'exit')} of ${plural(workloads, 'workload')}${counts.length > 0 ? `: ${counts.join(', ')}` : ''}`,
    ...many(containerEnds, `${plural(containerEnds, 'container')} ended in pods that stayed`),
    ...many(unseen, `${plural(unseen, 'pod')} disappeared while nothing could be observed`),
    ...many(gaps, `${plural(gaps, 'gap')} in what was observed`),
    ...many(dropped, `${plural(dropped, 'exit')} not traced: too many at once`),
    ...many(open, `${plural(open, 'pod')} still terminating: not counted`),
  ].join('; ');
}
