import type { Playback } from '../cluster.ts';
import { type Kind, numberAt, recordsAt, valueAt, type KubeObject } from '../data/kube-object.ts';
import { success, disruptionBudget, conflict } from '../data/status.ts';
import { isDryRun, matchesLabels, parseBody } from '../http/api-request.ts';
import type { Call } from '../http/exchange.ts';
import type { ChangeStep } from '../play/prepare.ts';
import { formatStamp, fromMs } from '../clock.ts';

/** A pod is its own response. One whose end was recorded ends so, whatever grace is asked; with 0 it is removed at once. */
export async function serveDelete(cluster: Playback, exchange: Call, kind: Kind) {
  const object = cluster.requested(kind, exchange.request);
  const options = readDeleteOptions(exchange.request);
  checkPreconditions(object, options);
  if (kind.plural !== 'pods') {
    if (!isDryRun(exchange.request)) cluster.write({ type: 'DELETED', resource: kind.plural, object });
    const { name, uid } = object.metadata;
    return exchange.json(200, success(200, { name, group: kind.group || undefined, kind: kind.plural, uid }));
  }
  if (isDryRun(exchange.request)) return exchange.json(200, afterDelete(object, options, cluster.clock.now()));
  exchange.json(200, await executeDelete(cluster, object, options));
}

/** Deletes a pod, as recorded if its end was. Resolves to the Pod for the response. */
export async function executeDelete(cluster: Playback, pod: KubeObject, options: DeleteOptions): Promise<KubeObject> {
  const marking = markingStep(cluster, pod);
  const isFirst = pod.metadata.deletionTimestamp === undefined;
  if (!isFirst || !marking) return applyDeletion(cluster, pod, options);
  const isByController = cluster.scenario.trigger.kind === 'other';
  // If only a controller deleted the recorded pod, a client's DELETE begins the pod's end 5 ms before that.
  cluster.player.begin(isByController ? marking.at - 5 : undefined);
  const wasForced = marking.object.metadata.deletionGracePeriodSeconds === 0;
  const isForced = options.graceSeconds === 0 && effectiveGrace(pod, {}) > 0;
  return isForced && !wasForced ? applyDeletion(cluster, pod, options) : recordedEnd(cluster, pod, marking.at);
}

/** The recorded change that set the pod's deletionTimestamp. By uid: a successor may have the same name. */
const markingStep = ({ scenario }: Playback, { metadata: { uid } }: KubeObject): ChangeStep | undefined =>
  scenario.steps
    .filter((step) => step.kind === 'change')
    .filter(({ resource, object }) => resource === 'pods' && object.metadata.uid === uid)
    .find(({ type, object }) => object.metadata.deletionTimestamp !== undefined || type === 'DELETED');

async function recordedEnd(cluster: Playback, pod: KubeObject, markedAt: number): Promise<KubeObject> {
  const { player, scenario } = cluster;
  const { kind, answer } = scenario.trigger;
  const recorded = kind === 'other' || pod.metadata.name !== scenario.pod ? undefined : answer;
  await cluster.sleep(player.untilRecorded(recorded?.at ?? markedAt));
  player.catchUp();
  // An eviction's answer holds no pod.
  if (recorded?.status === 200) return cluster.answer(recorded.body, recorded.at) as KubeObject;
  return cluster.get('pods', pod.metadata.namespace, pod.metadata.name) ?? pod;
}

function applyDeletion(cluster: Playback, pod: KubeObject, options: DeleteOptions): KubeObject {
  const next = afterDelete(pod, options, cluster.clock.now());
  const marked = next === pod ? pod : cluster.write({ type: 'MODIFIED', resource: 'pods', object: next }).object;
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0, finalizers = [] } = marked.metadata;
  if (deletionGracePeriodSeconds === 0 && finalizers.length === 0) {
    cluster.amend(marked, { gone: true });
    return cluster.write({ type: 'DELETED', resource: 'pods', object: marked }).object;
  }
  if (next === pod) return pod;
  cluster.amend(marked, { deadline: { deletionTimestamp, deletionGracePeriodSeconds } });
  const isFirst = pod.metadata.deletionTimestamp === undefined;
  if (isFirst && !markingStep(cluster, pod)) void finishLater(cluster, marked);
  return marked;
}

/** Plays the kubelet's last status and DELETE, with grace 0, for a pod whose end was not recorded. */
async function finishLater(cluster: Playback, pod: KubeObject): Promise<void> {
  await cluster.sleep(300); // as long as the simulated node takes
  const current = cluster.get('pods', pod.metadata.namespace, pod.metadata.name);
  if (current?.metadata.uid !== pod.metadata.uid || current === undefined) return;
  const { object } = cluster.write({
    type: 'MODIFIED',
    resource: 'pods',
    object: stopped(current, cluster.clock.now()),
  });
  applyDeletion(cluster, object, { graceSeconds: 0 });
}

