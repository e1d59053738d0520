/**
 * Reconstructs a pod that is gone from Events and objects around it: who owned and deleted it, when it was stopped,
 * and whether it still existed when its grace period ended. How its containers exited is in no Event. Pure.
 */
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { asArray, asObject, asSeconds, asText } from '../../model/observe/read.ts';
import type { TriggerKind } from '../../model/report.ts';
import {
  isStop,
  momentAt,
  readEvent,
  timeIn,
  uncertaintyMs,
  type EventFacts,
  type ReadableEvent,
} from './event-facts.ts';
import { hasWord, objectOf, ownersOf, type NamespaceHistory, type Owner } from './owners.ts';
import { isTime, type PastGrace, type WhyMoment } from './report.ts';

/** What is known of a pod that is gone. */
export type GonePod = ReturnType<typeof gonePod>;

/** `nodeFacts`: Events about its node. */
export function gonePod(name: string, history: NamespaceHistory, nodeFacts: readonly EventFacts[] = []) {
  const { facts } = history;
  const own = eventsOfLatest(name, history);
  const stop = own.find(isStop);
  const read = own.flatMap((fact) => readEvent(fact) ?? []);
  const uid = own.findLast((fact) => fact.uid !== undefined)?.uid;
  const owners = ownersOf(name, history);
  const deleted = facts.findLast((fact) => fact.reason === 'SuccessfulDelete' && hasWord(fact, name));
  const next = successorOf(name, uid, stop, history, owners[0]);
  const moments = [
    ...read.map(({ moment }) => moment),
    ...(deleted ? [deletionBy(deleted)] : []),
    ...(stop ? nodeMoments(nodeFacts, stop) : []),
    ...(deleted ? changeOf(owners.at(-1), history, deleted.at) : []),
    ...(next ? [next.moment] : []),
  ].sort((a, b) => a.earliest - b.earliest);
  const caused = read.findLast(({ trigger, moment }) => trigger && (!stop || moment.earliest <= stop.at));
  const isCancelled = moments.some((moment) => moment.name === 'taint-cancelled' && caused?.trigger === 'taint');
  return {
    uid,
    node: nodeOf(own),
    ...triggerOf(isCancelled ? undefined : caused, deleted, history, { owners, next, moments }),
    owners,
    grace: stop && graceOf(stop, read, next, history, owners),
    moments,
    /** The next pod of its name existed before the kubelet began to stop this one: it was removed while running. */
    wasForced:
      stop !== undefined && next?.goneBy !== undefined && next.goneBy + uncertaintyMs < stop.at - uncertaintyMs,
  };
}

const nodeOf = (own: readonly EventFacts[]): string | undefined =>
  own
    .map(({ host, message }) => host ?? /^Successfully assigned \S+ to (\S+)$/.exec(message)?.[1])
    .findLast((node) => node !== undefined);

/** The node of a pod, needed to read the Events about that node. */
export const nodeOfPod = (name: string, history: NamespaceHistory): string | undefined =>
  nodeOf(eventsOfLatest(name, history));

/** The Events of the latest pod with this name that was stopped, else of the latest: a StatefulSet reuses names. */
function eventsOfLatest(name: string, { facts }: NamespaceHistory): EventFacts[] {
  const own = facts.filter((fact) => fact.kind === 'Pod' && fact.name === name);
  const uid = own.findLast(isStop)?.uid ?? own.findLast((fact) => fact.uid !== undefined)?.uid;
  return own.filter((fact) => fact.uid === undefined || fact.uid === uid);
}

const deletionBy = (fact: EventFacts): WhyMoment => ({
  ...momentAt(fact),
  name: 'deleted',
  what: `${fact.kind.toLowerCase()}/${fact.name} deleted it`,
  isBad: false,
});

/** What happened to the node shortly before the stop and until a minute after it. */
const nodeMoments = (facts: readonly EventFacts[], stop: EventFacts): WhyMoment[] =>
  facts
    .filter(({ at }) => at > stop.at - 120_000 && at < stop.at + 60_000)
    .flatMap((fact) => readEvent({ ...fact, kind: 'Node' })?.moment ?? []);

