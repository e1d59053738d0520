/** What blocks a rollout, according to its objects: `kubectl rollout status` only says that it waits. */
import { asArray, asObject, asString, type JsonObject } from '../../model/observe/read.ts';
import type { Observation } from '../../model/observation.ts';
import { objectsOf } from '../../model/select.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { rawConditionOf, isTerminatingPod, nameOf, namespaceOf } from '../streams/watched.ts';

export type Obstacles = ReturnType<typeof createObstacles>;

/** `say` receives each obstacle once, as a sentence without a full stop. */
export function createObstacles(say: (sentence: string) => void) {
  const current = new Map<string, string>();
  const reportedKinds = new Set<string>();
  const update = (key: string, sentence: string | undefined, kind = sentence): void => {
    if (sentence === undefined || kind === undefined) return void current.delete(key);
    current.set(key, sentence);
    if (kind === usual || reportedKinds.has(kind)) return;
    reportedKinds.add(kind);
    say(sentence);
  };
  return {
    /** Takes the newest state of a workload. `name`: `deployment/checkout`. */
    workload: (name: string, object: JsonObject): void => update(name, workloadObstacle(name, object)),
    /** Takes the newest state of one of its pods; undefined: the pod is gone. */
    pod(uid: string, pod: JsonObject | undefined): void {
      const found = pod && podObstacle(pod);
      // A crashing container is not waiting between two attempts: only a Ready pod has recovered.
      if (pod && !found && !isTerminatingPod(pod) && rawConditionOf(pod, 'Ready', 'True') === undefined) return;
      // If a hundred pods cannot pull one image, only one is reported.
      update(uid, found?.sentence, found?.kind);
    },
    /** Takes Events about a pod whose volume the kubelet or the attach controller cannot give it: it is not Ready until then. */
    events(o: Observation): void {
      for (const one of 'stream' in o && o.stream === 'events' ? objectsOf(o) : []) {
        if (one.kind !== 'Event' || !/^Failed(?:Mount|AttachVolume)$/.test(one.reason)) continue;
        const { name, uid = name } = one.involvedObject;
        update(uid, `pod ${name} waits for a volume (${one.reason}): kubectl describe pod ${name}`, one.reason);
      }
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
const failedStartReasons = new Set([
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Each new pod is not ready at first: it is named only if the rollout ends with it. */
const usual = 'not ready';

function podObstacle(pod: JsonObject): { kind: string; sentence: string } | undefined {
  if (isTerminatingPod(pod)) return undefined;
  const name = nameOf(pod);
  const unscheduled = rawConditionOf(pod, 'PodScheduled', 'False');
  if (unscheduled?.['reason'] === 'Unschedulable')
    return {
      kind: 'Unschedulable',
      sentence: `pod ${name} fits no node: ${textOf(unscheduled['message'], 'Unschedulable')}`,
    };
  const { containerStatuses, initContainerStatuses } = asObject(pod['status']);
  for (const status of [...listOf(initContainerStatuses), ...listOf(containerStatuses)]) {
    const { reason } = asObject(asObject(status['state'])['waiting']);
    if (typeof reason !== 'string' || !failedStartReasons.has(reason)) continue;
    const container = textOf(status['name'], '');
    return { kind: `${reason}/${container}`, sentence: `pod ${name}: container ${container} waits in ${reason}` };
  }
  const unready = listOf(containerStatuses).find(({ ready, state }) => ready === false && asObject(state)['running']);
  return (
    unready && { kind: usual, sentence: `pod ${name}: container ${textOf(unready['name'], '')} runs but is not ready` }
  );
}

const listOf = (value: unknown): JsonObject[] => asArray(value).map(asObject);

const textOf = (value: unknown, otherwise: string): string => asString(value)?.slice(0, 300) ?? otherwise;
