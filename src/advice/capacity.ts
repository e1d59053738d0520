/** Who can serve while a pod of the workload stops, and why a second one may do harm. `unknown`: it cannot be read. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { asArray, asNumber, asObject, asString, isPresent, type JsonObject } from '../model/observe/read.ts';
import type { Answer } from '../programs/behaviour.ts';
import { imageName } from '../programs/images.ts';
import { list } from '../verdict/words.ts';
import type { ContainerSpec } from './container-spec.ts';
import { amountOf, type Neighbours } from './neighbours.ts';

/** An answer with its reason, which completes a sentence: "its StatefulSet starts the next pod only after it is gone". */
export interface Reasoned {
  readonly answer: Answer;
  readonly because: string;
}

/** Why a second pod may do harm. */
export type SingleReason = 'data volume' | 'store image' | 'recreate' | 'leader election off' | 'device' | 'host ports';

const singleText: Readonly<Record<SingleReason, string>> = {
  'data volume': 'its volume keeps data, which a second pod may not share',
  'store image': 'a second pod of a store is no copy of the first, unless it is set up to replicate',
  recreate: 'its strategy (Recreate, or one replica with maxSurge 0) says that two pods must not run at the same time',
  'leader election off': 'leader election is off, or it must run alone, so two pods would do the same work twice',
  device: 'each pod takes a device',
  'host ports': 'each pod takes its ports of a node',
};

export const reasonsIn = (single: readonly SingleReason[]): string => list(single.map((why) => singleText[why]));

/** Why a new pod cannot run beside the old one. `unknown`: on some nodes, or with some volumes. */
export interface InPlaceReason {
  readonly why: 'StatefulSet' | 'Recreate' | 'DaemonSet' | 'volume' | 'device' | 'host ports';
  readonly answer: Exclude<Answer, 'no'>;
}

export type Capacity = ReturnType<typeof capacityOf>;

/** `25%` of 4 is 1; maxUnavailable is rounded down and maxSurge up (apps/v1 RollingUpdateDeployment). */
export function countOf(
  amount: number | string | undefined,
  replicas: number,
  round: 'up' | 'down',
): number | undefined {
  if (typeof amount === 'number') return amount;
  const share = /^(\d{1,4})%$/.exec(amount ?? '')?.[1];
  if (share === undefined) return undefined;
  return round === 'up' ? Math.ceil((replicas * Number(share)) / 100) : Math.floor((replicas * Number(share)) / 100);
}

/** A rollout may stop every pod before a new one is ready. A StatefulSet rounds maxUnavailable up (apps/v1). */
export function stopsAllAtOnce(kind: string, { rollout, replicas }: Pick<Capacity, 'rollout' | 'replicas'>): boolean {
  if (!rollout) return false;
  if (rollout.isRecreate) return true;
  const { maxUnavailable } = rollout;
  // How many replicas there are is unknown, or an autoscaler may add more.
  if (replicas === undefined) return maxUnavailable === '100%';
  // One pod of a StatefulSet is reported as such.
  if (kind === 'StatefulSet' && replicas === 1) return false;
  return replicas > 0 && (countOf(maxUnavailable, replicas, kind === 'Deployment' ? 'down' : 'up') ?? 0) >= replicas;
}

/** A rollout makes a new pod ready before it stops one. Zero replicas now say nothing about later. */
export function surges({ rollout, replicas, inPlace }: Capacity): Answer {
  if (!rollout || rollout.isRecreate) return 'no';
  const surge = countOf(rollout.maxSurge, replicas || 1, 'up') ?? 0;
  if (surge < 1 || (countOf(rollout.maxUnavailable, replicas || 1, 'down') ?? 0) > 0) return 'no';
  return inPlace.length === 0 ? 'yes' : inPlace.some(({ answer }) => answer === 'yes') ? 'no' : 'unknown';
}

/** Reads what the object, its pod spec and the objects around it say. `podSpec` is that of its template. */
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
  const held = volumes.find(({ modes }) => !modes.some((mode) => /Many$/.test(mode)));
  const mounted = new Set(containers.flatMap(({ mounts }) => mounts));
  const data = volumes.filter(({ name }) => mounted.has(name) || object.kind === 'StatefulSet');
  const isStore = containers.some((one) => one.kind !== 'init' && keepsData(one) && !one.isNamedAsHelper);
  const devices = containers.some((one) => one.devices.length > 0);
  const ports = podSpec['hostNetwork'] === true || containers.some((one) => one.ports.some(({ hostPort }) => hostPort));
  const single: [boolean, SingleReason][] = [
    [data.length > 0 || held !== undefined, 'data volume'],
    [isStore, 'store image'],
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
    [held !== undefined, 'volume', held?.modes.includes('ReadWriteOncePod') ? 'yes' : 'unknown'],
    // There may be no other one left.
    [devices, 'device', 'unknown'],
    [ports, 'host ports', isDaemonSet ? 'yes' : 'unknown'],
  ];
  return {
    ...replicas,
    /** Undefined for kinds that have no rollout, or if it cannot be read. */
    rollout,
    /** Of the claim that only one node, or one pod, can use at a time; undefined if it cannot be read. */
    accessMode: held?.modes[0],
    inPlace: inPlace.flatMap(([applies, why, answer]) => (applies ? [{ why, answer }] : [])),
    single: single.flatMap(([applies, why]) => (applies ? [why] : [])),
    /** Each pod keeps data of its own, so another pod may not be able to answer for it. */
    ownData: (isStore || (object.kind === 'StatefulSet' && data.length > 0) ? 'yes' : 'no') as Answer,
  };
}

const specOf = (object: KubernetesObject): JsonObject => asObject(asObject(object)['spec']);

