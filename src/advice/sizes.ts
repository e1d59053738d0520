/** The one place that sizes a preStop sleep and a grace period, for every command, and that says what limits them. Pure; seconds. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { asArray, asObject, asStrings, asText, shape, type JsonObject } from '../model/observe/read.ts';
import { secondsOf } from '../programs/shell-words.ts';
import spotNodes from './data/spot-nodes.json' with { type: 'json' };

/** The preStop sleep if nothing was measured: load balancers differ, so the text says "adjust". */
export const defaultPreStopSeconds = 10;

/** The API's default of terminationGracePeriodSeconds. */
export const defaultGraceSeconds = 30;

interface GraceNeed {
  readonly hookSeconds: number;
  readonly drainSeconds: number;
  /** What `drainSeconds` is: `grace today`, `drain`. */
  readonly drainWords: string;
  /** What is known of the drain where `drainSeconds` is assumed. */
  readonly knownSeconds?: number;
}

/** The grace period for what needs the longest: hook + drain + 25 % for slower shutdowns, rounded up to 5 s. */
export function graceSize(needs: readonly GraceNeed[], limits: readonly Limit[] = []) {
  const sizes = needs.map(({ hookSeconds, drainSeconds, drainWords, knownSeconds }) => {
    const [hook, drain] = [tenths(hookSeconds), tenths(drainSeconds)];
    const seconds = Math.max(5, Math.ceil(((hook + drain) * 1.25) / 5 - 1e-9) * 5);
    const parts = [...(hook > 0 ? [`${hook}s preStop`] : []), `${drain}s ${drainWords}`];
    const rounded = seconds > (hook + drain) * 1.25 ? ', rounded up' : '';
    const least = hook + Math.max(Math.min(drain, defaultGraceSeconds), (knownSeconds ?? drain) * 1.25);
    return { seconds, work: hook + drain, least, sum: `${parts.join(' + ')} + 25%${rounded}` };
  });
  const [most] = sizes.sort((a, b) => b.work - a.work);
  if (!most) return undefined;
  const limit = limits.find(({ seconds }) => seconds < most.seconds);
  return {
    seconds: limit?.seconds ?? most.seconds,
    work: most.work,
    /** What is known to be needed: of a drain that is assumed the API's default at most, of any other 25 % more. */
    least: Math.max(...sizes.map(({ least }) => least)),
    /** The printed sum, which gives the printed number: `10s preStop + 10s grace today + 25%`. */
    sum: limit ? `${most.sum} is ${most.seconds}s, and ${limitText(limit)}` : most.sum,
    /** A limit that ends the pod earlier than the sum asks for: the earliest. */
    limit,
  };
}

/** Rounded up, so that the printed operands are those of the sum. */
const tenths = (seconds: number): number => Math.ceil(seconds * 10 - 1e-6) / 10;

/** What an application gets to stop after a hook: as today; where that is nothing, or the hook would be heavy, the API's default. */
export function drainBeside(hookSeconds: number, today: { graceSeconds: number; hookSeconds: number }): GraceNeed {
  const left = today.graceSeconds - today.hookSeconds;
  const need = { hookSeconds, drainSeconds: left, drainWords: 'grace today' };
  return left > 0 && !isHeavyHook(hookSeconds, graceSize([need])?.seconds ?? 0)
    ? need
    : { hookSeconds, drainSeconds: defaultGraceSeconds, drainWords: "to stop (Kubernetes' default)" };
}

/** It takes more than half of the grace period, and leaves less than the API's default, for which applications are written. */
export const isHeavyHook = (hookSeconds: number, graceSeconds: number): boolean =>
  hookSeconds > graceSeconds / 2 && graceSeconds - hookSeconds < defaultGraceSeconds;

/** What can end a pod earlier than its grace period: spot capacity, an autoscaler, the shutdown of its node. */
interface Limit {
  /** `an AKS spot node`, as in "… may give a pod only 30s". */
  readonly by: string;
  readonly seconds: number;
}

/** A kill by it is not certain: the node may live longer than the pod. */
export const limitText = ({ by, seconds }: Limit): string => `${by} may give a pod only ${seconds}s`;

/** The limits that the pod spec itself shows (of spot nodes by labels and taints), and those of the objects around it. */
export function limitsOf(podSpec: JsonObject, around: readonly Limit[]): Limit[] {
  const spot = placedOn(podSpec).flatMap(({ key, value }): Limit[] => {
    // A toleration asks for no node, and what the pod requires of its node may exclude those that it tolerates.
    const allows = (asked: Expression): boolean =>
      asked.key !== key || asked.operator === 'Exists' || (asked.operator === 'In' && asked.values.includes(value));
    const isSpot = (one: (typeof spotNodes)[number]): boolean =>
      new RegExp(one.key, 'i').test(key) && (value === '' || new RegExp(one.value, 'i').test(value));
    const row = value === 'false' ? undefined : spotNodes.find(isSpot);
    return row && termsOf(podSpec).some((term) => term.every(allows)) ? [row] : [];
  });
  // The default of --max-graceful-termination-sec.
  const limits = [...spot, ...around, { by: 'a cluster autoscaler that removes the node', seconds: 600 }];
  return [...new Map(limits.map((limit) => [limit.by, limit])).values()].sort((a, b) => a.seconds - b.seconds);
}

export const isWindows = (podSpec: JsonObject): boolean =>
  asObject(podSpec['os'])['name'] === 'windows' ||
  placedOn(podSpec).some(({ key, value }) => /(^|\.)kubernetes\.io\/os$/.test(key) && value === 'windows');

/** Labels and taints of the nodes that the pod asks for or tolerates. A toleration for all taints asks for none. */
function placedOn(podSpec: JsonObject): { key: string; value: string }[] {
  const named = ({ key, operator, values }: Expression) =>
    (operator === 'In' ? values : operator === 'Exists' ? [''] : []).map((value) => ({ key, value }));
  const tolerated = asArray(podSpec['tolerations'], 64).map(shape({ key: asText, value: asText }));
  return [...tolerated, ...termsOf(podSpec).flat().flatMap(named)];
}

type Expression = { key: string; operator: string; values: string[] };

/** One of these lists must fit the labels of the node. */
function termsOf({ nodeSelector, affinity }: JsonObject): Expression[][] {
  const own = Object.entries(asObject(nodeSelector));
  const selected = own.map(([key, value]) => ({ key, operator: 'In', values: [String(value)] }));
  const required = asObject(asObject(affinity)['nodeAffinity'])['requiredDuringSchedulingIgnoredDuringExecution'];
  return asArray(asObject(required)['nodeSelectorTerms'] ?? [{}], 64).map((term) => [
    ...selected,
    ...asArray(asObject(term)['matchExpressions'], 64).map(shape({ key: asText, operator: asText, values: asStrings })),
  ]);
}

/** Limits of a set of objects: the kubelet's configuration has the time that a node takes to shut down. */
export const limitsIn = (objects: readonly KubernetesObject[]): Limit[] =>
  objects.flatMap((object) => {
    const { kind, shutdownGracePeriod, shutdownGracePeriodCriticalPods } = asObject(object);
    const times = [shutdownGracePeriod, shutdownGracePeriodCriticalPods].map((one) => secondsOf(asText(one)));
    const [all = 0, critical = 0] = times;
    const isLimit = kind === 'KubeletConfiguration' && all > critical;
    return isLimit ? [{ by: 'the shutdown of its node', seconds: all - critical }] : [];
  });
