/** Who can serve while a pod of the workload stops, and why a second one may do harm. `unknown`: it cannot be read. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { asArray, asNumber, asObject, asString, asText, isPresent, type JsonObject } from '../model/observe/read.ts';
import type { Answer } from '../programs/behaviour.ts';
import { imageName } from '../programs/rows.ts';
import { list } from '../verdict/words.ts';
import type { ContainerSpec } from './container-spec.ts';
import known from './data/capacity.json' with { type: 'json' };
import { amountOf, commonValue, type AutoscalerBounds, type Neighbours } from './neighbours.ts';

/** An answer with its reason, which completes a sentence: "its StatefulSet starts the next pod only after it is gone". */
export interface Reasoned {
  readonly answer: Answer;
  readonly because: string;
}

export type SingleReason = keyof typeof known.single;

export const reasonsIn = (single: readonly SingleReason[]): string => list(single.map((why) => known.single[why]));

/** Why a new pod cannot run beside the old one. `unknown`: on some nodes, or with some volumes. */
export interface InPlaceReason {
  readonly why: 'StatefulSet' | 'Recreate' | 'DaemonSet' | 'volume' | 'device' | 'host ports';
  readonly answer: Exclude<Answer, 'no'>;
}

type Capacity = ReturnType<typeof capacityOf>;

/** `25%` of 4 is 1; maxUnavailable is rounded down and maxSurge up (apps/v1 RollingUpdateDeployment). */
export function countOf(amount: number | string | undefined, replicas: number, round: 'up' | 'down') {
  if (typeof amount === 'number') return amount;
  const share = (replicas * Number(/^(\d{1,4})%$/.exec(amount ?? '')?.[1])) / 100;
  return Number.isNaN(share) ? undefined : round === 'up' ? Math.ceil(share) : Math.floor(share);
}

/** A rollout may stop every pod before a new one is ready. A StatefulSet rounds maxUnavailable up (apps/v1). */
export function stopsAllAtOnce(kind: string, { rollout, replicas }: Pick<Capacity, 'rollout' | 'replicas'>): boolean {
  if (!rollout) return false;
  if (rollout.isRecreate) return true;
  const { maxUnavailable } = rollout;
  // How many replicas there are is unknown, or an autoscaler may add more.
  if (replicas === undefined) return maxUnavailable === '100%';
  if (kind === 'StatefulSet' && replicas === 1) return false;
  return replicas > 0 && (countOf(maxUnavailable, replicas, kind === 'Deployment' ? 'down' : 'up') ?? 0) >= replicas;
}

/** A rollout stops no pod before a new one is ready. Zero replicas now say nothing about later. */
export function startsFirst({ rollout, replicas }: Pick<Capacity, 'rollout' | 'replicas'>): boolean {
  if (!rollout || rollout.isRecreate || (countOf(rollout.maxSurge, replicas || 1, 'up') ?? 0) < 1) return false;
  return (countOf(rollout.maxUnavailable, replicas || 1, 'down') ?? 0) < 1;
}

/** A new pod that is started first becomes ready beside the old one. */
export const surges = (capacity: Capacity): Answer =>
  !startsFirst(capacity) || capacity.inPlace.some(({ answer }) => answer === 'yes')
    ? 'no'
    : capacity.inPlace.length === 0
      ? 'yes'
      : 'unknown';

/** Reads what the object, its pod spec and the objects around it say. `neighbours.services` are those that select its pods. */
export function capacityOf(
  object: KubernetesObject,
  podSpec: JsonObject,
  containers: readonly ContainerSpec[],
  neighbours: Neighbours,
) {
  const rollout = rolloutOf(object);
  const replicas = replicasOf(object, neighbours);
  const isOne = object.kind === 'Deployment' && replicas.replicas === 1;
  const volumes = volumesOf(object, podSpec, neighbours);
  const held = volumes.flatMap(({ modes }) => (modes.some((mode) => mode.endsWith('Many')) ? [] : [modes]));
  // In this order ReadWriteOncePod, the strictest, is the last one.
  const accessMode = held.flat().sort().at(-1);
  const mounted = new Set(containers.flatMap(({ mounts }) => mounts));
  const data = volumes.filter(({ name }) => mounted.has(name) || object.kind === 'StatefulSet');
  const devices = containers.some((one) => one.devices.length > 0);
  const isOnHost = podSpec['hostNetwork'] === true;
  const opensPort = neighbours.services.length > 0 || containers.some((one) => one.ports.length > 0);
  const ports = (isOnHost && opensPort) || containers.some((one) => one.ports.some(({ hostPort }) => hostPort));
  const single: [boolean, SingleReason][] = [
    [data.length > 0 || held.length > 0, 'data volume'],
    [containers.some((one) => one.kind !== 'init' && keepsData(one)), 'store image'],
    [rollout?.isRecreate === true || (isOne && /^0%?$/.test(String(rollout?.maxSurge))), 'recreate'],
    [containers.some(isWithoutElection), 'leader election off'],
    [devices, 'device'],
    [ports, 'host ports'],
  ];
  const isDaemonSet = object.kind === 'DaemonSet';
  const inPlace: [boolean, InPlaceReason['why'], InPlaceReason['answer']][] = [
    [object.kind === 'StatefulSet', 'StatefulSet', 'yes'],
    [rollout?.isRecreate === true, 'Recreate', 'yes'],
    [isDaemonSet && rollout?.maxSurge === 0, 'DaemonSet', 'yes'],
    // A ReadWriteOnce volume serves several pods of one node, so it depends on where the new pod lands.
    [held.length > 0, 'volume', 'unknown'],
    [devices, 'device', 'unknown'],
    [ports || (isOnHost && !isDaemonSet), 'host ports', isDaemonSet ? 'yes' : 'unknown'],
  ];
  return {
    ...replicas,
    rollout,
    /** Of the claim that only one node, or one pod, can use at a time; undefined if it cannot be read. */
    accessMode,
    inPlace: inPlace.flatMap(([applies, why, answer]) => (applies ? [{ why, answer }] : [])),
    single: single.flatMap(([applies, why]) => (applies ? [why] : [])),
    volumes,
    /** Each pod keeps data of its own, whatever its containers are. */
    ownData: object.kind === 'StatefulSet' && data.length > 0,
  };
}

