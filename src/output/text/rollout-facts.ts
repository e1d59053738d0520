/** What the table of several pods shows beside those that terminate, from all observations. Times: ms, client's clock. */
import type { EndpointSlice, ObservedObject, Owner, Pod, Event } from '../../model/kube.ts';
import type { Observation, StreamName } from '../../model/observation.ts';
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
  /** The replicas of the only workload; undefined if the Service has other pods too. */
  readonly wanted: number | undefined;
}

export interface RolloutFacts {
  /** How many pods terminate if the rollout completes; undefined until the pods are listed. */
  readonly oldPods: number | undefined;
  readonly newPods: readonly NewPod[];
  readonly services: readonly ServiceCounts[];
}

/** An object as it was seen last. */
interface Known<T extends ObservedObject = Pod | EndpointSlice | Owner> {
  readonly object: T;
  /** When it was seen first. */
  readonly seenAt: number;
  /** Of a pod: the newest Event that says why it is not ready, and what the pod was doing then. */
  readonly event?: { readonly step: Step; readonly reason: string; readonly count: number };
}

/** What is gone if a list of this stream does not have it. */
const listedKinds: Partial<Record<StreamName, ObservedObject['kind']>> = {
  pods: 'Pod',
  endpointslices: 'EndpointSlice',
};

export function createRolloutFacts() {
  /** By uid. */
  const known = new Map<string, Known>();
  const fewest = new Map<string, number>();
  /** The workloads of the old pods, and the pods by uid; undefined until the pods are listed. */
  let old: { readonly workloads: Set<string>; readonly pods: Set<string> } | undefined;
  let target = '';

  const takeEvent = ({ type, reason, count, involvedObject: { uid = '' } }: Event): void => {
    const pod = known.get(uid);
    if (pod && hasPod(pod) && (type === 'Warning' || reason === 'Pulling'))
      known.set(uid, { ...pod, event: { step: stepOf(pod.object), reason, count } });
  };
  const takeObject = (object: ObservedObject, at: number): void => {
    if (isKnown(object)) known.set(object.metadata.uid, { seenAt: at, ...known.get(object.metadata.uid), object });
  };
  const takeList = (objects: readonly ObservedObject[], stream: StreamName, at: number): void => {
    const uids = new Set(objects.map(({ metadata }) => metadata.uid));
    for (const [uid, { object }] of known) if (object.kind === listedKinds[stream] && !uids.has(uid)) known.delete(uid);
    objects.forEach((object) => takeObject(object, at));
    if (stream !== 'pods' || old) return;
    const pods = objects.filter(isPod);
    const first = pods.filter((pod) => isReplaced(pod, pods, target));
    old = { workloads: new Set(first.map(familyOf)), pods: new Set(first.map(({ metadata }) => metadata.uid)) };
  };
  const take = (o: Observation): void => {
    if (o.kind === 'began') target = o.target ?? '';
    if (o.kind === 'listed') takeList(o.objects, o.stream, o.at);
    if (o.kind !== 'changed') return;
    if (o.object.kind === 'Event') takeEvent(o.object);
    else if (o.change === 'DELETED') known.delete(o.object.metadata.uid);
    else takeObject(o.object, o.at);
  };
  /** Pods of a node are replaced on other nodes, which are not watched. */
  const isNew = ({ object: pod }: Known<Pod>): boolean =>
    pod.metadata.deletionTimestamp === undefined &&
    !isFinished(pod) &&
    !target.startsWith('node/') &&
    old?.pods.has(pod.metadata.uid) === false &&
    old.workloads.has(familyOf(pod));
  const objects = (): Known['object'][] => [...known.values()].map(({ object }) => object);
  return {
    /** Takes what arrived together: between two changes of one moment, a Service may seem to lose endpoints. */
    take(observations: readonly Observation[]): void {
      observations.forEach(take);
      if (!observations.some((o) => 'stream' in o && o.stream === 'endpointslices')) return;
      for (const [service, { size }] of readyByService(objects()))
        fewest.set(service, Math.min(size, fewest.get(service) ?? Infinity));
    },
    facts(): RolloutFacts {
      const [owner, another] = objects().filter(isTopOwner);
      const wanted = another ? undefined : (owner?.spec.replicas ?? owner?.status.desiredNumberScheduled);
      return {
        oldPods: old?.pods.size,
        newPods: [...known.values()].filter(hasPod).filter(isNew).map(newPodOf),
        services: [...readyByService(objects())].map(([name, ready]) => ({
          name,
          now: ready.size,
          fewest: fewest.get(name) ?? ready.size,
          wanted: [...ready].every((uid) => known.has(uid)) ? wanted : undefined,
        })),
      };
    },
  };
}

const isPod = (object: ObservedObject): object is Pod => object.kind === 'Pod';
const hasPod = (one: Known): one is Known<Pod> => isPod(one.object);

const isKnown = (object: ObservedObject): object is Known['object'] =>
  isPod(object) || object.kind === 'EndpointSlice' || isTopOwner(object);

/** The uids of the ready endpoints of each Service. */
function readyByService(objects: readonly ObservedObject[]): Map<string, Set<string>> {
  const ready = new Map<string, Set<string>>();
  for (const slice of objects) {
    const service = slice.metadata.labels?.['kubernetes.io/service-name'];
    if (slice.kind !== 'EndpointSlice' || service === undefined) continue;
    const own = ready.get(service) ?? new Set();
    for (const { targetRef, conditions = {} } of slice.endpoints)
      if (conditions.ready ?? true) own.add(targetRef?.uid ?? '');
    ready.set(service, own);
  }
  return ready;
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

function newPodOf({ object: pod, seenAt, event }: Known<Pod>): NewPod {
  const step = stepOf(pod);
  if (step === 'ready') return { name: pod.metadata.name, seenAt, step, ink: 'good', isReady: true };
  const waiting = statusesOf(pod).flatMap(({ name, state }) => {
    const reason = state?.waiting?.reason;
    // Containers that start as they should wait for these.
    const isUsual = ['ContainerCreating', 'PodInitializing', undefined].includes(reason);
    return isUsual ? [] : [`${name} ${reason}`];
  });
  const said = event?.step === step ? [event.reason + (event.count > 1 ? ` (${event.count} times)` : '')] : [];
  const [why] = [...waiting, ...said];
  const ink = waiting.length > 0 ? 'bad' : step === 'not scheduled' ? 'warning' : 'plain';
  const text = why === undefined ? step : `${step}: ${why}`;
  return { name: pod.metadata.name, seenAt, step: text, ink, isReady: false };
}
