/** What can end a pod earlier than its grace period: spot capacity, autoscalers, NodePools. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { asArray, asObject, asString, asText, type JsonObject } from '../model/observe/read.ts';
import { secondsOf } from '../programs/shell-words.ts';
import spotNodes from './data/spot-nodes.json' with { type: 'json' };

export interface Limit {
  /** `an AKS spot node`, as in "… may give a pod only 30s". */
  readonly by: string;
  readonly seconds: number;
  readonly taints?: readonly string[]; // Keys that a pod on the nodes of a NodePool tolerates.
}

/** A kill by it is not certain: the node may live longer than the pod. */
export const limitText = ({ by, seconds }: Limit): string => `${by} may give a pod only ${seconds}s`;

/** The limits that the pod spec itself shows (of spot nodes by labels and taints), and those of the objects around it. */
export function limitsOf(podSpec: JsonObject, around: readonly Limit[]): Limit[] {
  const isSpot = (one: (typeof spotNodes)[number], key: string, value: string): boolean =>
    value !== 'false' && new RegExp(one.key, 'i').test(key) && (value === '' || new RegExp(one.value, 'i').test(value));
  const found = placedOn(podSpec).flatMap(({ key, value }) => spotNodes.find((one) => isSpot(one, key, value)) ?? []);
  // The default of --max-graceful-termination-sec.
  const keys = asArray(podSpec['tolerations'], 64).map((one) => asText(asObject(one)['key']));
  // Without a key, a toleration is for all taints.
  const own = around.filter(({ taints = [] }) => keys.includes('') || taints.every((taint) => keys.includes(taint)));
  const limits = [...found, ...own, { by: 'a cluster autoscaler that removes the node', seconds: 600 }];
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
  const terms = asArray(required['nodeSelectorTerms'], 64).map(asObject);
  const expressions = terms.flatMap((term) => asArray(term['matchExpressions'], 64).map(asObject));
  return [
    ...Object.entries(asObject(podSpec['nodeSelector'])).map(([key, value]) => pair(key, String(value))),
    ...asArray(podSpec['tolerations'], 64).map((one) => pair(asObject(one)['key'], asObject(one)['value'])),
    ...expressions.flatMap(({ key, operator, values }) =>
      (operator === 'In' ? asArray(values, 64) : operator === 'Exists' ? [''] : []).map((value) => pair(key, value)),
    ),
  ];
}

/** Limits of a set of objects: Karpenter's NodePools. */
export const limitsIn = (objects: readonly KubernetesObject[]): Limit[] =>
  objects.flatMap((object): Limit[] => {
    const template = asObject(asObject(asObject(asObject(object)['spec'])['template'])['spec']);
    const seconds = secondsOf(asText(template['terminationGracePeriod']));
    if (object.kind !== 'NodePool' || seconds === undefined) return [];
    const taints = asArray(template['taints'], 64)
      .map(asObject)
      .flatMap(({ key, effect }) => (effect === 'PreferNoSchedule' ? [] : asText(key)));
    return [{ by: `NodePool ${object.metadata?.name ?? ''}`, seconds, taints }];
  });
