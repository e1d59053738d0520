/** Reconstructs a pod that is gone from Events and objects around it; no Event says how its containers exited. Pure. */
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { asObject, asSeconds } from '../../model/observe/read.ts';
import type { TriggerKind } from '../../model/report.ts';
import { isPlausibleTime } from '../../model/stamps.ts';
import { isStop, momentAt, readEvent, timeIn, uncertaintyMs, type EventFacts } from './event-facts.ts';
import type { PastExit, PastGrace, WhyMoment } from './report.ts';

/** A namespace as it is now, with the Events of the last hour or so. */
export interface NamespaceHistory {
  facts: readonly EventFacts[];
  pods: readonly V1Pod[];
  /** ReplicaSets, Deployments, StatefulSets, DaemonSets and Jobs, each with its kind. */
  workloads: readonly KubernetesObject[];
}

export type GonePod = ReturnType<typeof gonePod>;

/** `nodeFacts`: Events about its node. */
export function gonePod(name: string, history: NamespaceHistory, nodeFacts: readonly EventFacts[] = []) {
  const traces = tracesOf(name, history);
  const { read, stop, deleted, uid, owners } = traces;
  const next = successorOf(traces);
  // Shortly before the stop, and until a minute after it.
  const ofNode = nodeFacts
    .filter(({ at }) => stop && at > stop.at - 120_000 && at < stop.at + 60_000)
    .flatMap((fact) => readEvent({ ...fact, kind: 'Node' }) ?? []);
  const by = `${deleted?.kind.toLowerCase()}/${deleted?.name}`;
  const moments: WhyMoment[] = [
    ...read.map(({ moment }) => moment),
    ...(deleted ? [{ ...momentAt(deleted), name: 'deleted', what: `${by} deleted it` }] : []),
    ...ofNode.map(({ moment }) => moment),
    ...(next ? [next.moment] : []),
  ].sort((a, b) => a.earliest - b.earliest);
  // What ended its node did not end a pod that a controller deleted, and perhaps none if it was cancelled.
  const isNodeBack = ofNode.some(({ moment }) => moment.name === 'node-shutdown-cancelled');
  const causes = deleted || isNodeBack ? read : [...ofNode, ...read];
  const before = causes.filter(({ moment }) => !stop || moment.earliest <= stop.at);
  const cause = before.findLast((one) => one.cause)?.cause;
  const isCancelled = cause?.trigger === 'taint' && moments.some((moment) => moment.name === 'taint-cancelled');
  return {
    uid,
    ...(cause && !isCancelled ? cause : triggerOf(traces, next)),
    owners,
    grace: stop && graceOf(stop, traces, next),
    moments,
    stoppedFor: before.findLast(({ isOwnStop }) => isOwnStop)?.moment.what,
    problem: read.findLast(({ isBad }) => isBad)?.moment.what,
    /** The next pod of its name existed before the kubelet began to stop this one: it was removed while running. */
    wasForced: stop !== undefined && next !== undefined && next.goneBy + uncertaintyMs < stop.at - uncertaintyMs,
  };
}

type Traces = ReturnType<typeof tracesOf>;

/** What Events and objects show of the pod. `deleted`: its controller deleted it. */
function tracesOf(name: string, history: NamespaceHistory) {
  const own = eventsOfLatest(name, history);
  const stop = own.find(isStop);
  const uid = own.findLast((fact) => fact.uid !== undefined)?.uid;
  const read = own.flatMap((fact) => readEvent(fact) ?? []);
  const [deleted, owners] = [deletionOf(name, own, history), ownersOf(name, history)];
  return { ...history, name, read, stop, uid, deleted, owners };
}

/** The node of a pod, needed to read the Events about that node. */
export const nodeOfPod = (name: string, history: NamespaceHistory): string | undefined =>
  eventsOfLatest(name, history)
    .map(({ host, message }) => host ?? /^Successfully assigned \S+ to (\S+)$/.exec(message)?.[1])
    .findLast((node) => node !== undefined);

/** The Events of the latest pod of this name that was stopped, else of the latest. TaintManagerEviction names no uid. */
function eventsOfLatest(name: string, { facts }: NamespaceHistory): EventFacts[] {
  const own = facts.filter((fact) => fact.kind === 'Pod' && fact.name === name);
  const uid = own.findLast(isStop)?.uid ?? own.findLast((fact) => fact.uid !== undefined)?.uid;
  const since = own.find((fact) => fact.uid === uid && fact.reason === 'Scheduled')?.at ?? -Infinity;
  return own.filter((fact) => fact.uid === uid || (fact.uid === undefined && fact.at + uncertaintyMs > since));
}

