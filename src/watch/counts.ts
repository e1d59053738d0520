/**
 * What a watch counts: exits by workload, for its table and its summary, bounded; the ready endpoints of each Service, and
 * for how long a Service had none. Pure: its clock is the log's.
 */
import type { Pod, EndpointSlice } from '../model/kube.ts';
import { familyOf } from '../output/pod-facts.ts';
import type { Workload } from '../infer/timeline.ts';
import { plural } from '../verdict/words.ts';
import type { Observation } from '../model/observation.ts';

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

type Endpoint = EndpointSlice['endpoints'][number];

interface ServiceState {
  readonly namespace: string;
  readonly service: string;
  readonly slices: Map<string, readonly Endpoint[]>;
  /** Client ms since which time without a ready endpoint is not counted yet; undefined: it has one, or never had one. */
  uncountedSince?: number | undefined;
  emptySince?: number | undefined;
  hadReady: boolean;
}

export type ServiceReady = ReturnType<ReturnType<typeof createServices>['fewestReady']>[number];

/** `onNoReady`: this Service had no ready endpoint for so many further ms. `owns`: whether a namespace is this process's. */
export function createServices(
  onNoReady: (namespace: string, service: string, ms: number) => void,
  owns: (namespace: string) => boolean = () => true,
) {
  const services = new Map<string, ServiceState>();
  const count = (state: ServiceState, at: number): void => {
    const { namespace, service, uncountedSince, emptySince } = state;
    // After a minute without any endpoint it counts as scaled to zero: neither that nor its next start is an outage.
    if (emptySince !== undefined && at >= emptySince + 60_000)
      Object.assign(state, { uncountedSince: undefined, hadReady: false });
    // While all its pods terminate, it may be on its way to zero: what follows decides.
    else if (uncountedSince !== undefined && endpointsOf(state).some(mayServe)) {
      onNoReady(namespace, service, at - uncountedSince);
      state.uncountedSince = at;
    }
  };
  const take = ({ metadata, endpoints }: EndpointSlice, at: number, { isGone = false, isListed = false }): void => {
    const service = metadata.labels?.['kubernetes.io/service-name'];
    const { namespace = '' } = metadata;
    if (service === undefined || !owns(namespace)) return;
    const key = `${namespace}/${service}`;
    const state: ServiceState = services.get(key) ?? { namespace, service, slices: new Map(), hadReady: false };
    if (isGone) state.slices.delete(metadata.name);
    else state.slices.set(metadata.name, endpoints);
    services.set(key, state);
    if (!isListed) settle(key, state, at);
  };
  const settle = (key: string, state: ServiceState, at: number): void => {
    count(state, at);
    const endpoints = endpointsOf(state);
    const hasReady = endpoints.some(isReady);
    state.hadReady ||= hasReady;
    state.uncountedSince = hasReady || !state.hadReady ? undefined : (state.uncountedSince ?? at);
    state.emptySince = endpoints.length > 0 ? undefined : (state.emptySince ?? at);
    if (state.slices.size === 0) services.delete(key);
  };
  /** What happened while the stream was lost is not known, and not counted. */
  const skip = (lostAt: number, at: number): void =>
    services.forEach((state) => {
      count(state, Math.max(lostAt, state.uncountedSince ?? lostAt));
      state.uncountedSince &&= at;
    });
  return {
    take(o: Observation): void {
      if (!('stream' in o) || o.stream !== 'endpointslices') return;
      if (o.kind === 'gap' || o.kind === 'resumed') skip(o.kind === 'gap' ? o.from : o.since, o.at);
      if (o.kind === 'changed' && o.object.kind === 'EndpointSlice')
        take(o.object, o.at, { isGone: o.change === 'DELETED' });
      if (o.kind !== 'listed') return;
      // A list is the whole state: what it does not have is gone.
      for (const { slices } of services.values()) slices.clear();
      for (const object of o.objects) if (object.kind === 'EndpointSlice') take(object, o.at, { isListed: true });
      for (const [key, state] of services) settle(key, state, o.at);
    },
    /** Counts up to now, client ms: for a scrape. */
    countTo: (now: number): void => services.forEach((state) => count(state, now)),
    fewestReady: (most: number) =>
      [...services.values()]
        .filter(({ hadReady }) => hadReady)
        .map((state) => ({ ...state, ready: endpointsOf(state).filter(isReady).length }))
        .sort((a, b) => a.ready - b.ready)
        .slice(0, most),
  };
}

const endpointsOf = ({ slices }: ServiceState): Endpoint[] => [...slices.values()].flat();

const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready ?? true;

/** Those of terminating pods never become ready again. */
const mayServe = ({ conditions }: Endpoint): boolean => conditions?.terminating !== true;