/** Which program changed the workload before its controller deleted the pod; managedFields names no users. */
function changeOf(owner: Owner | undefined, { workloads }: NamespaceHistory, before: number): WhyMoment[] {
  const object = objectOf(owner, workloads);
  const last = asArray(asObject(object?.metadata)['managedFields'])
    .map(asObject)
    .filter((entry) => entry['subresource'] !== 'status')
    .map((entry) => ({ by: asText(entry['manager']), at: timeIn(entry['time']) }))
    .filter(({ by, at }) => !by.startsWith('kube-controller') && at > before - 600_000 && at <= before + uncertaintyMs)
    .sort((a, b) => a.at - b.at)
    .at(-1);
  if (!last || !owner) return [];
  const what = `${owner.kind.toLowerCase()}/${owner.name} was changed by the program ${last.by}`;
  const source = 'managedFields';
  return [{ name: 'workload-changed', what, earliest: last.at, latest: last.at + 1000, source, isBad: false }];
}

/** The pod that replaced it. */
interface Successor {
  pod?: V1Pod;
  /** ms since the epoch. The pod was removed by then, because another one has its name. Unset for a sibling. */
  goneBy?: number;
  moment: WhyMoment;
}

const createdAt = ({ metadata }: KubernetesObject): number => timeIn(metadata?.creationTimestamp);

function successorOf(
  name: string,
  uid: string | undefined,
  stop: EventFacts | undefined,
  { facts, pods }: NamespaceHistory,
  owner: Owner | undefined,
): Successor | undefined {
  if (!stop) return undefined;
  const others = pods.filter((pod) => uid !== undefined && pod.metadata?.uid !== uid);
  const namesake = others.find((pod) => pod.metadata?.name === name);
  const ofName = facts.filter((fact) => fact.kind === 'Pod' && fact.name === name);
  const nextEvent = namesake ? undefined : firstEventOfNext(uid, stop, ofName);
  const sibling = others
    .filter((pod) => createdAt(pod) >= stop.at - 2 * uncertaintyMs)
    .filter((pod) => pod.metadata?.ownerReferences?.some(({ uid: ownerUid }) => ownerUid === owner?.uid))
    .sort((a, b) => createdAt(a) - createdAt(b))[0];
  const pod = namesake ?? (owner?.kind === 'StatefulSet' ? undefined : sibling);
  const created = pod
    ? { earliest: createdAt(pod), latest: createdAt(pod) + 1000, source: 'creationTimestamp' }
    : nextEvent && { ...momentAt(nextEvent), source: 'Events of the next pod' };
  if (!created || !isTime(created.earliest)) return undefined;
  const isSibling = pod !== undefined && pod !== namesake;
  const what = isSibling
    ? `pod ${pod.metadata?.name} was created, perhaps as its replacement`
    : `the next ${name} was created`;
  const moment = { name: 'replacement-created', what, ...created, isBad: false };
  return { pod, goneBy: isSibling ? undefined : created.latest, moment };
}

/** Skips uids that have an Event before the stop: older pods of this name, which may still get Events. */
function firstEventOfNext(uid: string | undefined, stop: EventFacts, ofName: readonly EventFacts[]) {
  const older = new Set(ofName.filter(({ at }) => at <= stop.at).map((fact) => fact.uid));
  if (uid === undefined) return undefined;
  return ofName.find((fact) => fact.uid !== undefined && fact.uid !== uid && !older.has(fact.uid));
}

/** From the template or the replacement, because the pod is gone. A --grace-period of the deletion is unknown. */
function graceOf(
  stop: EventFacts,
  read: readonly ReadableEvent[],
  next: Successor | undefined,
  { workloads }: NamespaceHistory,
  owners: readonly Owner[],
): PastGrace | undefined {
  const { spec } = asObject(objectOf(owners[0], workloads));
  const specs: [unknown, string][] = [
    [asObject(asObject(spec)['template'])['spec'], `template of ${owners[0]?.kind} ${owners[0]?.name}`],
    [next?.pod?.spec, `spec of its replacement ${next?.pod?.metadata?.name}`],
  ];
  const [found] = specs.flatMap(([podSpec, source]) => {
    const seconds = asSeconds(asObject(podSpec)['terminationGracePeriodSeconds']);
    return seconds === undefined ? [] : [{ seconds, source }];
  });
  if (!found) return undefined;
  const end = stop.at + found.seconds * 1000;
  const lastSeen = Math.max(...read.flatMap(({ provesPresence, moment }) => (provesPresence ? moment.earliest : [])));
  const isGone = next?.goneBy !== undefined && next.goneBy < end - uncertaintyMs;
  const atItsEnd = isGone ? 'gone' : lastSeen > end + uncertaintyMs ? 'still-there' : 'unknown';
  return { ...found, end: { earliest: end - uncertaintyMs, latest: end + uncertaintyMs }, atItsEnd };
}

