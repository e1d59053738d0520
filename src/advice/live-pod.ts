/** A live pod → its Situation: its spec and what its status, endpoints, budgets and node show. Pure. */
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { asString } from '../model/observe/read.ts';
import { narrowPod, type Node, type Pod } from '../model/kube.ts';
import { hasRunning, isFinished, isReady, isTerminating, statusOf } from '../model/pod.ts';
import { plural } from '../verdict/words.ts';
import type { ContainerSpec } from './container-spec.ts';
import { readyByService, serviceOf, type BudgetSpec, type Neighbours, type ServiceSpec } from './neighbours.ts';
import { situationOf, type Situation } from './situation.ts';

export function situationOfLivePod(
  pod: V1Pod,
  neighbours: Neighbours,
  { node, graceSeconds }: { node?: Node; graceSeconds?: number },
): Situation {
  const narrowed = narrowPod(pod);
  const podPolicy = asString(pod.spec?.restartPolicy) ?? 'Always';
  // A waiting container may still start, and so may one that has no status yet.
  const isOver = ({ name, restartPolicy = podPolicy, restartRules }: ContainerSpec): boolean =>
    statusOf(narrowed, name)?.state.terminated !== undefined && restartPolicy !== 'Always' && restartRules.length === 0;
  const spec = situationOf(pod, neighbours, graceSeconds);
  const ready = node?.status.conditions?.find(({ type }) => type === 'Ready');
  return {
    ...spec,
    containers: spec.containers.map((one) => ({ ...one, isOver: isOver(one) })),
    services: servicesBehind(spec.services, neighbours, narrowed.metadata.uid),
    budgets: spec.budgets.map((budget) => ({ ...budget, ruling: rulingOf(budget, narrowed, spec.budgets.length > 1) })),
    isFinished: isFinished(narrowed),
    notRunningNow: !isFinished(narrowed) && !hasRunning(narrowed),
    nodeNotReady:
      node && ready && ready.status !== 'True'
        ? { node: node.metadata.name, status: ready.status === '' ? 'Unknown' : ready.status }
        : undefined,
  };
}

export const situationIn = (object: KubernetesObject, neighbours: Neighbours, graceSeconds?: number): Situation =>
  object.kind === 'Pod'
    ? situationOfLivePod(object, neighbours, { graceSeconds })
    : situationOf(object, neighbours, graceSeconds);

/** Services with the pod among their ready endpoints, also without a selector; those that select it if slices may not be read. */
function servicesBehind(selecting: readonly ServiceSpec[], { services, slices }: Neighbours, uid: string) {
  if (!slices) return selecting;
  const own = [...readyByService(slices)].filter(([, ready]) => ready.has(uid));
  return own.map(([name, ready]) => {
    const known = services.find((one) => one.name === name) ?? serviceOf({ metadata: { name } });
    // If the Service does not select the pod, its slices are managed elsewhere and its ports say nothing about the pod.
    const service = selecting.find((one) => one.name === name) ?? { ...known, targetPorts: [] };
    return { ...service, otherReady: ready.size - 1 };
  });
}

/** As the eviction API answers: `Create` of KK/registry/core/pod/storage/eviction.go (SIGNALS.md §1 "Eviction"). */
function rulingOf({ name, evictsUnready, counts }: BudgetSpec, pod: Pod, isSeveral: boolean): BudgetSpec['ruling'] {
  const { allowed, healthy, desired } = counts;
  // `canIgnorePDB`: these pods are evicted whatever their budgets say.
  const isExempt = ['Succeeded', 'Failed', 'Pending'].includes(pod.status.phase ?? '') || isTerminating(pod);
  // A pod that is not ready counts as unhealthy. The default policy is IfHealthyBudget.
  const mayGoUnready = !isReady(pod) && (evictsUnready || (healthy >= desired && desired > 0));
  return {
    refused: !isExempt && (isSeveral || (allowed < 1 && !mayGoUnready)),
    text: `PodDisruptionBudget ${name} allows ${plural(allowed, 'disruption')} now (${healthy} healthy, ${desired} required)`,
  };
}
