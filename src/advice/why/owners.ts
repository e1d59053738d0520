/** Which controller owned a pod that is gone: from Events, objects that still exist, and patterns of names. Pure. */
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import type { EventFacts } from './event-facts.ts';
import type { PastExit } from './report.ts';

/** A namespace as it is now, with the Events of the last hour or so. */
export interface NamespaceHistory {
  facts: readonly EventFacts[];
  pods: readonly V1Pod[];
  /** ReplicaSets, Deployments, StatefulSets, DaemonSets and Jobs, each with its kind. */
  workloads: readonly KubernetesObject[];
}

export type PastOwner = NonNullable<PastExit['owners']>[number];

/** Characters of generated names (apimachinery/pkg/util/rand); the base is cut to 58 (names.SimpleNameGenerator). */
const generatedCharacter = '[bcdfghjklmnpqrstvwxz2456789]';

/** Whether a controller of this kind and name may have created a pod of this name. */
export function mayOwn(kind: string, owner: string, pod: string): boolean {
  if (kind === 'StatefulSet') return pod.startsWith(`${owner}-`) && /^\d+$/.test(pod.slice(owner.length + 1));
  const hash = kind === 'Deployment' ? `${generatedCharacter}{1,10}-` : '';
  const base = `${owner}-`.slice(0, 58);
  return pod.startsWith(base) && new RegExp(`^${hash}${generatedCharacter}{5}$`).test(pod.slice(base.length));
}

/** From the controller's Event that created or deleted the pod; else inferred from the pattern of its name. */
export function ownersOf(name: string, history: NamespaceHistory): PastOwner[] {
  const known = history.facts.findLast(
    (fact) => /^Successful(Create|Delete)$/.test(fact.reason) && hasWord(fact, name),
  );
  const nameMatch = history.workloads
    .filter(({ kind, metadata }) => kind !== 'Deployment' && mayOwn(kind ?? '', metadata?.name ?? '', name))
    .sort((a, b) => (b.metadata?.name?.length ?? 0) - (a.metadata?.name?.length ?? 0))[0];
  const { kind, name: ownerName, uid } = known ?? { kind: nameMatch?.kind, ...nameMatch?.metadata };
  if (kind === undefined || ownerName === undefined) return [];
  const own: PastOwner = { kind, name: ownerName, uid, isInferred: !known };
  const parent = own.kind === 'ReplicaSet' ? parentOf(own, history) : undefined;
  return parent ? [own, parent] : [own];
}

/** The name of the Deployment that created a ReplicaSet of this name: without the hash at its end. */
export const deploymentNameIn = (replicaSet: string): string | undefined =>
  new RegExp(`^(.+)-${generatedCharacter}{5,10}$`).exec(replicaSet)?.[1];

/** From the owner reference, or the name without its hash. */
function parentOf(replicaSet: PastOwner, { workloads }: NamespaceHistory): PastOwner | undefined {
  const object = objectOf(replicaSet, workloads);
  const reference = object?.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  if (reference)
    return { kind: reference.kind, name: reference.name, uid: reference.uid, isInferred: replicaSet.isInferred };
  if (object) return undefined;
  const name = deploymentNameIn(replicaSet.name);
  return name === undefined ? undefined : { kind: 'Deployment', name, isInferred: true };
}

export const objectOf = (owner: PastOwner | undefined, workloads: readonly KubernetesObject[]) =>
  workloads.find(
    ({ kind, metadata }) =>
      kind === owner?.kind &&
      metadata?.name === owner?.name &&
      (owner?.uid === undefined || metadata?.uid === owner.uid),
  );

export const hasWord = ({ message }: EventFacts, name: string): boolean =>
  message.includes(name) && message.split(/[\s:]+/).includes(name);