/** `by`: who deleted it, as far as is known; completes "deleted by …". */
function triggerOf(
  caused: ReadableEvent | undefined,
  deleted: EventFacts | undefined,
  history: NamespaceHistory,
  { owners, next, moments }: { owners: readonly Owner[]; next?: Successor; moments: readonly WhyMoment[] },
): { trigger: TriggerKind; by: string } {
  if (caused?.trigger && caused.by !== undefined) return { trigger: caused.trigger, by: caused.by };
  if (!deleted) return { trigger: 'unknown', by: clientText(owners, history, moments) };
  const by = `${deleted.kind} ${deleted.name}`;
  if (deleted.kind === 'Job') return { trigger: 'job', by };
  // A scale-down would not recreate the name, and a controller writes an Event when it replaces a failed pod.
  const isFailed = history.facts.some(
    (fact) => /^(Recreating|FailedDaemonPod)/.test(fact.reason) && fact.message.includes(deleted.name),
  );
  if (deleted.kind === 'StatefulSet' && next?.goneBy !== undefined && !isFailed)
    return { trigger: 'rollout', by: `a rollout of ${by}` };
  if (deleted.kind !== 'ReplicaSet') return { trigger: 'unknown', by: `${by}: a rollout, or fewer replicas` };
  // A rollout scales up another ReplicaSet of the same Deployment at the same time.
  const scaling = history.facts.filter(
    (fact) =>
      fact.kind === 'Deployment' &&
      fact.name === owners[1]?.name &&
      fact.reason === 'ScalingReplicaSet' &&
      Math.abs(fact.at - deleted.at) < 120_000,
  );
  const isScaledDown = scaling.some((fact) => fact.message.startsWith('Scaled down') && hasWord(fact, deleted.name));
  const isRollout = scaling.some((fact) => fact.message.startsWith('Scaled up') && !hasWord(fact, deleted.name));
  if (isRollout && isScaledDown) return { trigger: 'rollout', by: `a rollout of Deployment ${owners[1]?.name}` };
  if (isScaledDown) return { trigger: 'scale-down', by: `${by}: Deployment ${owners[1]?.name} was scaled down` };
  return { trigger: 'unknown', by: `${by}: a rollout, or fewer replicas` };
}

/**
 * Controllers, the scheduler and the taint manager write an Event for each pod that they delete. Without one a client
 * deleted it, or client-go dropped the Event: it sends 25 about an object in a burst, then one in five minutes.
 */
function clientText(
  owners: readonly Owner[],
  { facts, workloads }: NamespaceHistory,
  moments: readonly WhyMoment[],
): string {
  const lost = owners.find((owner) => !owner.isInferred && !objectOf(owner, workloads));
  if (lost) return `a client, or the garbage collector: its owner ${lost.kind} ${lost.name} is gone too`;
  const [owner] = owners;
  const others = facts.filter(
    (fact) => fact.reason === 'SuccessfulDelete' && fact.kind === owner?.kind && fact.name === owner.name,
  );
  if (owner && others.length >= 20)
    return `${owner.kind} ${owner.name}, perhaps: it deleted at least ${others.length} others, and Events beyond 25 are dropped`;
  const cordon = moments.findLast(({ name }) => name === 'cordoned' || name === 'uncordoned');
  return `a client that no Event names${cordon?.name === 'cordoned' ? ', perhaps kubectl drain: its node was cordoned' : ''}`;
}

/** Pods that were stopped, according to Events; bad ends first, then the latest. `present`: uids that still exist. */
export function endedPods(history: NamespaceHistory, present: ReadonlySet<string>) {
  const stopped = history.facts.filter(
    (fact) => isStop(fact) || (fact.kind === 'Pod' && readEvent(fact)?.moment.name === 'evicted'),
  );
  const last = new Map(
    stopped.filter(({ uid }) => uid !== undefined && !present.has(uid)).map((fact) => [fact.name, fact.at]),
  );
  return [...last]
    .map(([name, at]) => {
      const { moments, by, owners } = gonePod(name, history);
      const problem = moments.findLast(({ isBad }) => isBad);
      return { name, at, what: problem?.what ?? `deleted by ${by}`, isBad: problem !== undefined, owners };
    })
    .sort((a, b) => Number(b.isBad) - Number(a.isBad) || b.at - a.at);
}
