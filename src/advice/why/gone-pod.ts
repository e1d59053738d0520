/**
 * A pod that is gone, from Events and from the objects around it: who owned and deleted it, when it was stopped, and whether it
 * was still there at the end of its grace period. No Event holds an exit code, so nothing here says how a container exited. Pure.
 */
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { asArray, asObject, asSeconds, asString } from '../../model/observe/read.ts';
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
import { isTime, type WhyMoment, type WhyReport } from './report.ts';

/** A namespace as it is now, with what is left of the last hour. */
export interface NamespaceHistory {
  facts: readonly EventFacts[];
  pods: readonly V1Pod[];
  /** ReplicaSets, Deployments, StatefulSets, DaemonSets and Jobs, each with its kind. */
  workloads: readonly KubernetesObject[];
}

export type Owner = NonNullable<WhyReport['owners']>[number];

export interface GonePod {
  uid?: string;
  node?: string;
  moments: WhyMoment[];
  trigger: TriggerKind;
  /** Who deleted it, as far as it is known: completes "deleted by". */
  by: string;
  /** The pod's owner first, then what owns that. */
  owners: Owner[];
  grace?: WhyReport['grace'];
  /** The next pod of its name was there before its kubelet began to stop it: the object was removed under its containers. */
  wasForced: boolean;
}

/** `nodeFacts`: of its node. */
export function gonePod(name: string, history: NamespaceHistory, nodeFacts: readonly EventFacts[] = []): GonePod {
  const { facts } = history;
  const own = latestOfName(facts.filter((one) => one.kind === 'Pod' && one.name === name));
  const stop = own.find(isStop);
  const read = own.flatMap((one) => readEvent(one) ?? []);
  const uid = own.findLast((one) => one.uid !== undefined)?.uid;
  const owners = ownersOf(name, history);
  const deleted = facts.findLast((one) => one.reason === 'SuccessfulDelete' && namesPod(one, name));
  const next = successorOf(name, uid, stop, history, owners[0]);
  const moments = [
    ...read.map(({ moment }) => moment),
    ...(deleted ? [deletionBy(deleted)] : []),
    ...(stop ? nodeMoments(nodeFacts, stop) : []),
    ...(deleted ? changeOf(owners.at(-1), history, deleted.at) : []),
    ...(next ? [next.moment] : []),
  ].sort((a, b) => a.earliest - b.earliest);
  const caused = read.findLast(({ trigger, moment }) => trigger && (!stop || moment.earliest <= stop.at));
  const isCancelled = moments.some((one) => one.name === 'taint-cancelled' && caused?.trigger === 'taint');
  return {
    uid,
    node: nodeOf(own),
    moments,
    ...triggerOf(isCancelled ? undefined : caused, deleted, history, { owners, next, moments }),
    owners,
    grace: stop && graceOf(stop, read, next, history, owners),
    wasForced:
      stop !== undefined && next?.goneBy !== undefined && next.goneBy + uncertaintyMs < stop.at - uncertaintyMs,
  };
}

const nodeOf = (own: readonly EventFacts[]): string | undefined =>
  own
    .map(({ host, message }) => host ?? /^Successfully assigned \S+ to (\S+)$/.exec(message)?.[1])
    .findLast((node) => node !== undefined);

/** The node of a pod whose other Events are still to be read. */
export const nodeOfPod = (name: string, { facts }: NamespaceHistory): string | undefined =>
  nodeOf(latestOfName(facts.filter((one) => one.kind === 'Pod' && one.name === name)));

/** A StatefulSet gives a name again: the Events of the last uid that was stopped, else of the last one. */
function latestOfName(own: readonly EventFacts[]): EventFacts[] {
  const uid = own.findLast(isStop)?.uid ?? own.findLast((one) => one.uid !== undefined)?.uid;
  return own.filter((one) => one.uid === undefined || one.uid === uid);
}

const namesPod = ({ message }: EventFacts, name: string): boolean =>
  message.includes(name) && message.split(/[\s:]+/).includes(name);

const deletionBy = (one: EventFacts): WhyMoment => ({
  ...momentAt(one),
  name: 'deleted',
  what: `${one.kind.toLowerCase()}/${one.name} deleted it`,
  isBad: false,
});

