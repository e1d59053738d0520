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

interface KnownPod {
  readonly pod: Pod;
  /** When it was seen first. */
  readonly seenAt: number;
  /** The newest Event that says why it is not ready, and what the pod was doing then. */
  readonly event?: { readonly step: Step; readonly reason: string; readonly count: number };
}

export function createRolloutFacts() {
  // By uid.
  let pods = new Map<string, KnownPod>();
  let slices = new Map<string, EndpointSlice>();
  const owners = new Map<string, Owner>();
  const fewest = new Map<string, number>();
  /** The workloads of the old pods, and the pods by uid; undefined until the pods are listed. */
  let old: { readonly workloads: Set<string>; readonly pods: Set<string> } | undefined;
  let target = '';

  const takeObject = (object: ObservedObject, at: number): void => {
    const { uid } = object.metadata;
    if (object.kind === 'Pod') pods.set(uid, { seenAt: at, ...pods.get(uid), pod: object });
    if (object.kind === 'EndpointSlice') slices.set(uid, object);
    if (isTopOwner(object)) owners.set(uid, object);
  };
  /** What a list does not have is gone. */
  const takeList = (objects: readonly ObservedObject[], stream: StreamName, at: number): void => {
    const uids = new Set(objects.map(({ metadata }) => metadata.uid));
    if (stream === 'pods') pods = new Map([...pods].filter(([uid]) => uids.has(uid)));
    if (stream === 'endpointslices') slices = new Map();
    objects.forEach((object) => takeObject(object, at));
    if (stream !== 'pods' || old) return;
    const listed = objects.filter((object) => object.kind === 'Pod');
    const first = listed.filter((pod) => isReplaced(pod, listed, target));
    old = { workloads: new Set(first.map(familyOf)), pods: new Set(first.map(({ metadata }) => metadata.uid)) };
  };
  const take = (o: Observation): void => {
    if (o.kind === 'began') target = o.target ?? '';
    if (o.kind === 'listed') takeList(o.objects, o.stream, o.at);
    if (o.kind !== 'changed') return;
    if (o.change === 'DELETED') return [pods, slices, owners].forEach((known) => known.delete(o.object.metadata.uid));
    takeObject(o.object, o.at);
    // One that was listed may be about an earlier step of its pod.
    const about = o.object.kind === 'Event' && pods.get(o.object.involvedObject.uid ?? '');
    if (o.object.kind === 'Event' && about) pods.set(about.pod.metadata.uid, withEvent(about, o.object));
  };
  /** Pods of a node are replaced on other nodes, which are not watched. */
  const isNew = ({ pod }: KnownPod): boolean =>
    pod.metadata.deletionTimestamp === undefined &&
    !isFinished(pod) &&
    !target.startsWith('node/') &&
    old?.pods.has(pod.metadata.uid) === false &&
    old.workloads.has(familyOf(pod));
  return {
    /** Takes what arrived together: between two changes of one moment, a Service may seem to lose endpoints. */
    take(observations: readonly Observation[]): void {
      observations.forEach(take);
      if (!observations.some((o) => 'stream' in o && o.stream === 'endpointslices')) return;
      for (const [service, { size }] of readyByService(slices.values()))
        fewest.set(service, Math.min(size, fewest.get(service) ?? Infinity));
    },
    facts(): RolloutFacts {
      const wanted = replicasOf(...owners.values());
      return {
        oldPods: old?.pods.size,
        newPods: [...pods.values()].filter(isNew).map(newPodOf),
        services: [...readyByService(slices.values())].map(([name, ready]) => ({
          name,
          now: ready.size,
          fewest: fewest.get(name) ?? ready.size,
          wanted: [...ready].every((uid) => pods.has(uid)) ? wanted : undefined,
        })),
      };
    },
  };
}

const withEvent = (known: KnownPod, { type, reason, count }: Event): KnownPod =>
  type === 'Warning' || reason === 'Pulling' ? { ...known, event: { step: stepOf(known.pod), reason, count } } : known;

/** The uids of the ready endpoints of each Service. */
function readyByService(slices: Iterable<EndpointSlice>): Map<string, Set<string>> {
  const ready = new Map<string, Set<string>>();
  for (const { metadata, endpoints } of slices) {
    const service = metadata.labels?.['kubernetes.io/service-name'];
    if (service === undefined) continue;
    const own = ready.get(service) ?? new Set();
    for (const { targetRef, conditions = {} } of endpoints) if (conditions.ready ?? true) own.add(targetRef?.uid ?? '');
    ready.set(service, own);
  }
  return ready;
}

const isTopOwner = (object: ObservedObject): object is Owner =>
  ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'].includes(object.kind) && !controllerOf(object);

/** Undefined for several workloads. */
const replicasOf = (owner?: Owner, another?: Owner): number | undefined =>
  another ? undefined : (owner?.spec.replicas ?? owner?.status.desiredNumberScheduled);

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

function newPodOf({ pod, seenAt, event }: KnownPod): NewPod {
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
