/**
 * What the table of several pods shows beside those that terminate: how many there were, the pods that take their place, and
 * the ready endpoints of each Service. It is read from all observations of the run. Times are ms, client's clock.
 */
import type { EndpointSlice, ObservedObject, Owner, Pod } from '../../model/kube.ts';
import type { Observation } from '../../model/observation.ts';
import type { Event } from '../../model/observe/event.ts';
import { conditionOf, controllerOf, hasRunning, isFinished, isMirror, isReady, statusesOf } from '../../model/pod.ts';
import type { Ink } from '../palette.ts';
import { familyOf } from '../pod-facts.ts';

/** A pod that takes the place of one that terminates. */
export interface NewPod {
  readonly name: string;
  readonly seenAt: number;
  /** `ready`, `started, not ready`, `not scheduled: FailedScheduling (3 times)`. Unescaped. */
  readonly step: string;
  readonly ink: Ink;
  readonly isReady: boolean;
}

/** Ready endpoints of a Service. */
export interface ServiceCounts {
  readonly name: string;
  readonly now: number;
  readonly fewest: number;
  /** The replicas of the workload; undefined if the Service has other pods too. */
  readonly wanted: number | undefined;
}

export interface RolloutFacts {
  /** How many pods terminate if the rollout completes; undefined until the pods are listed. */
  readonly oldPods: number | undefined;
  readonly newPods: readonly NewPod[];
  readonly services: readonly ServiceCounts[];
}

interface KnownPod {
  readonly pod: Pod;
  readonly seenAt: number;
  readonly isOld: boolean;
  /** The newest Event that says why it is not ready, and what the pod was doing then. */
  readonly event?: { readonly step: Step; readonly reason: string; readonly count: number };
}

export function createRolloutFacts() {
  const pods = createPods();
  const endpoints = createEndpoints();
  const take = (o: Observation): void => {
    pods.take(o);
    endpoints.take(o);
  };
  return {
    /** Takes what arrived together: between two changes of one moment, a Service may seem to lose endpoints. */
    take(observations: readonly Observation[]): void {
      observations.forEach(take);
      endpoints.count();
    },
    facts: (): RolloutFacts => ({ ...pods.facts(), services: endpoints.services(pods.has) }),
  };
}

function createPods() {
  const pods = new Map<string, KnownPod>();
  /** Those of the old pods. */
  const workloads = new Set<string>();
  let target = '';
  let oldPods: number | undefined;

  const takePod = (pod: Pod, seenAt: number, isOld = false): void => {
    const { uid } = pod.metadata;
    pods.set(uid, { seenAt, isOld, ...pods.get(uid), pod });
  };
  const takeList = (listed: readonly Pod[], at: number): void => {
    const uids = new Set(listed.map(({ metadata }) => metadata.uid));
    for (const uid of pods.keys()) if (!uids.has(uid)) pods.delete(uid);
    const isFirst = oldPods === undefined;
    for (const pod of listed) {
      const isOld = isFirst && isReplaced(pod, listed, target);
      takePod(pod, at, isOld);
      if (isOld) workloads.add(familyOf(pod));
    }
    oldPods ??= [...pods.values()].filter(({ isOld }) => isOld).length;
  };
  const takeEvent = ({ type, reason, count, involvedObject }: Event): void => {
    const known = pods.get(involvedObject.uid ?? '');
    if (!known || (type !== 'Warning' && reason !== 'Pulling')) return;
    pods.set(known.pod.metadata.uid, { ...known, event: { step: stepOf(known.pod), reason, count } });
  };
  /** Pods of a node are replaced on other nodes, which are not watched. */
  const isNew = ({ pod, isOld }: KnownPod): boolean =>
    !isOld &&
    pod.metadata.deletionTimestamp === undefined &&
    !isFinished(pod) &&
    !target.startsWith('node/') &&
    workloads.has(familyOf(pod));
  return {
    take(o: Observation): void {
      if (o.kind === 'began') target = o.target ?? '';
      if (o.kind === 'listed' && o.stream === 'pods') takeList(o.objects.filter(isPod), o.at);
      if (o.kind !== 'changed') return;
      if (o.object.kind === 'Event') takeEvent(o.object);
      if (!isPod(o.object)) return;
      if (o.change === 'DELETED') pods.delete(o.object.metadata.uid);
      else takePod(o.object, o.at);
    },
    has: (uid: string): boolean => pods.has(uid),
    facts: () => ({ oldPods, newPods: [...pods.values()].filter(isNew).map(newPodOf) }),
  };
}

const isPod = (object: ObservedObject): object is Pod => object.kind === 'Pod';