/** What happened to the node shortly before the stop and until a minute after it. */
const nodeMoments = (facts: readonly EventFacts[], stop: EventFacts): WhyMoment[] =>
  facts
    .filter(({ at }) => at > stop.at - 120_000 && at < stop.at + 60_000)
    .flatMap((one) => readEvent({ ...one, kind: 'Node' })?.moment ?? []);

/** Who changed the workload before its controller deleted the pod: a program's name, not a person's (managedFields). */
function changeOf(owner: Owner | undefined, { workloads }: NamespaceHistory, before: number): WhyMoment[] {
  const object = workloads.find((one) => isSameObject(one, owner));
  const last = asArray(asObject(object?.metadata)['managedFields'])
    .map(asObject)
    .filter((one) => one['subresource'] !== 'status')
    .map((one) => ({ by: asString(one['manager']) ?? '', at: timeIn(one['time']) }))
    .filter(({ by, at }) => !by.startsWith('kube-controller') && at > before - 600_000 && at <= before + uncertaintyMs)
    .sort((a, b) => a.at - b.at)
    .at(-1);
  if (!last || !owner) return [];
  const what = `${owner.kind.toLowerCase()}/${owner.name} was changed by the program ${last.by}`;
  const source = 'managedFields';
  return [{ name: 'workload-changed', what, earliest: last.at, latest: last.at + 1000, source, isBad: false }];
}

/** Letters of generated names: k8s.io/apimachinery/pkg/util/rand; a name is cut at 58 before them (names.SimpleNameGenerator). */
const letters = '[bcdfghjklmnpqrstvwxz2456789]';
const longestBase = 58;

/** Whether a controller of this kind and name gives such a name to its pods. */
export function mayOwn(kind: string, owner: string, pod: string): boolean {
  if (kind === 'StatefulSet') return pod.startsWith(`${owner}-`) && /^\d+$/.test(pod.slice(owner.length + 1));
  const hash = kind === 'Deployment' ? `${letters}{1,10}-` : '';
  const base = `${owner}-`.slice(0, longestBase);
  return pod.startsWith(base) && new RegExp(`^${hash}${letters}{5}$`).test(pod.slice(base.length));
}

/** By the Event of the controller that created or deleted it; else, as inferred, by the form of its name. */
function ownersOf(name: string, { facts, workloads }: NamespaceHistory): Owner[] {
  const known = facts.findLast((one) => /^Successful(Create|Delete)$/.test(one.reason) && namesPod(one, name));
  const fitting = workloads
    .filter((one) => one.kind !== 'Deployment' && mayOwn(one.kind ?? '', one.metadata?.name ?? '', name))
    .sort((a, b) => (b.metadata?.name?.length ?? 0) - (a.metadata?.name?.length ?? 0))[0];
  const { kind, name: of, uid } = known ?? { kind: fitting?.kind, ...fitting?.metadata };
  if (kind === undefined || of === undefined) return [];
  const own: Owner = { kind, name: of, uid, isInferred: !known };
  const parent = own.kind === 'ReplicaSet' ? parentOf(own, { facts, workloads }) : undefined;
  return parent ? [own, parent] : [own];
}

const isSameObject = ({ kind, metadata }: KubernetesObject, owner: Owner | undefined): boolean =>
  kind === owner?.kind && metadata?.name === owner?.name && (owner?.uid === undefined || metadata?.uid === owner.uid);

/** By owner reference, by the Event of the Deployment that scaled it, else by name: `checkout` of `checkout-6677656c54`. */
function parentOf(
  replicaSet: Owner,
  { facts, workloads }: Pick<NamespaceHistory, 'facts' | 'workloads'>,
): Owner | undefined {
  const object = workloads.find((one) => isSameObject(one, replicaSet));
  const reference = object?.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  if (reference)
    return { kind: reference.kind, name: reference.name, uid: reference.uid, isInferred: replicaSet.isInferred };
  if (object) return undefined;
  const scaled = facts.findLast(
    (one) => one.kind === 'Deployment' && one.reason === 'ScalingReplicaSet' && namesPod(one, replicaSet.name),
  );
  if (scaled) return { kind: 'Deployment', name: scaled.name, uid: scaled.uid, isInferred: replicaSet.isInferred };
  const name = new RegExp(`^(.+)-${letters}{1,10}$`).exec(replicaSet.name)?.[1];
  return name === undefined ? undefined : { kind: 'Deployment', name, isInferred: true };
}