/** The pod after all its containers exited with 0. `now`: ms, the node's clock. */
function stopped(pod: KubeObject, now: number): KubeObject {
  const finishedAt = formatStamp(fromMs(now), 0);
  const containerStatuses = recordsAt(pod, 'status.containerStatuses').map(({ containerID, ...one }) => {
    const terminated = { exitCode: 0, reason: 'Completed', finishedAt, containerID };
    return { ...one, containerID, ready: false, started: false, state: { terminated } };
  });
  return { ...pod, status: { ...(pod.status as object), phase: 'Succeeded', containerStatuses } };
}

/** The pod after a DELETE (SIGNALS.md §1), the same if that shortens nothing. `now`: ms, the API server's clock. */
const afterDelete = (pod: KubeObject, options: DeleteOptions, now: number): KubeObject =>
  pod.metadata.deletionTimestamp === undefined ? firstDelete(pod, options, now) : repeatDelete(pod, options, now);

/** The grace period of a first DELETE: 0 if there is nothing to stop. */
function effectiveGrace(pod: KubeObject, { graceSeconds }: DeleteOptions): number {
  const phase = valueAt(pod, 'status.phase');
  const isIdle = !valueAt(pod, 'spec.nodeName') || phase === 'Succeeded' || phase === 'Failed';
  if (isIdle) return 0;
  const specSeconds = valueAt(pod, 'spec.terminationGracePeriodSeconds');
  return graceSeconds ?? (typeof specSeconds === 'number' ? specSeconds : 30);
}

function firstDelete(pod: KubeObject, options: DeleteOptions, now: number): KubeObject {
  const grace = effectiveGrace(pod, options);
  const { generation = 0 } = pod.metadata;
  return withDeadline(pod, now + grace * 1000, grace, generation > 0 ? { generation: generation + 1 } : {});
}

function repeatDelete(pod: KubeObject, { graceSeconds }: DeleteOptions, now: number): KubeObject {
  const { deletionGracePeriodSeconds: old = 0, deletionTimestamp = '' } = pod.metadata;
  if (graceSeconds === undefined || graceSeconds >= old) return pod;
  if (graceSeconds === 0) return withDeadline(pod, now, 0);
  const deadline = Date.parse(deletionTimestamp) - (old - graceSeconds) * 1000;
  return deadline < now ? withDeadline(pod, now, 1) : withDeadline(pod, deadline, graceSeconds);
}

function withDeadline(pod: KubeObject, at: number, grace: number, more: { generation?: number } = {}): KubeObject {
  const deletionTimestamp = formatStamp(fromMs(at), 0);
  return { ...pod, metadata: { ...pod.metadata, ...more, deletionTimestamp, deletionGracePeriodSeconds: grace } };
}

/** Serves POST pods/NAME/eviction. The response is 201 with a Status, never with the Pod. */
export async function serveEviction(cluster: Playback, exchange: Call, kind: Kind) {
  const { request } = exchange;
  const pod = cluster.requested(kind, request);
  const options = deleteOptionsOf(valueAt(parseBody(request.body), 'deleteOptions'));
  checkPreconditions(pod, options);
  checkBudgets(cluster, pod);
  if (!isDryRun(request)) await executeDelete(cluster, pod, options);
  exchange.json(201, success(201));
}

/** Throws a 429 if a budget forbids it. Budgets protect only running pods that are not deleted (SIGNALS.md §1). */
function checkBudgets(cluster: Playback, pod: KubeObject): void {
  const isUnprotected = pod.metadata.deletionTimestamp !== undefined || valueAt(pod, 'status.phase') !== 'Running';
  if (isUnprotected) return;
  for (const { resource, object } of cluster.log.current.values()) {
    if (resource !== 'poddisruptionbudgets' || object.metadata.namespace !== pod.metadata.namespace) continue;
    if (!matchesLabels(valueAt(object, 'spec.selector.matchLabels'), pod)) continue;
    if (numberAt(object, 'status.disruptionsAllowed') > 0) continue;
    const needed = numberAt(object, 'status.desiredHealthy');
    throw disruptionBudget(object.metadata.name, needed, numberAt(object, 'status.currentHealthy'));
  }
}

export interface DeleteOptions {
  graceSeconds?: number;
  uid?: string;
}

/** DeleteOptions in the body of a DELETE, which may be empty. Throws a 400. */
export const readDeleteOptions = ({ body }: { body: string }): DeleteOptions =>
  deleteOptionsOf(body === '' ? {} : parseBody(body));

/** DeleteOptions from an object, as in an Eviction. A negative grace period counts as 1 (SIGNALS.md §1). */
function deleteOptionsOf(options: unknown): DeleteOptions {
  const grace = valueAt(options, 'gracePeriodSeconds');
  const uid = valueAt(options, 'preconditions.uid');
  return {
    graceSeconds: typeof grace !== 'number' ? undefined : grace < 0 ? 1 : grace,
    uid: typeof uid === 'string' ? uid : undefined,
  };
}

/** Throws a 409 if the object has another uid. */
function checkPreconditions({ metadata: { name, uid } }: KubeObject, { uid: wanted }: DeleteOptions): void {
  if (wanted === undefined || wanted === uid) return;
  const what = `the UID in the precondition (${wanted}) does not match the UID in record (${uid})`;
  throw conflict(name, `${what}. The object might have been deleted and then recreated`);
}