/** The controller's Event that it deleted this pod, and not an earlier one of the same name. */
function deletionOf(name: string, own: readonly EventFacts[], { facts }: NamespaceHistory): EventFacts | undefined {
  const stop = own.find(isStop);
  const uid = own.findLast((fact) => fact.uid !== undefined)?.uid;
  const earlier = facts.filter(
    (fact) => isStop(fact) && fact.name === name && fact.uid !== uid && fact.at < (stop?.at ?? Infinity),
  );
  const since = Math.max(
    own.find(({ reason }) => reason === 'Scheduled')?.at ?? -Infinity,
    ...earlier.map(({ at }) => at + uncertaintyMs),
  );
  const until = (stop?.at ?? Infinity) + uncertaintyMs;
  return facts.findLast(
    (fact) => fact.reason === 'SuccessfulDelete' && hasWord(fact, name) && fact.at > since && fact.at <= until,
  );
}

type Successor = NonNullable<ReturnType<typeof successorOf>>;

function successorOf({ name, uid, stop, facts, pods }: Traces) {
  if (!stop || uid === undefined) return undefined;
  const pod = pods.find(({ metadata }) => metadata?.name === name && metadata.uid !== uid);
  const ofName = facts.filter((fact) => fact.kind === 'Pod' && fact.name === name);
  // Those of older pods of this name, which may still get Events.
  const older = new Set([uid, undefined, ...ofName.filter(({ at }) => at <= stop.at).map((fact) => fact.uid)]);
  const nextEvent = ofName.find((fact) => !older.has(fact.uid));
  const at = timeIn(pod?.metadata?.creationTimestamp);
  const created = pod
    ? { earliest: at, latest: at + 1000, source: 'creationTimestamp' }
    : nextEvent && { ...momentAt(nextEvent), source: 'Events of the next pod' };
  if (!created || !isPlausibleTime(created.earliest)) return undefined;
  return {
    /** ms since the epoch. The pod was removed by then, because another one has its name. */
    goneBy: created.latest,
    moment: { name: 'replacement-created', what: `the next ${name} was created`, ...created } satisfies WhyMoment,
  };
}

/** From the template, because the pod is gone. A --grace-period of the deletion is unknown. */
function graceOf(
  stop: EventFacts,
  { owners: [owner], workloads, read }: Traces,
  next: Successor | undefined,
): PastGrace | undefined {
  const { spec } = asObject(asObject(asObject(objectOf(owner, workloads))['spec'])['template']);
  const seconds = asSeconds(asObject(spec)['terminationGracePeriodSeconds']);
  if (!owner || seconds === undefined) return undefined;
  const end = stop.at + seconds * 1000;
  const lastSeen = Math.max(...read.flatMap(({ provesPresence, moment }) => (provesPresence ? moment.earliest : [])));
  const isGone = next !== undefined && next.goneBy < end - uncertaintyMs;
  const atItsEnd = isGone ? 'gone' : lastSeen > end + uncertaintyMs ? 'still-there' : 'unknown';
  const source = `template of ${owner.kind} ${owner.name}`;
  return { seconds, source, end: { earliest: end - uncertaintyMs, latest: end + uncertaintyMs }, atItsEnd };
}

/** If no Event about the pod says it. `by`: who deleted it, as far as is known; completes "deleted by …". */
function triggerOf(traces: Traces, next: Successor | undefined): { trigger: TriggerKind; by: string } {
  const { deleted, facts, owners } = traces;
  // A controller writes one for each pod that it deletes; client-go drops those after 25 in a burst.
  if (!deleted)
    return { trigger: 'unknown', by: 'a client that no Event names, or a controller whose Event was dropped' };
  const by = `${deleted.kind} ${deleted.name}`;
  const near = facts.filter((fact) => Math.abs(fact.at - deleted.at) < 120_000);
  // Why a Job stops all its pods: an Event that may come only after they have ended.
  const end = near.find(({ name, reason }) => name === deleted.name && /^(\w+Exceeded|Suspended)$/.test(reason));
  if (deleted.kind === 'Job') return { trigger: 'job', by: end ? `${by} (${end.message})` : by };
  // A scale-down would not recreate the name, and a controller writes an Event when it replaces a failed pod.
  const isFailed = facts.some(
    (fact) => /^(Recreating|FailedDaemonPod)/.test(fact.reason) && fact.message.includes(deleted.name),
  );
  if (deleted.kind === 'StatefulSet' && next && !isFailed) return { trigger: 'rollout', by: `a rollout of ${by}` };
  // A rollout scales up another ReplicaSet of the same Deployment at the same time.
  const deployment = owners[1]?.name;
  const scaling = near.filter(
    ({ kind, name, reason }) => kind === 'Deployment' && name === deployment && reason === 'ScalingReplicaSet',
  );
  const isScaledDown = scaling.some((fact) => fact.message.startsWith('Scaled down') && hasWord(fact, deleted.name));
  const isRollout = scaling.some((fact) => fact.message.startsWith('Scaled up') && !hasWord(fact, deleted.name));
  if (isRollout && isScaledDown) return { trigger: 'rollout', by: `a rollout of Deployment ${deployment}` };
  if (isScaledDown) return { trigger: 'scale-down', by: `${by}: Deployment ${deployment} was scaled down` };
  return { trigger: 'unknown', by: `${by}: a rollout, or fewer pods` };
}