/** The pod that came in its place. */
interface Successor {
  pod?: V1Pod;
  /** ms since the epoch: by then this pod was removed, since another one has its name. */
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
  const same = others.find((pod) => pod.metadata?.name === name);
  const nextEvent = same ? undefined : firstEventOfNext(name, uid, stop, facts);
  const sibling = others
    .filter((pod) => createdAt(pod) >= stop.at - 2 * uncertaintyMs)
    .filter((pod) => pod.metadata?.ownerReferences?.some((one) => one.uid === owner?.uid))
    .sort((a, b) => createdAt(a) - createdAt(b))[0];
  const pod = same ?? (owner?.kind === 'StatefulSet' ? undefined : sibling);
  const [earliest, latest] = pod
    ? [createdAt(pod), createdAt(pod) + 1000]
    : nextEvent
      ? [nextEvent.at - uncertaintyMs, nextEvent.at + uncertaintyMs]
      : [NaN, NaN];
  if (!isTime(earliest)) return undefined;
  const isSibling = pod !== undefined && pod !== same;
  const what = isSibling
    ? `pod ${pod.metadata?.name} was created, perhaps as its replacement`
    : `the next ${name} was created`;
  const source = pod ? 'creationTimestamp' : 'Events of the next pod';
  const moment = { name: 'replacement-created', what, earliest, latest, source, isBad: false };
  return { pod, goneBy: isSibling ? undefined : latest, moment };
}

/** A uid with an Event before the stop is that of an older pod of the name, whose kubelet may still write of it. */
function firstEventOfNext(
  name: string,
  uid: string | undefined,
  stop: EventFacts,
  facts: readonly EventFacts[],
): EventFacts | undefined {
  const others = facts.filter(
    (one) => one.kind === 'Pod' && one.name === name && one.uid !== undefined && one.uid !== uid,
  );
  const older = new Set(others.filter(({ at }) => at <= stop.at).map((one) => one.uid));
  return uid === undefined ? undefined : others.find((one) => !older.has(one.uid));
}

/** The template's, since the pod's own is gone with it; a --grace-period of the deletion would have replaced it. */
function graceOf(
  stop: EventFacts,
  read: readonly ReadableEvent[],
  next: Successor | undefined,
  { workloads }: NamespaceHistory,
  owners: readonly Owner[],
): WhyReport['grace'] {
  const { spec } = asObject(workloads.find((one) => isSameObject(one, owners[0])));
  const specs: [unknown, string][] = [
    [asObject(asObject(spec)['template'])['spec'], `template of ${owners[0]?.kind} ${owners[0]?.name}`],
    [next?.pod?.spec, `spec of its replacement ${next?.pod?.metadata?.name}`],
  ];
  const [found] = specs.flatMap(([one, source]) => {
    const seconds = asSeconds(asObject(one)['terminationGracePeriodSeconds']);
    return seconds === undefined ? [] : [{ seconds, source }];
  });
  if (!found) return undefined;
  const end = stop.at + found.seconds * 1000;
  const seen = Math.max(...read.filter((one) => one.provesPresence).map(({ moment }) => moment.earliest));
  const isGone = next?.goneBy !== undefined && next.goneBy < end - uncertaintyMs;
  const atItsEnd = isGone ? 'gone' : seen > end + uncertaintyMs ? 'still-there' : 'unknown';
  const stamp = (at: number): string => new Date(at).toISOString();
  return { ...found, end: { earliest: stamp(end - uncertaintyMs), latest: stamp(end + uncertaintyMs) }, atItsEnd };
}

