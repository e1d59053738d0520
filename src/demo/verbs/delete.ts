import { apiNow, type Cluster } from '../cluster.ts';
import type { Kind } from '../data/kinds.ts';
import type { KubeObject } from '../data/kube-object.ts';
import { notFound, success } from '../data/status.ts';
import type { Exchange } from '../http/exchange.ts';
import { checkPreconditions, readDeleteOptions, type DeleteOptions } from './delete-options.ts';
import { decideDeletion, effectiveGrace, type Deletion } from './deletion.ts';

/** How long the simulated node takes over a pod the recording knows no end of. */
const otherPodsEndMs = 300;

/**
 * DELETE of one object. A pod's answer is the Pod. The traced pod's end is the recorded one, whatever grace was asked
 * for, with one exception: grace 0 removes the object at once. Returns whether anything was accepted.
 */
export async function serveDelete(cluster: Cluster, exchange: Exchange, kind: Kind, name: string): Promise<boolean> {
  const { request } = exchange;
  const object = cluster.get(kind.plural, request.namespace, name);
  if (object === undefined) throw notFound(kind, name);
  const options = readDeleteOptions(request);
  checkPreconditions(object, options);
  if (kind.plural !== 'pods') {
    deleteObject(cluster, exchange, kind, object, options);
    return false;
  }
  const decision = decideDeletion(object, options, apiNow(cluster));
  if (options.isDryRun) {
    exchange.json(200, decision.pod);
    return false;
  }
  exchange.json(200, await executeDelete(cluster, object, options, decision));
  return true;
}

/** Carries a pod's deletion out, by the recording where it knows this pod. Resolves to the Pod that is the answer. */
export async function executeDelete(
  cluster: Cluster,
  pod: KubeObject,
  options: DeleteOptions,
  decision: Deletion = decideDeletion(pod, options, apiNow(cluster)),
): Promise<KubeObject> {
  const isFirst = pod.metadata.deletionTimestamp === undefined;
  if (!isFirst || !isTraced(cluster, pod)) return carryOut(cluster, pod, decision);
  cluster.director.begin(originFor(cluster));
  if (options.graceSeconds === 0 && effectiveGrace(pod, { isDryRun: false }) > 0 && !recordedAsForced(cluster)) {
    return carryOut(cluster, pod, decision);
  }
  return recordedEnd(cluster, pod);
}

/** Whether the recording shows how this very pod ends; a successor of the same name is another pod. */
export function isTraced(cluster: Cluster, pod: KubeObject): boolean {
  return markingCue(cluster)?.object.metadata.uid === pod.metadata.uid;
}

/** The recorded change that set the pod's deletionTimestamp. */
function markingCue({ story }: Cluster) {
  return story.cues.find(
    (cue) =>
      cue.kind === 'change' &&
      cue.resource === 'pods' &&
      cue.object.metadata.name === story.pod &&
      (cue.object.metadata.deletionTimestamp !== undefined || cue.type === 'DELETED'),
  ) as { at: number; object: KubeObject } | undefined;
}

/** Where nothing but a controller deleted the pod, a client's own DELETE begins just before that controller's. */
function originFor(cluster: Cluster): number | undefined {
  const marking = markingCue(cluster);
  const assumedTookMs = 5;
  if (cluster.story.trigger.kind !== 'other' || marking === undefined) return undefined;
  return marking.at - assumedTookMs;
}

function recordedAsForced(cluster: Cluster): boolean {
  return markingCue(cluster)?.object.metadata.deletionGracePeriodSeconds === 0;
}

async function recordedEnd(cluster: Cluster, pod: KubeObject): Promise<KubeObject> {
  const { director, story } = cluster;
  const { kind, answer } = story.trigger;
  const isRecorded = kind === 'delete' && answer?.status === 200;
  const at = isRecorded ? answer.at : (markingCue(cluster)?.at ?? 0);
  await cluster.sleep(director.untilRecorded(at));
  director.catchUp();
  if (isRecorded) return cluster.answer(answer.body, answer.at) as KubeObject;
  return cluster.get('pods', pod.metadata.namespace, pod.metadata.name) ?? pod;
}

function carryOut(cluster: Cluster, pod: KubeObject, { pod: next, effect }: Deletion): KubeObject {
  if (effect === 'unchanged') return pod;
  const isTerminatingForGood = pod.metadata.deletionGracePeriodSeconds === 0;
  const marked = isTerminatingForGood
    ? pod
    : cluster.write({ type: 'MODIFIED', resource: 'pods', object: next }).object;
  amend(cluster, marked, effect);
  if (effect === 'gone') return cluster.write({ type: 'DELETED', resource: 'pods', object: marked }).object;
  if (effect === 'marked' && !isTraced(cluster, pod)) void finishLater(cluster, marked);
  return marked;
}

function amend(cluster: Cluster, pod: KubeObject, effect: Deletion['effect']): void {
  const { uid = '', deletionTimestamp = '', deletionGracePeriodSeconds = 0 } = pod.metadata;
  const earlier = cluster.amendments.get(uid);
  if (effect === 'gone') cluster.amendments.set(uid, { ...earlier, gone: true });
  else cluster.amendments.set(uid, { ...earlier, deadline: { deletionTimestamp, deletionGracePeriodSeconds } });
}

/** The node's part for a pod nobody recorded the end of: the kubelet's last DELETE, with grace 0. */
async function finishLater(cluster: Cluster, pod: KubeObject): Promise<void> {
  await cluster.sleep(otherPodsEndMs);
  const current = cluster.get('pods', pod.metadata.namespace, pod.metadata.name);
  if (current?.metadata.uid !== pod.metadata.uid || current === undefined) return;
  carryOut(cluster, current, decideDeletion(current, { graceSeconds: 0, isDryRun: false }, apiNow(cluster)));
}

function deleteObject(
  cluster: Cluster,
  exchange: Exchange,
  kind: Kind,
  object: KubeObject,
  options: DeleteOptions,
): void {
  if (!options.isDryRun) cluster.write({ type: 'DELETED', resource: kind.plural, object });
  const { name, uid } = object.metadata;
  const group = kind.group === '' ? {} : { group: kind.group };
  exchange.json(200, success(200, { name, ...group, kind: kind.plural, uid }));
}