const specOf = (object: KubernetesObject): JsonObject => asObject(asObject(object)['spec']);

/** The fewest pods that are wanted, 1 by default; undefined if it cannot be read. `autoscaler`: what sets them, up to `most`. */
function replicasOf(object: KubernetesObject, { autoscaled }: Neighbours): Partial<AutoscalerBounds> {
  const { status, kind } = asObject(object);
  if (kind === 'DaemonSet') return { replicas: asNumber(asObject(status)['desiredNumberScheduled']) };
  if (!['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController'].includes(object.kind ?? '')) return {};
  const scalers = autoscaled.filter(({ target }) => target === `${object.kind}/${object.metadata?.name}`);
  if (scalers.length > 0) return commonValue(scalers.map(({ sets }) => sets)) ?? {};
  return { replicas: asNumber(specOf(object)['replicas']) ?? 1 };
}

/** Amounts as in the API. Of a StatefulSet, `Recreate` (alpha in 1.37) and maxUnavailable count where the cluster has the feature. */
function rolloutOf(object: KubernetesObject) {
  const { selector, strategy, updateStrategy } = specOf(object);
  const own = object.kind === 'Deployment' ? strategy : updateStrategy;
  const { type, rollingUpdate } = asObject(own);
  const { maxUnavailable, maxSurge } = asObject(rollingUpdate);
  const defaults: number | string | undefined = { Deployment: '25%', StatefulSet: 1, DaemonSet: 1 }[object.kind ?? ''];
  // Without its selector it is a part, such as a patch of kustomize, and what is added may have a strategy.
  if (defaults === undefined || type === 'OnDelete' || (own ?? selector) === undefined) return undefined;
  return {
    isRecreate: type === 'Recreate',
    maxUnavailable: amountOf(maxUnavailable) ?? defaults,
    maxSurge: object.kind === 'StatefulSet' ? 0 : (amountOf(maxSurge) ?? (object.kind === 'Deployment' ? '25%' : 0)),
  };
}

/** Volumes that outlive the pod, and are written. `modes`: access modes; none of a claim that is not in the input. */
function volumesOf(object: KubernetesObject, podSpec: JsonObject, { claims }: Neighbours) {
  // Nothing waits for a `hostPath`, of which each node has its own; a `csi` without a claim is made for each pod. A part of
  // the node's system, such as its time zone or the socket of its runtime, is no data of the pod.
  const lasting = asArray(podSpec['volumes'], 256)
    .map(asObject)
    .filter((volume) => !known.passingVolumes.some((kind) => isPresent(volume[kind])) && Object.keys(volume).length > 1)
    .filter((volume) => !new RegExp(known.systemPaths).test(asText(asObject(volume['hostPath'])['path'])))
    .map((volume) => {
      const claim = asString(asObject(volume['persistentVolumeClaim'])['claimName']);
      const ofKind = known.sharedVolumes.some((kind) => isPresent(volume[kind])) ? ['ReadWriteMany'] : [];
      const own = claims.filter(({ name }) => name === claim).map(({ modes }) => modes);
      const modes = claim === undefined ? ofKind : (commonValue(own) ?? []);
      return { name: asText(volume['name']), modes, isOfNode: isPresent(volume['hostPath']) };
    })
    .filter(({ modes: [first, ...others] }) => first !== 'ReadOnlyMany' || others.length > 0);
  const templates = asArray(specOf(object)['volumeClaimTemplates'], 64).map((one) =>
    asText(asObject(asObject(one)['metadata'])['name']),
  );
  return [...lasting, ...templates.map((name) => ({ name, modes: [], isOfNode: false }))];
}

/** By the last part of the repository of its image, or a port of such a store; not if it only passes requests on. */
const keepsData = ({ image, ports, isNamedAsHelper, command: { command, args } }: ContainerSpec): boolean =>
  !(isNamedAsHelper || new RegExp(known.gateways).test([imageName(image), ...command, ...args].join(' '))) &&
  ([known.databases, known.stores].some((one) => new RegExp(one).test(imageName(image))) ||
    image.includes('/mssql/server') ||
    ports.some(({ port }) => known.storePorts.includes(port)));

/** Whether each pod may keep data of its own in the container, so that another pod may not be able to answer for it. */
export function mayKeepData(container: ContainerSpec, isAsked: boolean, { volumes, ownData }: Capacity): boolean {
  if (ownData || !keepsData(container)) return ownData;
  if (isAsked && new RegExp(known.databases).test(imageName(container.image))) return true;
  const used = volumes.filter(({ name }) => container.mounts.includes(name));
  const isShared = used.every(({ modes, isOfNode }) => !isOfNode && modes.some((mode) => mode.endsWith('Many')));
  return used.length > 0 ? !isShared : isAsked;
}

/** Flags with which a program says that it must be the only one, and Celery's scheduler, of which there must be one. */
const isWithoutElection = ({ command: { command, args }, env }: ContainerSpec): boolean =>
  known.alone.some((one) => new RegExp(one).test([...command, ...args].join(' ').replace(/[ \t]+/g, ' '))) ||
  env.some(({ name, value }) => /LEADER_?ELECT/i.test(name) && /^(false|0)$/i.test(value));
