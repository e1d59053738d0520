/** Why a workload is not tried: what further pods of it could break. Each reason completes "a copy of it …". Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import type { SingleReason } from '../advice/capacity.ts';
import type { Neighbours } from '../advice/neighbours.ts';
import type { Situation } from '../advice/situation.ts';
import { asArray, asObject, isPresent, type JsonObject } from '../model/observe/read.ts';
import { matches } from '../run/streams/selectors.ts';

/** Kinds whose pods are alike, and that replace a deleted pod. */
const copiedKinds: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet']);

/** Why other kinds are not copied, as a whole sentence. */
const kindRefusals: Readonly<Record<string, string>> = {
  StatefulSet: 'each pod of a StatefulSet has a name and data of its own, which a copy would not have',
  DaemonSet: 'a pod of a DaemonSet does the work of its node, which a copy would do a second time',
  Job: 'a copy would do the work of the Job a second time',
  CronJob: 'a copy would do the work of the CronJob a second time',
  Pod: 'no controller replaces the pod, so one exit is all that could be measured',
};

/** For kinds that are not copied the reason, else undefined. */
export const kindRefusal = (kind: string): string | undefined =>
  copiedKinds.has(kind) ? undefined : (kindRefusals[kind] ?? `how the controller of a ${kind} makes pods is not known`);

const singleRefusals: Readonly<Record<SingleReason, string>> = {
  'data volume': 'would use its volume beside it, which keeps data or cannot be shared',
  'store image': 'would be a store without its data',
  recreate: 'would run beside it, and its strategy Recreate says that two pods must not',
  'leader election off': 'would do its work a second time: leader election is off',
  device: 'would take a device',
  'host ports': 'would take ports of its node',
};

/** The reasons not to copy it. Empty: it can be copied. */
export const refusalsOf = (workload: KubernetesObject, situation: Situation): string[] => [
  ...new Set([
    ...situation.capacity.single.map((why) => singleRefusals[why]),
    ...podRefusals.flatMap(([applies, because]) => (applies(podSpecIn(workload), situation) ? [because] : [])),
  ]),
];

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
