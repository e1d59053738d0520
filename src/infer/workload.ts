/** The workload that a pod belongs to: what people name, and what a patch would change. Pure. */
import type { Pod } from '../model/kube.ts';
import { controllerOf } from '../model/pod.ts';
import type { OwnerFacts, Trace } from '../model/trace.ts';
import type { Workload } from './timeline.ts';

/** Undefined for a bare pod. */
export function workloadOf(trace: Trace, pod: Pod): Workload | undefined {
  const controller = controllerOf(pod);
  if (!controller) return undefined;
  const owner = trace.owners.get(controller.uid);
  const references = owner?.last.value.metadata.ownerReferences ?? [];
  const above = references.find((one) => one.controller === true) ?? references[0];
  if (above) return { kind: above.kind, name: above.name, replicas: replicasOf(trace.owners.get(above.uid)) };
  const deployment = owner ? undefined : deploymentNamed(pod, controller.name);
  if (controller.kind === 'ReplicaSet' && deployment !== undefined) return { kind: 'Deployment', name: deployment };
  return { kind: controller.kind, name: controller.name, replicas: replicasOf(owner) };
}

const replicasOf = (owner: OwnerFacts | undefined): number | undefined => owner?.last.value.spec.replicas;

/** A Deployment names its ReplicaSets NAME-HASH, and labels their pods with the hash. */
function deploymentNamed(pod: Pod, replicaSet: string): string | undefined {
  const hash = pod.metadata.labels?.['pod-template-hash'];
  return hash !== undefined && replicaSet.endsWith(`-${hash}`) ? replicaSet.slice(0, -hash.length - 1) : undefined;
}
