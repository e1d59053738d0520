/** The one place that sizes a preStop sleep and a grace period, for every command, and that says what limits them. Pure; seconds. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { asArray, asObject, asStrings, asText, metadataOf, shape, type JsonObject } from '../model/observe/read.ts';
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
  readonly taints?: readonly JsonObject[]; // What a pod on the nodes of a NodePool tolerates.
  readonly labels?: readonly Expression[]; // What those of the nodes of a NodePool may be.
}

/** A kill by it is not certain: the node may live longer than the pod. */
export const limitText = ({ by, seconds }: Limit): string => `${by} may give a pod only ${seconds}s`;

/** The limits that the pod spec itself shows (of spot nodes by labels and taints), and those of the objects around it. */
export function limitsOf(podSpec: JsonObject, around: readonly Limit[]): Limit[] {
  const isSpot = (one: (typeof spotNodes)[number], key: string, value: string): boolean =>
    value !== 'false' && new RegExp(one.key, 'i').test(key) && (value === '' || new RegExp(one.value, 'i').test(value));
  const spot = placedOn(podSpec).flatMap(({ key, value }) => spotNodes.find((one) => isSpot(one, key, value)) ?? []);
  // Without a key, a toleration is for all keys, and without an effect for all effects.
  const tolerations = [...asArray(podSpec['tolerations'], 64), { effect: 'PreferNoSchedule' }].map(asObject);
  const isTolerated = (taint: JsonObject): boolean =>
    tolerations.some((one) => ['key', 'effect'].every((name) => !one[name] || one[name] === taint[name]));
  // A label that is not known may have any value.
  const isChosen = ({ labels = [] }: Limit): boolean =>
    termsOf(podSpec).some((term) => term.every((asked) => labels.every((one) => mayFit(asked, one))));
  const own = around.filter((one) => (one.taints ?? []).every(isTolerated) && isChosen(one));
  // The default of --max-graceful-termination-sec.
  const limits: Limit[] = [...spot, ...own, { by: 'a cluster autoscaler that removes the node', seconds: 600 }];
  return [...new Map(limits.map((limit) => [limit.by, limit])).values()].sort((a, b) => a.seconds - b.seconds);
}

export const isWindows = (podSpec: JsonObject): boolean =>
  asObject(podSpec['os'])['name'] === 'windows' ||
  placedOn(podSpec).some(({ key, value }) => /(^|\.)kubernetes\.io\/os$/.test(key) && value === 'windows');

/** Labels and taints of the nodes that the pod asks for or tolerates: where both name a key, what it asks for. */
function placedOn(podSpec: JsonObject): { key: string; value: string }[] {
  const asked = termsOf(podSpec).flat();
  const named = ({ key, operator, values }: Expression) =>
    (operator === 'In' ? values : operator === 'Exists' ? [''] : []).map((value) => ({ key, value }));
  const tolerated = asArray(podSpec['tolerations'], 64).map(shape({ key: asText, value: asText }));
  return [...tolerated.filter(({ key }) => !asked.some((one) => one.key === key)), ...asked.flatMap(named)];
}

type Expression = ReturnType<typeof expressionsOf>[number];

const expressionsOf = (labels: unknown, expressions: unknown) => [
  ...Object.entries(asObject(labels)).map(([key, value]) => ({ key, operator: 'In', values: [String(value)] })),
  ...asArray(expressions, 64).map(shape({ key: asText, operator: asText, values: asStrings })),
];

/** One of these lists must fit the labels of the node. */
function termsOf({ nodeSelector, affinity }: JsonObject): Expression[][] {
  const required = asObject(asObject(affinity)['nodeAffinity'])['requiredDuringSchedulingIgnoredDuringExecution'];
  const terms = asArray(asObject(required)['nodeSelectorTerms'] ?? [{}], 64);
  return terms.map((term) => expressionsOf(nodeSelector, asObject(term)['matchExpressions']));
}

function mayFit(asked: Expression, { key, operator, values }: Expression): boolean {
  if (key !== asked.key || operator !== 'In') return true;
  if (asked.operator === 'In') return values.some((value) => asked.values.includes(value));
  if (asked.operator === 'NotIn') return values.some((value) => !asked.values.includes(value));
  return asked.operator !== 'DoesNotExist';
}

/** Limits of a set of objects: Karpenter's NodePools, and the kubelet's configuration. */
export const limitsIn = (objects: readonly KubernetesObject[]): Limit[] =>
  objects.flatMap((object): Limit[] => {
    const { spec, shutdownGracePeriod, shutdownGracePeriodCriticalPods } = asObject(object);
    const template = asObject(asObject(spec)['template']);
    const { terminationGracePeriod, taints, requirements } = asObject(template['spec']);
    const times = [terminationGracePeriod, shutdownGracePeriod, shutdownGracePeriodCriticalPods];
    const [seconds, all = 0, critical = 0] = times.map((one) => secondsOf(asText(one)));
    const shutdown = { by: 'the shutdown of its node', seconds: all - critical };
    if (object.kind === 'KubeletConfiguration') return shutdown.seconds > 0 ? [shutdown] : [];
    if (object.kind !== 'NodePool' || seconds === undefined) return [];
    const name = object.metadata?.name ?? '';
    const labels = { ...asObject(metadataOf(template)['labels']), 'karpenter.sh/nodepool': name };
    const own = { taints: asArray(taints, 64).map(asObject), labels: expressionsOf(labels, requirements) };
    return [{ by: `NodePool ${name}`, seconds, ...own }];
  });
