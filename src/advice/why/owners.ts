/** Which controller owned a pod that is gone, from Events, from what is still there, and from the form of names. Pure. */
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import type { EventFacts } from './event-facts.ts';
import type { WhyReport } from './report.ts';

/** A namespace as it is now, with what is left of the last hour. */
export interface NamespaceHistory {
  facts: readonly EventFacts[];
  pods: readonly V1Pod[];
  /** ReplicaSets, Deployments, StatefulSets, DaemonSets and Jobs, each with its kind. */
  workloads: readonly KubernetesObject[];
}

export type Owner = NonNullable<WhyReport['owners']>[number];

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
export function ownersOf(name: string, history: NamespaceHistory): Owner[] {
  const known = history.facts.findLast((one) => /^Successful(Create|Delete)$/.test(one.reason) && namesPod(one, name));
  const fitting = history.workloads
    .filter((one) => one.kind !== 'Deployment' && mayOwn(one.kind ?? '', one.metadata?.name ?? '', name))
    .sort((a, b) => (b.metadata?.name?.length ?? 0) - (a.metadata?.name?.length ?? 0))[0];
  const { kind, name: of, uid } = known ?? { kind: fitting?.kind, ...fitting?.metadata };
  if (kind === undefined || of === undefined) return [];
  const own: Owner = { kind, name: of, uid, isInferred: !known };
  const parent = own.kind === 'ReplicaSet' ? parentOf(own, history) : undefined;
  return parent ? [own, parent] : [own];
}

/** By owner reference, by the Event of the Deployment that scaled it, else by name: `checkout` of `checkout-6677656c54`. */
function parentOf(replicaSet: Owner, { facts, workloads }: NamespaceHistory): Owner | undefined {
  const object = objectOf(replicaSet, workloads);
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

/** The owner itself, where it is still there. */
export const objectOf = (
  owner: Owner | undefined,
  workloads: readonly KubernetesObject[],
): KubernetesObject | undefined =>
  workloads.find(
    ({ kind, metadata }) =>
      kind === owner?.kind &&
      metadata?.name === owner?.name &&
      (owner?.uid === undefined || metadata?.uid === owner.uid),
  );

/** The Event's message names the pod, or another object, as a word of its own. */
export const namesPod = ({ message }: EventFacts, name: string): boolean =>
  message.includes(name) && message.split(/[\s:]+/).includes(name);