/** The fewest pods that are wanted, 1 by default; undefined if it cannot be read. `autoscaler`: what sets them. */
function replicasOf(object: KubernetesObject, { autoscaled }: Neighbours): { replicas?: number; autoscaler?: string } {
  const { status, kind } = asObject(object);
  if (kind === 'DaemonSet') return { replicas: asNumber(asObject(status)['desiredNumberScheduled']) };
  if (!['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController'].includes(object.kind ?? '')) return {};
  const scaler = autoscaled.find(({ target }) => target === `${object.kind}/${object.metadata?.name}`);
  if (scaler) return { replicas: scaler.minimum, autoscaler: scaler.name };
  return { replicas: asNumber(specOf(object)['replicas']) ?? 1 };
}

/**
 * How a rollout replaces pods; amounts as in the API. `Recreate` of a StatefulSet is alpha in 1.37; its maxUnavailable is
 * honoured where the cluster has that feature.
 */
function rolloutOf(object: KubernetesObject) {
  const { strategy, updateStrategy } = specOf(object);
  const { type, rollingUpdate } = asObject(object.kind === 'Deployment' ? strategy : updateStrategy);
  const { maxUnavailable, maxSurge } = asObject(rollingUpdate);
  const defaults: number | string | undefined = { Deployment: '25%', StatefulSet: 1, DaemonSet: 1 }[object.kind ?? ''];
  if (defaults === undefined || type === 'OnDelete') return undefined;
  return {
    isRecreate: type === 'Recreate',
    maxUnavailable: amountOf(maxUnavailable) ?? defaults,
    // A StatefulSet has none.
    maxSurge: object.kind === 'StatefulSet' ? 0 : (amountOf(maxSurge) ?? (object.kind === 'Deployment' ? '25%' : 0)),
  };
}

/** Volumes that outlive the pod. `modes`: access modes; none of a claim that is not in the input. */
function volumesOf(object: KubernetesObject, podSpec: JsonObject, { claims }: Neighbours) {
  // `hostPath`: each node has its own, so that nothing waits for it.
  // `csi`: made for each pod, and never attached to a node, so it has no access mode.
  const sharedKinds = ['nfs', 'cephfs', 'azureFile', 'glusterfs', 'hostPath', 'csi'];
  const passing = ['emptyDir', 'configMap', 'secret', 'projected', 'downwardAPI', 'image', 'ephemeral'];
  const named = asArray(podSpec['volumes'], 256).map(asObject);
  const lasting = named
    .filter((volume) => !passing.some((kind) => isPresent(volume[kind])) && Object.keys(volume).length > 1)
    .filter(({ csi }) => asObject(csi)['readOnly'] !== true)
    .map((volume) => {
      const claim = asString(asObject(volume['persistentVolumeClaim'])['claimName']);
      const ofKind = sharedKinds.some((kind) => isPresent(volume[kind])) ? ['ReadWriteMany'] : [];
      const modes = claim === undefined ? ofKind : (claims.get(claim) ?? []);
      return { name: asString(volume['name']) ?? '', modes };
    });
  const own = asArray(specOf(object)['volumeClaimTemplates'], 64).map(asObject);
  return [...lasting, ...own.map(({ metadata }) => ({ name: asString(asObject(metadata)['name']) ?? '', modes: [] }))];
}

/** Images whose pods keep data that other pods do not have. By the last part of the repository. */
const stores =
  /^(redis(-stack(-server)?)?|valkey|keydb|dragonfly|memcached|mongo(db)?|mysql|mariadb|percona(-server)?|postgres(ql)?|postgis|timescaledb|pgvector|cockroach|rabbitmq|nats|kafka|zookeeper|etcd|consul|vault|minio|influxdb|prometheus|alertmanager|thanos|loki|tempo|mimir|cortex|victoria-metrics|vmstorage|clickhouse(-server)?|elasticsearch|opensearch|solr|cassandra|scylla|couchdb|couchbase|neo4j|qdrant|weaviate|milvus|meilisearch|typesense|registry|nexus3|gitea|gitlab-ce|jenkins|vaultwarden|sonarqube|keycloak|grafana|ghost|wordpress|nextcloud|home-assistant|pulsar|nsqd|beanstalkd|(eclipse-)?mosquitto|emqx|activemq(-artemis)?|rethinkdb|arangodb|dgraph|tidb|tikv|questdb|oracle-xe|mssql)$/;

/** The ports of stores: Redis, PostgreSQL, MySQL, MongoDB, Cassandra, etcd, Kafka, AMQP, memcached, Elasticsearch. */
const storePorts: ReadonlySet<unknown> = new Set([6379, 5432, 3306, 27017, 9042, 2379, 9092, 5672, 11211, 9300]);

const keepsData = ({ image, ports }: ContainerSpec): boolean =>
  stores.test(imageName(image)) || image.includes('/mssql/server') || ports.some(({ port }) => storePorts.has(port));

/** Flags with which a program says that it must be the only one, and Celery's scheduler, of which there must be one. */
const alone =
  /(^|\s)--?((enable-)?leader-?elect(ion)?(-enabled)?=(false|0)|singleton|(leader|lock)(-file|-path)?=\S+)(\s|$)/i;
const scheduler = /^(?=[^]*\bcelery\s)[^]*\s(beat|-B|--beat)(\s|$)/;

const isWithoutElection = ({ command: { command, args }, env }: ContainerSpec): boolean =>
  [alone, scheduler].some((one) => one.test([...command, ...args].join(' '))) ||
  env.some(({ name, value }) => /LEADER_?ELECT/i.test(name) && /^(false|0)$/i.test(value));