function createEndpoints() {
  const owners = new Map<string, Owner>();
  const slices = new Map<string, EndpointSlice>();
  const fewest = new Map<string, number>();
  const takeObject = (object: ObservedObject, isDeleted = false): void => {
    const { uid } = object.metadata;
    if (object.kind === 'EndpointSlice') return void (isDeleted ? slices.delete(uid) : slices.set(uid, object));
    if (isTopOwner(object)) return void (isDeleted ? owners.delete(uid) : owners.set(uid, object));
  };
  /** The uids of the ready endpoints of each Service. */
  const readyByService = (): Map<string, Set<string>> => {
    const ready = new Map<string, Set<string>>();
    for (const { metadata, endpoints } of slices.values()) {
      const service = metadata.labels?.['kubernetes.io/service-name'];
      if (service === undefined) continue;
      const own = ready.get(service) ?? new Set();
      for (const { targetRef, conditions = {} } of endpoints)
        if (conditions.ready ?? true) own.add(targetRef?.uid ?? '');
      ready.set(service, own);
    }
    return ready;
  };
  /** The replicas of the only workload; undefined if there are several. */
  const wanted = (): number | undefined => {
    const [owner, another] = [...owners.values()];
    return another ? undefined : (owner?.spec.replicas ?? owner?.status.desiredNumberScheduled);
  };
  return {
    take(o: Observation): void {
      if (o.kind === 'changed') takeObject(o.object, o.change === 'DELETED');
      if (o.kind !== 'listed') return;
      if (o.stream === 'endpointslices') slices.clear();
      o.objects.forEach((object) => takeObject(object));
    },
    count(): void {
      for (const [service, { size }] of readyByService())
        fewest.set(service, Math.min(size, fewest.get(service) ?? Infinity));
    },
    /** `isOfRun`: whether a pod of this uid belongs to the run. */
    services: (isOfRun: (uid: string) => boolean): ServiceCounts[] =>
      [...readyByService()].map(([name, ready]) => ({
        name,
        now: ready.size,
        fewest: fewest.get(name) ?? ready.size,
        wanted: [...ready].every(isOfRun) ? wanted() : undefined,
      })),
  };
}

const isTopOwner = (object: ObservedObject): object is Owner =>
  ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'].includes(object.kind) && !controllerOf(object);

const revisionOf = ({ metadata: { labels } }: Pod): string =>
  labels?.['pod-template-hash'] ?? labels?.['controller-revision-hash'] ?? '';

/** Whether a pod of the first list will terminate. If the rollout has begun, the pods of the newest revision stay. */
function isReplaced(pod: Pod, listed: readonly Pod[], target: string): boolean {
  if (isFinished(pod)) return false;
  if (target.startsWith('pod/')) return target.split(' ').includes(`pod/${pod.metadata.name}`);
  // `kubectl drain` leaves these where they are.
  if (target.startsWith('node/')) return !isMirror(pod) && controllerOf(pod)?.kind !== 'DaemonSet';
  const own = listed.filter((one) => !isFinished(one) && familyOf(one) === familyOf(pod));
  if (new Set(own.map(revisionOf)).size < 2) return true;
  const created = (one: Pod): string => one.metadata.creationTimestamp ?? '';
  const newest = own.reduce((latest, one) => (created(one) > created(latest) ? one : latest));
  return revisionOf(pod) !== revisionOf(newest);
}

type Step = 'not scheduled' | 'starting' | 'started, not ready' | 'ready';

function stepOf(pod: Pod): Step {
  if (isReady(pod)) return 'ready';
  if (hasRunning(pod)) return 'started, not ready';
  return conditionOf(pod, 'PodScheduled')?.status === 'True' || pod.spec.nodeName !== undefined
    ? 'starting'
    : 'not scheduled';
}

const inks: Record<Step, Ink> = {
  'not scheduled': 'warning',
  starting: 'plain',
  'started, not ready': 'plain',
  ready: 'good',
};

/** Waiting reasons of containers that start as they should. */
const usualReasons: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

function newPodOf({ pod, seenAt, event }: KnownPod): NewPod {
  const step = stepOf(pod);
  const waiting = statusesOf(pod).flatMap(({ name, state }) => {
    const reason = state?.waiting?.reason;
    return reason === undefined || usualReasons.has(reason) ? [] : [`${name} ${reason}`];
  });
  const why = step === 'ready' ? undefined : (waiting[0] ?? (event?.step === step ? eventText(event) : undefined));
  const ink = waiting.length > 0 && step !== 'ready' ? 'bad' : inks[step];
  const text = why === undefined ? step : `${step}: ${why}`;
  return { name: pod.metadata.name, seenAt, step: text, ink, isReady: step === 'ready' };
}

const eventText = ({ reason, count }: { reason: string; count: number }): string =>
  count > 1 ? `${reason} (${count} times)` : reason;
