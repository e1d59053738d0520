/** What can end a pod earlier than its grace period: spot capacity, autoscalers, the shutdown of its node. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { asArray, asObject, asString, asText, type JsonObject } from '../model/observe/read.ts';
import { secondsOf } from '../programs/shell-words.ts';

export interface Limit {
  /** `an AKS spot node`, as in "… gives a pod 30s". */
  readonly by: string;
  readonly seconds: number;
}

/** Labels and taints of spot nodes, and what is left for pods after the notice, from the providers' documentation. */
const spotKeys: readonly (Limit & { key: RegExp; value?: RegExp })[] = [
  { key: /^cloud\.google\.com\/gke-(spot|preemptible)$/, by: 'a spot node of a GKE node pool', seconds: 15 },
  { key: /^kubernetes\.azure\.com\/scalesetpriority$/, value: /^spot$/, by: 'an AKS spot node', seconds: 30 },
  { key: /^eks\.amazonaws\.com\/capacityType$/, value: /^SPOT$/, by: 'an EC2 spot node', seconds: 120 },
  { key: /^karpenter\.sh\/capacity-type$/, value: /^spot$/, by: 'a spot node', seconds: 120 },
  { key: /(^|[/.-])(spot|preemptible)([-_.]?instance)?s?$/i, by: 'a spot node', seconds: 30 },
  { key: /(lifecycle|capacity)/i, value: /spot|preemptible/i, by: 'a spot node', seconds: 30 },
];

/** The limits that the pod spec itself shows, and those of the objects around it. */
export function limitsOf(podSpec: JsonObject, around: readonly Limit[]): Limit[] {
  const isSpot = (one: (typeof spotKeys)[number], key: string, value: string): boolean =>
    value !== 'false' && one.key.test(key) && (!one.value || value === '' || one.value.test(value));
  const found = placedOn(podSpec).flatMap(({ key, value }) => spotKeys.find((one) => isSpot(one, key, value)) ?? []);
  // The default of --max-graceful-termination-sec.
  const limits = [...found, ...around, { by: 'a cluster autoscaler that removes the node', seconds: 600 }];
  return [...new Map(limits.map((limit) => [limit.by, limit])).values()].sort((a, b) => a.seconds - b.seconds);
}

export const isWindows = (podSpec: JsonObject): boolean =>
  asObject(podSpec['os'])['name'] === 'windows' ||
  placedOn(podSpec).some(({ key, value }) => /(^|\.)kubernetes\.io\/os$/.test(key) && value === 'windows');

/** Labels and taints of the nodes that the pod asks for or tolerates. A toleration for all taints asks for none. */
function placedOn(podSpec: JsonObject): { key: string; value: string }[] {
  const pair = (key: unknown, value: unknown) => ({ key: asString(key) ?? '', value: asString(value) ?? '' });
  const affinity = asObject(asObject(podSpec['affinity'])['nodeAffinity']);
  const required = asObject(affinity['requiredDuringSchedulingIgnoredDuringExecution']);
  const preferred = asArray(affinity['preferredDuringSchedulingIgnoredDuringExecution'], 64).map(
    (one) => asObject(one)['preference'],
  );
  const terms = [...asArray(required['nodeSelectorTerms'], 64), ...preferred].map(asObject);
  const expressions = terms.flatMap((term) => asArray(term['matchExpressions'], 64).map(asObject));
  return [
    ...Object.entries(asObject(podSpec['nodeSelector'])).map(([key, value]) => pair(key, String(value))),
    ...asArray(podSpec['tolerations'], 64).map((one) => pair(asObject(one)['key'], asObject(one)['value'])),
    ...expressions
      .filter(({ operator }) => operator === 'In' || operator === 'Exists')
      .flatMap(({ key, values }) => {
        const all = asArray(values, 64);
        return (all.length === 0 ? [''] : all).map((value) => pair(key, value));
      }),
  ];
}

/** Limits of a set of objects: Karpenter's NodePools, and the kubelet's configuration. */
export function limitsIn(objects: readonly KubernetesObject[]): Limit[] {
  return objects.flatMap((object): Limit[] => {
    const { kind, metadata } = object;
    if (kind === 'NodePool') {
      const template = asObject(asObject(asObject(asObject(object)['spec'])['template'])['spec']);
      const seconds = secondsOf(asText(template['terminationGracePeriod']));
      return seconds === undefined ? [] : [{ by: `NodePool ${metadata?.name ?? ''}`, seconds }];
    }
    if (kind !== 'KubeletConfiguration') return [];
    const { shutdownGracePeriod, shutdownGracePeriodCriticalPods } = asObject(object);
    const all = secondsOf(asText(shutdownGracePeriod)) ?? 0;
    const seconds = all - (secondsOf(asText(shutdownGracePeriodCriticalPods)) ?? 0);
    return seconds > 0 ? [{ by: 'the shutdown of its node', seconds }] : [];
  });
}
