/** An exit from what a cluster still has: Events of about an hour, the objects around the pod, and the pod itself where it is there. */
import type { CoreV1Event, KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { PodexitError } from '../../errors.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { getObject } from '../../kube/get.ts';
import { podPath } from '../../kube/resource-path.ts';
import { asArray, asNumber, asObject, asString } from '../../model/observe/read.ts';
import { targetText, workloadKinds, type Target } from '../../run/target.ts';
import { listAll, readWorkloads } from '../read-cluster.ts';
import { factsOf, timeIn } from './event-facts.ts';
import { endedPods, gonePod, nodeOfPod, type EndedPod, type GonePod, type Remains } from './gone-pod.ts';
import { isTime, momentOf, type Found, type WhyReport } from './report.ts';

/** What may not be listed is left out: then the Events speak alone. Throws `why.events`. */
export async function readRemains(cluster: Cluster): Promise<Remains> {
  const events = await listAll(cluster, { resource: 'events' });
  if (!Array.isArray(events))
    throw new PodexitError(
      'why.events',
      `the Events of namespace "${cluster.namespace}" cannot be read (${events.status})`,
      'Ask for list of events, or give recordings with --from, or an audit log with --audit-log.',
    );
  const { objects } = await readWorkloads(cluster);
  const pods = objects.filter(({ kind }) => kind === 'Pod') as V1Pod[];
  const workloads = objects.filter(({ kind }) => kind !== 'Pod');
  return { facts: factsOf(events as CoreV1Event[]), pods, workloads };
}

const uidOf = ({ metadata }: KubernetesObject): string => metadata?.uid ?? '';

/** Pods that were stopped and are gone, the worst first; a pod that has failed is there and stopped all the same. */
export const endedLately = (remains: Remains): EndedPod[] =>
  endedPods(remains, new Set(remains.pods.filter(({ status }) => status?.phase !== 'Failed').map(uidOf)));

/** The worst of a workload's pods that have ended. Throws `why.unknown` and `why.target`. */
export function worstOf(target: Exclude<Target, { kind: 'pod' }>, remains: Remains, namespace: string): string {
  if (target.kind !== 'workload' || target.resource === 'services')
    throw new PodexitError(
      'why.target',
      `the pods of ${targetText(target)} that are gone are in no Event`,
      'Name a pod or the workload that owns it, such as deployment/NAME.',
    );
  const { kind } = workloadKinds[target.resource];
  const own = endedPods(remains, new Set(remains.pods.map(uidOf))).find(({ owners }) =>
    owners.some((one) => one.kind === kind && one.name === target.name),
  );
  if (own) return own.name;
  throw unknownPod(targetText(target), namespace);
}

const unknownPod = (what: string, namespace: string): PodexitError =>
  new PodexitError(
    'why.unknown',
    `nothing is known of an exit of ${what} in namespace "${namespace}": no Event (they are kept for about an hour)`,
    'Give recordings with --from, or an audit log with --audit-log; kubectl podexit why lists what is known.',
  );

/** Throws `why.terminating` and `why.unknown`. */
export async function fromEvents(cluster: Cluster, name: string, remains: Remains): Promise<Found> {
  const { namespace } = cluster;
  const node = nodeOfPod(name, remains);
  const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${node}`;
  const nodeEvents =
    node === undefined ? [] : await listAll(cluster, { resource: 'events', namespace: 'default', fieldSelector });
  const nodeFacts = Array.isArray(nodeEvents) ? factsOf(nodeEvents as CoreV1Event[]) : [];
  const story = gonePod(name, remains, nodeFacts);
  const answer = await getObject(cluster, podPath(namespace, name));
  const pod = answer.status === 200 ? (asObject(answer.body) as V1Pod) : undefined;
  if (pod && (story.uid === undefined || uidOf(pod) === story.uid)) {
    if (pod.metadata?.deletionTimestamp === undefined) return presentPod(pod, namespace, story);
    throw new PodexitError(
      'why.terminating',
      `pod "${name}" in namespace "${namespace}" is still terminating`,
      `Watch it: kubectl podexit ${name} -n ${namespace} --attach${cluster.reach}`,
    );
  }
  if (story.moments.length === 0) throw unknownPod(`pod "${name}"`, namespace);
  return {
    report: {
      pod: { namespace, name, uid: story.uid, node: story.node },
      basis: 'events',
      heading: 'reconstructed from Events, ±1s',
      outcome: story.wasForced ? 'forced' : 'unknown',
      summary: summaryOf(story),
      trigger: story.trigger,
      by: story.by,
      owners: story.owners,
      grace: story.grace,
      moments: story.moments.map(momentOf),
      cannotTell: [
        'exit codes, and whether a container was killed: the pod is gone, and no Event says it',
        ...(story.trigger === 'unknown' ? ['which user deleted it'] : []),
        ...(story.grace || !wasStopped(story)
          ? []
          : ['its grace period: neither its owner nor a replacement is there']),
        ...(Array.isArray(nodeEvents)
          ? []
          : [`whether node ${node} was drained or ran out of memory: its Events cannot be read`]),
      ],
      nextTime: nextTimeText(name, story),
    },
    card: '',
  };
}

const wasStopped = ({ moments }: GonePod): boolean => moments.some((one) => one.name === 'stopping');

function summaryOf(story: GonePod): string {
  const end = story.wasForced
    ? 'force-deleted: the next pod of its name was there before its kubelet began to stop it'
    : wasStopped(story)
      ? 'stopped by the kubelet'
      : 'gone, and no Event says that its kubelet stopped a container';
  return `${end}; deleted by ${story.by}; ${graceText(story.grace)}how its containers exited is in no Event`;
}

function nextTimeText(name: string, { owners }: GonePod): string {
  const owner = owners.at(-1);
  const words = owner ? `${owner.kind.toLowerCase()}/${owner.name} --all-terminating` : name;
  return `kubectl podexit ${words} --record FILE while it stops, or an audit log (--audit-log), shows who deletes it and how it exits`;
}

function graceText(grace: GonePod['grace']): string {
  if (!grace || grace.atItsEnd === 'unknown') return '';
  return grace.atItsEnd === 'gone'
    ? `gone before the ${grace.seconds}s of its grace period were over; `
    : `still there after the ${grace.seconds}s of its grace period; `;
}

/** It is there: nothing was deleted, and its containers may have ended and been started again. */
function presentPod(pod: V1Pod, namespace: string, story: GonePod): Found {
  const status = asObject(pod.status);
  const ended = [...asArray(status['initContainerStatuses']), ...asArray(status['containerStatuses'])]
    .map(asObject)
    .flatMap((one) => {
      const last = asObject(asObject(one['state'])['terminated'] ?? asObject(one['lastState'])['terminated']);
      const code = asNumber(last['exitCode']);
      const name = asString(one['name']) ?? '';
      const how = `${asString(last['reason']) ?? 'exit'} ${code}`;
      return code === undefined ? [] : [{ name, how, last, restarts: asNumber(one['restartCount']) ?? 0 }];
    });
  const texts = ended.map(({ name, how, restarts }) => `${name} ended with ${how}, restarted ${restarts} times`);
  const reason = asString(status['reason']);
  const phase = `phase ${asString(status['phase']) ?? 'unknown'}${reason === undefined ? '' : ` (${reason})`}`;
  const exits = ended.flatMap(({ name, how, last }): WhyReport['moments'] => {
    const at = timeIn(last['finishedAt']);
    const what = `${name} ended with ${how}`;
    const moment = { name: 'exited', container: name, what, earliest: at, latest: at + 1000, source: 'its status' };
    return isTime(at) ? [momentOf({ ...moment, isBad: false })] : [];
  });
  const isOom = ended.some(({ last }) => last['reason'] === 'OOMKilled');
  return {
    report: {
      pod: { namespace, name: pod.metadata?.name ?? '', uid: pod.metadata?.uid, node: pod.spec?.nodeName },
      basis: 'events',
      heading: 'from its status: nobody has deleted it',
      outcome: isOom ? 'oom' : 'unknown',
      summary: `not deleted, ${[phase, ...texts].join('; ')}`,
      trigger: 'unknown',
      moments: [...story.moments.map(momentOf), ...exits].sort((a, b) => a.earliest.localeCompare(b.earliest)),
      cannotTell: ended.length > 0 ? ['exits before the last one: a status keeps one of each container'] : [],
    },
    card: '',
  };
}
