/** What further pods of a workload could break, so that it is not tried, and what else a person is told before. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import type { SingleReason } from '../advice/capacity.ts';
import type { Neighbours } from '../advice/neighbours.ts';
import type { Situation } from '../advice/situation.ts';
import { asArray, asNumber, asObject, asString, isPresent, type JsonObject } from '../model/observe/read.ts';
import { matches } from '../run/streams/selectors.ts';
import { list } from '../verdict/words.ts';

/** Kinds whose pods are alike, and that replace a deleted pod. */
const copiedKinds: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet']);

/** Why other kinds are not copied. */
const kindRefusals: Readonly<Record<string, string>> = {
  StatefulSet: 'would have neither the name nor the data that each pod of a StatefulSet has of its own',
  DaemonSet: 'would do the work of a node a second time',
  Job: 'would do its work a second time',
  CronJob: 'would do its work a second time',
  Pod: 'would show one exit only: no controller replaces the pod',
};

const singleRefusals: Readonly<Record<SingleReason, string>> = {
  'data volume': 'would use its volume beside it, which keeps data or cannot be shared',
  'store image': 'would be a store without its data',
  recreate: 'would run beside it, and its strategy Recreate says that two pods must not',
  'leader election off': 'would do its work a second time: leader election is off',
  device: 'would take a device',
  'host ports': 'would take ports of its node',
};

/** The reasons not to copy it; each completes "a copy of it …". Empty: it can be copied. */
export function refusalsOf(workload: KubernetesObject, situation: Situation): string[] {
  const { kind } = situation.subject;
  const ofKind = kindRefusals[kind] ?? `would not be made as the controller of a ${kind} makes its pods`;
  const reasons = [
    ...(copiedKinds.has(kind) ? [] : [ofKind]),
    ...situation.capacity.single.map((why) => singleRefusals[why]),
    ...podRefusals.flatMap(([applies, because]) => (applies(podSpecIn(workload), situation) ? [because] : [])),
  ];
  return [...new Set(reasons)];
}

export const podSpecIn = (workload: KubernetesObject): JsonObject =>
  asObject(asObject(asObject(asObject(workload)['spec'])['template'])['spec']);

const podRefusals: readonly (readonly [(podSpec: JsonObject, situation: Situation) => boolean, string])[] = [
  [({ hostNetwork }) => hostNetwork === true, 'would use the network of its node'],
  [({ hostPID, hostIPC }) => hostPID === true || hostIPC === true, 'would act on the processes of its node'],
  [({ resourceClaims }) => asArray(resourceClaims).length > 0, singleRefusals.device],
  [hasBlockVolumes, singleRefusals['data volume']],
  [
    (_, { containers, capacity }) =>
      !capacity.single.includes('leader election off') && containers.some(takesPartInElection),
    'would take part in its leader election, and could become the leader in its place',
  ],
];

function hasBlockVolumes({ containers, initContainers }: JsonObject): boolean {
  const all = [...asArray(containers), ...asArray(initContainers)].map(asObject);
  return all.some(({ volumeDevices }) => isPresent(volumeDevices));
}

const takesPartInElection = ({ command, env }: Situation['containers'][number]): boolean =>
  [...command.command, ...command.args].some((word) => /^--?(enable-)?leader-?elect/i.test(word)) ||
  env.some(({ name }) => /LEADER_?ELECT/i.test(name));

/** What of the namespace would select a copy with these labels, as reasons. An empty selector selects every pod. */
export function selectorRefusals(
  { services, budgets }: Pick<Neighbours, 'services' | 'budgets'>,
  labels: Readonly<Record<string, string>>,
): string[] {
  const selecting = (kind: string, all: readonly { name: string; selector?: object | undefined }[]): string[] =>
    all
      .filter(({ selector }) => selector !== undefined && matches(selector, labels))
      .map(({ name }) => `would be selected by ${kind} ${name}, which selects every pod: try it in another namespace`);
  return [...selecting('Service', services), ...selecting('PodDisruptionBudget', budgets)];
}

/** What is created, beside the pods, by the names that quotas have for it. */
const createdObjects: Readonly<Record<string, number>> = {
  'count/deployments.apps': 2,
  'count/replicasets.apps': 2,
  services: 2,
  'count/services': 2,
  configmaps: 1,
  'count/configmaps': 1,
};

/** What would not fit into the quotas. `podSpecs`: of all pods at a time. A quota with scopes may not count them. */
export function quotaRefusals(quotas: readonly unknown[], podSpecs: readonly JsonObject[]): string[] {
  return quotas.map(asObject).flatMap(({ metadata, spec, status }) => {
    const { scopes, scopeSelector, hard: wanted } = asObject(spec);
    if (asArray(scopes).length > 0 || isPresent(scopeSelector)) return [];
    const { hard = wanted, used } = asObject(status);
    return Object.entries(asObject(hard)).flatMap(([resource, limit]) => {
      const needed = neededOf(resource, podSpecs);
      const [most, taken] = [quantityOf(limit), quantityOf(asObject(used)[resource]) ?? 0];
      if (needed === 0 || most === undefined || taken + needed <= most) return [];
      const name = asString(asObject(metadata)['name']) ?? '';
      return [`would not fit into ResourceQuota ${name}: ${resource} ${most - taken} free, ${needed} needed`];
    });
  });
}