function triggerOf(
  caused: ReadableEvent | undefined,
  deleted: EventFacts | undefined,
  { facts, workloads }: NamespaceHistory,
  { owners, next, moments }: { owners: readonly Owner[]; next?: Successor; moments: readonly WhyMoment[] },
): Pick<GonePod, 'trigger' | 'by'> {
  if (caused?.trigger && caused.by !== undefined) return { trigger: caused.trigger, by: caused.by };
  if (!deleted) return { trigger: 'unknown', by: clientText(owners, { facts, workloads }, moments) };
  const by = `${deleted.kind} ${deleted.name}`;
  if (deleted.kind === 'Job') return { trigger: 'job', by };
  // A StatefulSet that lets a pod of this name go for good has fewer replicas; a controller says when it replaces a failed one.
  const isFailed = facts.some(
    (one) => /^(Recreating|FailedDaemonPod)/.test(one.reason) && one.message.includes(deleted.name),
  );
  if (deleted.kind === 'StatefulSet' && next?.goneBy !== undefined && !isFailed)
    return { trigger: 'rollout', by: `a rollout of ${by}` };
  if (deleted.kind !== 'ReplicaSet') return { trigger: 'unknown', by: `${by}: a rollout, or fewer replicas` };
  // A rollout scales another ReplicaSet of the same Deployment up, at the same time.
  const scaling = facts.filter(
    (one) =>
      one.kind === 'Deployment' &&
      one.name === owners[1]?.name &&
      one.reason === 'ScalingReplicaSet' &&
      Math.abs(one.at - deleted.at) < 120_000,
  );
  const isScaledDown = scaling.some((one) => one.message.startsWith('Scaled down') && namesPod(one, deleted.name));
  const isRollout = scaling.some((one) => one.message.startsWith('Scaled up') && !namesPod(one, deleted.name));
  if (isRollout && isScaledDown) return { trigger: 'rollout', by: `a rollout of Deployment ${owners[1]?.name}` };
  if (isScaledDown) return { trigger: 'scale-down', by: `${by}: Deployment ${owners[1]?.name} was scaled down` };
  return { trigger: 'unknown', by: `${by}: a rollout, or fewer replicas` };
}

/**
 * Controllers, the scheduler and the taint manager write an Event for each pod that they delete. What is left is a client, or one of
 * the Events that client-go drops: 25 of an object in a burst, then one in five minutes.
 */
function clientText(
  owners: readonly Owner[],
  { facts, workloads }: Pick<NamespaceHistory, 'facts' | 'workloads'>,
  moments: readonly WhyMoment[],
): string {
  const lost = owners.find((owner) => !owner.isInferred && !workloads.some((one) => isSameObject(one, owner)));
  if (lost) return `a client, or the garbage collector: its owner ${lost.kind} ${lost.name} is gone too`;
  const [own] = owners;
  const others = facts.filter(
    (one) => one.reason === 'SuccessfulDelete' && one.kind === own?.kind && one.name === own.name,
  );
  if (own && others.length >= 20)
    return `${own.kind} ${own.name}, perhaps: it deleted at least ${others.length} others, and Events beyond 25 are dropped`;
  const cordon = moments.findLast(({ name }) => name === 'cordoned' || name === 'uncordoned');
  return `a client that no Event names${cordon?.name === 'cordoned' ? ', perhaps kubectl drain: its node was cordoned' : ''}`;
}

/** A pod of which an Event says that it was stopped. */
export interface EndedPod {
  name: string;
  at: number;
  what: string;
  isBad: boolean;
  owners: Owner[];
}

/** The worst and then the latest first. `present`: uids of pods that are still there. */
export function endedPods(history: NamespaceHistory, present: ReadonlySet<string>): EndedPod[] {
  const stopped = history.facts.filter(
    (one) => isStop(one) || (one.kind === 'Pod' && readEvent(one)?.moment.name === 'evicted'),
  );
  const last = new Map(
    stopped.filter(({ uid }) => uid !== undefined && !present.has(uid)).map((one) => [one.name, one.at]),
  );
  return [...last]
    .map(([name, at]) => {
      const { moments, by, owners } = gonePod(name, history);
      const worst = moments.findLast(({ isBad }) => isBad);
      return { name, at, what: worst?.what ?? `deleted by ${by}`, isBad: worst !== undefined, owners };
    })
    .sort((a, b) => Number(b.isBad) - Number(a.isBad) || b.at - a.at);
}