/** Pods that were stopped, according to Events, and are gone or failed; bad ends first, then the latest. */
export function endedPods(history: NamespaceHistory) {
  const alive = history.pods.filter(({ status }) => status?.phase !== 'Failed').map(({ metadata }) => metadata?.uid);
  const stopped = history.facts.filter(
    (fact) => isStop(fact) || (fact.kind === 'Pod' && readEvent(fact)?.moment.name === 'evicted'),
  );
  const last = new Map(
    stopped.filter(({ uid }) => uid !== undefined && !alive.includes(uid)).map((fact) => [fact.name, fact.at]),
  );
  return [...last]
    .map(([name, at]) => ({ name, at, ...gonePod(name, history) }))
    .sort((a, b) => Number(b.problem !== undefined) - Number(a.problem !== undefined) || b.at - a.at);
}

type PastOwner = NonNullable<PastExit['owners']>[number];

/** Characters of generated names (apimachinery/pkg/util/rand); the base is cut to 58 (names.SimpleNameGenerator). */
const generatedCharacter = '[bcdfghjklmnpqrstvwxz2456789]';

/** Whether a controller of this kind and name may have created a pod of this name. */
export function mayOwn(kind: string, owner: string, pod: string): boolean {
  if (kind === 'StatefulSet') return pod.startsWith(`${owner}-`) && /^\d+$/.test(pod.slice(owner.length + 1));
  const hash = kind === 'Deployment' ? `${generatedCharacter}{1,10}-` : '';
  const base = `${owner}-`.slice(0, 58);
  return pod.startsWith(base) && new RegExp(`^${hash}${generatedCharacter}{5}$`).test(pod.slice(base.length));
}

/** From the controller's Event that created or deleted the pod; else inferred from the pattern of its name. */
function ownersOf(name: string, history: NamespaceHistory): PastOwner[] {
  const known = history.facts.findLast(
    (fact) => /^Successful(Create|Delete)$/.test(fact.reason) && hasWord(fact, name),
  );
  const nameMatch = history.workloads
    .filter(({ kind, metadata }) => kind !== 'Deployment' && mayOwn(kind ?? '', metadata?.name ?? '', name))
    .sort((a, b) => (b.metadata?.name?.length ?? 0) - (a.metadata?.name?.length ?? 0))[0];
  const { kind, name: ownerName, uid } = known ?? { kind: nameMatch?.kind, ...nameMatch?.metadata };
  if (kind === undefined || ownerName === undefined) return [];
  const own: PastOwner = { kind, name: ownerName, uid, isInferred: !known };
  const parent = own.kind === 'ReplicaSet' ? parentOf(own, history) : undefined;
  return parent ? [own, parent] : [own];
}

/** The name of the Deployment that created a ReplicaSet of this name: without the hash at its end. */
export const deploymentNameIn = (replicaSet: string): string | undefined =>
  new RegExp(`^(.+)-${generatedCharacter}{5,10}$`).exec(replicaSet)?.[1];

/** From the owner reference, or the name without its hash. */
function parentOf(replicaSet: PastOwner, { workloads }: NamespaceHistory): PastOwner | undefined {
  const object = objectOf(replicaSet, workloads);
  const reference = object?.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  if (reference)
    return { kind: reference.kind, name: reference.name, uid: reference.uid, isInferred: replicaSet.isInferred };
  if (object) return undefined;
  const name = deploymentNameIn(replicaSet.name);
  return name === undefined ? undefined : { kind: 'Deployment', name, isInferred: true };
}

const objectOf = (owner: PastOwner | undefined, workloads: readonly KubernetesObject[]) =>
  workloads.find(
    ({ kind, metadata }) =>
      kind === owner?.kind &&
      metadata?.name === owner?.name &&
      (owner?.uid === undefined || metadata?.uid === owner.uid),
  );

const hasWord = ({ message }: EventFacts, name: string): boolean =>
  message.includes(name) && message.split(/[\s:]+/).includes(name);