function neededOf(resource: string, podSpecs: readonly JsonObject[]): number {
  if (resource === 'pods' || resource === 'count/pods') return podSpecs.length;
  if (Object.hasOwn(createdObjects, resource)) return createdObjects[resource] ?? 0;
  const [, list = 'requests', name] = /^(?:(requests|limits)\.)?(cpu|memory|ephemeral-storage)$/.exec(resource) ?? [];
  return name === undefined ? 0 : podSpecs.reduce((sum, podSpec) => sum + askedBy(podSpec, list, name), 0);
}

/** Containers and sidecars run together, init containers before them; a request is by default the limit. */
function askedBy(podSpec: JsonObject, list: string, name: string): number {
  const amounts = (field: string, isWanted: (container: JsonObject) => boolean): number[] =>
    asArray(podSpec[field])
      .map(asObject)
      .filter(isWanted)
      .map(({ resources }) => {
        const { requests, limits } = asObject(resources);
        const own = list === 'limits' ? undefined : asObject(requests)[name];
        return quantityOf(own ?? asObject(limits)[name]) ?? 0;
      });
  const isSidecar = ({ restartPolicy }: JsonObject): boolean => restartPolicy === 'Always';
  const together = [...amounts('containers', () => true), ...amounts('initContainers', isSidecar)];
  return Math.max(
    together.reduce((sum, one) => sum + one, 0),
    ...amounts('initContainers', (one) => !isSidecar(one)),
  );
}

const decimals: Readonly<Record<string, number>> = { n: -3, u: -2, m: -1, '': 0, k: 1, M: 2, G: 3, T: 4, P: 5, E: 6 };

/** A quantity as Kubernetes writes it: `250m`, `1.5Gi`, `2e3` (apimachinery pkg/api/resource). */
function quantityOf(raw: unknown): number | undefined {
  const text = asString(raw) ?? asNumber(raw)?.toString() ?? '';
  const [, digits, suffix = ''] =
    /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([numkMGTPE]|[KMGTPE]i)?$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const power = decimals[suffix.replace('K', 'k').replace('i', '')] ?? 0;
  return Number(digits) * (suffix.endsWith('i') ? 1024 : 1000) ** power;
}

/** What copies could touch outside of themselves, each a clause. Of a variable only the name is printed: its value may hold a password. */
export function touchesOf(workload: KubernetesObject, { containers }: Situation): string[] {
  const podSpec = podSpecIn(workload);
  const raw = [...asArray(podSpec['initContainers']), ...asArray(podSpec['containers'])].map(asObject);
  const variables = containers.flatMap(({ env }) =>
    env.filter(({ name, value }) => sharedName.test(name) || sharedValue.test(value)).map(({ name }) => name),
  );
  const sources = raw
    .flatMap(({ envFrom }) => asArray(envFrom).map(asObject))
    .flatMap(({ secretRef }) => asString(asObject(secretRef)['name']) ?? []);
  const inits = containers.filter(({ kind }) => kind === 'init').map(({ name }) => name);
  const works = containers.flatMap(({ command: { command, args }, name }) => {
    const work = [...command, ...args, name].flatMap((word) => workWord.exec(word)?.[1] ?? [])[0];
    return work === undefined ? [] : [`${name} (${work})`];
  });
  const account = asString(podSpec['serviceAccountName']) ?? 'default';
  return [
    ...clause('connect to what these variables name', variables),
    ...clause('read their settings from Secret', sources),
    ...clause('run these init containers again', inits),
    ...clause('take work from a queue or a timetable', works),
    ...(account === 'default' ? [] : [`act in the cluster as ServiceAccount ${account}`]),
  ];
}

const clause = (words: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`${words}: ${list([...new Set(names)].slice(0, 8))}`];

/** Names of variables for things that several pods share. */
const sharedName =
  /(DATABASE|POSTGRES|MYSQL|MARIADB|MONGO|REDIS|MEMCACHE|AMQP|RABBIT|KAFKA|BROKER|NATS|QUEUE|SQS|PUBSUB|TOPIC|BUCKET|S3|SMTP|MAIL|WEBHOOK|ELASTIC|CASSANDRA)|(^|_)(DB|PG)(_|HOST)|_(DSN|URL|URI|HOST|ENDPOINT|ADDR|ADDRESS)$/i;
const sharedValue = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i;

/** Words of a command line or a name for work that no client asks for. */
const workWord =
  /(?:^|[-_/:. ])(crond?|cronjob|scheduler|celery|beat|sidekiq|resque|worker|consumer|queue|migrate|migration)s?(?:$|[-_/:. ])/i;
