/** What a watch has counted so far, by workload: for its table and its summary. Bounded. */
import type { Pod } from '../model/kube.ts';
import { familyOf } from '../output/pod-facts.ts';
import type { Workload } from '../infer/timeline.ts';
import { plural } from '../verdict/words.ts';
import type { ContainerEnd } from './container-ends.ts';

/** Workloads that are counted apart; all others together. */
const mostWorkloads = 2000;
const otherWorkloads = 'other';

export interface WorkloadCounts {
  readonly namespace: string;
  /** `deployment/checkout`. */
  readonly workload: string;
  exits: number;
  /** Exits that were not graceful, and ends of containers that were not wanted. */
  bad: number;
  readonly outcomes: Map<string, number>;
}

export interface PlaceOfExit {
  readonly namespace: string;
  readonly workload: string;
}

/** Where a pod belongs: its Deployment rather than its ReplicaSet. `known`: as the trace of its exit says. */
export function workloadOfPod(pod: Pod, known?: Workload): PlaceOfExit {
  const [namespace = '', kind = '', name = ''] = familyOf(pod).split('/');
  const workload = known ?? { kind, name: kind === 'Pod' ? '' : name };
  // Pods without a controller have names of their own: each would be a label of its own.
  const text = workload.name === '' ? 'pod' : `${workload.kind.toLowerCase()}/${workload.name}`;
  return { namespace, workload: text };
}

/** Ends that nobody needs to look at. */
export const isFine = (outcome: string): boolean => ['graceful', 'removed', 'completed', 'signalled'].includes(outcome);

export function createExitCounts() {
  const workloads = new Map<string, WorkloadCounts>();
  const outcomes = new Map<string, number>();
  let [exits, ends, gaps, dropped, unseen] = [0, 0, 0, 0, 0];
  const countsOf = ({ namespace, workload }: PlaceOfExit): WorkloadCounts => {
    const isKnown = workloads.has(`${namespace}/${workload}`) || workloads.size < mostWorkloads;
    const place = isKnown ? { namespace, workload } : { namespace: '', workload: otherWorkloads };
    const key = `${place.namespace}/${place.workload}`;
    const known = workloads.get(key) ?? { ...place, exits: 0, bad: 0, outcomes: new Map<string, number>() };
    workloads.set(key, known);
    return known;
  };
  const count = (place: PlaceOfExit, outcome: string): void => {
    const own = countsOf(place);
    own.exits += 1;
    if (!isFine(outcome)) own.bad += 1;
    own.outcomes.set(outcome, (own.outcomes.get(outcome) ?? 0) + 1);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  };
  return {
    exit: (place: PlaceOfExit, outcome: string): void => void ((exits += 1), count(place, outcome)),
    end: (place: PlaceOfExit, { outcome }: ContainerEnd): void => void ((ends += 1), count(place, outcome)),
    gap: (): void => void (gaps += 1),
    dropped: (): void => void (dropped += 1),
    /** A pod is gone, and its termination was not observed. */
    unseen: (place: PlaceOfExit): void => void ((unseen += 1), count(place, 'unknown')),
    /** The workloads with the most bad exits. */
    worst: (most: number): WorkloadCounts[] =>
      [...workloads.values()]
        .filter(({ bad }) => bad > 0)
        .sort((a, b) => b.bad - a.bad || b.exits - a.exits)
        .slice(0, most),
    numbers: () => ({
      exits,
      containerEnds: ends,
      workloads: workloads.size,
      outcomes: Object.fromEntries([...outcomes].sort((a, b) => b[1] - a[1])),
      unseen,
      gaps,
      dropped,
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
