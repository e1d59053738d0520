/** What blocks a rollout, according to its objects: `kubectl rollout status` only says that it waits. */
import type { Event } from '../../model/kube.ts';
import { asArray, asObject, asString, type JsonObject } from '../../model/observe/read.ts';
import type { Observation } from '../../model/observation.ts';
import { objectsOf } from '../../model/select.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { isReadyPod, isTerminatingPod, nameOf, namespaceOf, rawConditionOf } from '../streams/watched.ts';

export type Obstacles = ReturnType<typeof createObstacles>;

/** `say` receives each obstacle once, as a sentence without a full stop. */
export function createObstacles(say: (sentence: string) => void) {
  const current = new Map<string, string>();
  const reportedKinds = new Set<string>();
  /** What an Event says of a pod, by uid: also of pods of others, and before the pod itself is seen. */
  const events = new Map<string, Event>();
  const pods = new Map<string, JsonObject>();
  const workloads = new Set<string>();
  const update = (key: string, sentence?: string, kind = sentence): void => {
    if (sentence === undefined || kind === undefined) return void current.delete(key);
    current.set(key, sentence);
    if (kind === usual || reportedKinds.has(kind)) return;
    reportedKinds.add(kind);
    say(sentence);
  };
  /** Takes the newest state of one of the workload's pods; undefined: the pod is gone. */
  const pod = (uid: string, state: JsonObject | undefined): void => {
    // A new pod shows that pods can be created again.
    if (state && !pods.has(uid)) workloads.forEach((owner) => current.delete(`pods of ${owner}`));
    if (state) pods.set(uid, state);
    else pods.delete(uid);
    const found = state ? podObstacle(state, events.get(uid)) : [];
    // A crashing container is not waiting between two attempts: only a Ready pod has recovered.
    if (state && found.length === 0 && !isTerminatingPod(state) && !isReadyPod(state)) return;
    // If a hundred pods cannot pull one image, only one is reported.
    update(uid, ...found);
  };
  const news = (o: Observation): void => {
    for (const one of objectsOf(o)) {
      if (one.kind !== 'Event') continue;
      const { kind, name, uid = '' } = one.involvedObject;
      const owner = `${kind.toLowerCase()}/${name}`;
      if (one.reason === 'FailedCreate' && o.kind === 'changed' && workloads.has(owner))
        update(`pods of ${owner}`, `${owner} cannot create pods: ${one.message ?? one.reason}`);
      if (!holdingReasons.test(one.reason)) continue;
      events.set(uid, one);
      if (pods.has(uid)) pod(uid, pods.get(uid));
    }
  };
  return {
    /** Takes the newest state of a workload. `name`: `deployment/checkout`. */
    workload: (name: string, object: JsonObject): void =>
      void (workloads.add(name), update(name, workloadObstacle(name, object))),
    pod,
    news,
    /** Takes what a recording holds of the workload's pods and of Events. */
    replayed(o: Observation): void {
      for (const one of 'stream' in o && o.stream === 'pods' ? objectsOf(o) : [])
        pod(one.metadata.uid, o.kind === 'changed' && o.change === 'DELETED' ? undefined : asObject(one));
      news(o);
    },
    /** The current obstacles, for a terminal; undefined if there are none. */
    text: (): string | undefined =>
      forTerminal([...new Set(current.values())].slice(0, 2).join('; '), 1000) || undefined,
  };
}

function workloadObstacle(name: string, object: JsonObject): string | undefined {
  if (asObject(object['spec'])['paused'] === true)
    return `${name} is paused: it changes no pod before kubectl rollout resume ${name} -n ${namespaceOf(object) ?? 'default'}`;
  // A quota, an admission webhook, a missing service account (Deployment and ReplicaSet controllers: FailedCreate).
  const failure = rawConditionOf(object, 'ReplicaFailure', 'True');
  return failure && `${name} cannot create pods: ${textOf(failure['message'], 'its condition is ReplicaFailure')}`;
}

/** Waiting reasons of the kubelet for a container that fails to start and is retried (kubelet/images, kuberuntime). */
const failedStart =
  /^(?:CrashLoopBackOff|ImagePullBackOff|ErrImage(?:Never)?Pull|InvalidImageName|CreateContainer(?:Config)?Error|RunContainerError)$/;

/** Each new pod is not ready at first: it is named only if the rollout ends with it. */
const usual = 'not ready';

/** Reasons of Events about a volume that a pod cannot get, and about probes that fail. */
const holdingReasons = /^(?:Failed(?:Mount|AttachVolume)|Unhealthy)$/;

/** What holds the pod, and what kind of obstacle that is. */
function podObstacle(pod: JsonObject, event: Event | undefined): [sentence?: string, kind?: string] {
  if (isTerminatingPod(pod) || isReadyPod(pod)) return [];
  const name = nameOf(pod);
  const unscheduled = rawConditionOf(pod, 'PodScheduled', 'False');
  if (unscheduled?.['reason'] === 'Unschedulable')
    return [`pod ${name} fits no node: ${textOf(unscheduled['message'], 'Unschedulable')}`, 'Unschedulable'];
  const { containerStatuses, initContainerStatuses } = asObject(pod['status']);
  for (const status of [...listOf(initContainerStatuses), ...listOf(containerStatuses)]) {
    const { reason } = asObject(asObject(status['state'])['waiting']);
    if (typeof reason !== 'string' || !failedStart.test(reason)) continue;
    const container = textOf(status['name'], '');
    return [`pod ${name}: container ${container} waits in ${reason}`, `${reason}/${container}`];
  }
  const unready = listOf(containerStatuses).find(({ ready, state }) => ready === false && asObject(state)['running']);
  if (unready) {
    // Of a probe's message, only these words are kept (model/kube.ts).
    const [probe, detail] = /^Readiness ?(.*)/.exec(event?.message ?? '') ?? [];
    const why = probe === undefined ? '' : `: its readiness probe fails${detail ? ` (${detail})` : ''}`;
    const container = textOf(unready['name'], '');
    return [`pod ${name}: container ${container} runs but is not ready${why}`, usual];
  }
  return event && event.reason !== 'Unhealthy'
    ? [`pod ${name} waits for a volume (${event.reason}): kubectl describe pod ${name}`, event.reason]
    : [];
}

const listOf = (value: unknown): JsonObject[] => asArray(value).map(asObject);

const textOf = (value: unknown, otherwise: string): string => asString(value)?.slice(0, 300) ?? otherwise;
