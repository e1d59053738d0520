/** A pod that runs now → its ShutdownSpec: what its status, its endpoints, its budgets and its node add to the spec. Pure. */
import type { V1EndpointSlice, V1Node, V1Pod, V1PodDisruptionBudget } from '@kubernetes/client-node';
import { asArray, asNumber, asObject, asString } from '../model/observe/read.ts';
import { narrowPod, type Pod } from '../model/kube.ts';
import { isFinished, isReady, isRunning, isTerminating, statusesOf } from '../model/pod.ts';
import { plural } from '../verdict/words.ts';
import { containersOf } from './read-pod-spec.ts';
import { neighboursOf, serviceOf, specOfWorkload } from './read-workload.ts';
import type { NamespaceState } from './read-cluster.ts';
import type { BudgetSpec, ServiceSpec, ShutdownSpec } from './shutdown-spec.ts';

export interface LivePod {
  pod: V1Pod;
  namespace: NamespaceState;
  node?: V1Node;
  graceSeconds?: number;
}

export function specOfLivePod({ pod, namespace, node, graceSeconds }: LivePod): ShutdownSpec {
  const narrowed = narrowPod(pod);
  const stateOf = (name: string) => statusesOf(narrowed).find((status) => status.name === name)?.state;
  // One that waits, and one that the status leaves out, may yet run; one that has ended does where it is restarted.
  const restarts = (asString(pod.spec?.restartPolicy) ?? 'Always') === 'Always';
  const runs = (name: string): boolean => stateOf(name)?.terminated === undefined || restarts;
  const isStopped = !isFinished(narrowed) && !statusesOf(narrowed).some(({ state }) => isRunning(state));
  const spec = specOfWorkload(pod, neighboursOf(namespace), graceSeconds);
  const uid = asString(pod.metadata?.uid) ?? '';
  const slices = namespace.slices.filter(hasEndpointOf(uid));
  const ready = asArray(asObject(node?.status)['conditions'])
    .map(asObject)
    .find((one) => one['type'] === 'Ready');
  return {
    ...spec,
    containers: containersOf(pod.spec, spec.podPath, runs),
    services: servicesBehind(spec.services, slices, namespace, uid),
    budgets: withRulings(spec.budgets, namespace.budgets, narrowed),
    isIdle: isFinished(narrowed),
    notRunningNow: isStopped,
    nodeNotReady:
      ready && ready['status'] !== 'True'
        ? { node: asString(node?.metadata?.name) ?? '', status: asString(ready['status']) ?? 'Unknown' }
        : undefined,
  };
}

const endpointsOf = (slice: V1EndpointSlice) =>
  asArray(slice.endpoints)
    .map(asObject)
    .map((one) => ({
      uid: asString(asObject(one['targetRef'])['uid']),
      // Absent means ready (discovery/v1).
      isReady: asObject(one['conditions'])['ready'] !== false,
      raw: one,
    }));

const hasEndpointOf =
  (uid: string) =>
  (slice: V1EndpointSlice): boolean =>
    endpointsOf(slice).some((one) => one.uid === uid && one.isReady);

const serviceNameOf = ({ metadata }: V1EndpointSlice): string =>
  metadata?.labels?.['kubernetes.io/service-name'] ?? metadata?.name ?? '';

/**
 * Services whose slices hold the pod, also those without a selector; where slices may not be read, those that select it. A pod
 * that is in no slice has no clients to lose.
 */
function servicesBehind(
  selecting: readonly ServiceSpec[],
  slices: readonly V1EndpointSlice[],
  { services, slices: all, unread }: NamespaceState,
  uid: string,
): ServiceSpec[] {
  if (unread.some(({ because }) => because.startsWith('endpointslices'))) return [...selecting];
  return [...new Set(slices.map(serviceNameOf))].map((name) => {
    // A Service that does not select the pod itself: its slices are written elsewhere, so its ports say nothing.
    const other = services.find(({ metadata }) => metadata?.name === name);
    const known = selecting.find((one) => one.name === name) ?? { ...serviceOf(other ?? {}), name, targetPorts: [] };
    const own = all.filter((one) => serviceNameOf(one) === name);
    return { ...known, otherReady: otherReady(own, uid) };
  });
}

/** Of the address type that has fewest: its clients have no other. A pod may be in two slices while they are rewritten. */
function otherReady(slices: readonly V1EndpointSlice[], uid: string): number {
  const own = slices.filter(hasEndpointOf(uid)).map(({ addressType }) => addressType);
  const counts = [...new Set(own)].map((type) => {
    const others = slices
      .filter(({ addressType }) => addressType === type)
      .flatMap(endpointsOf)
      .filter((one) => one.isReady && one.uid !== uid);
    return new Set(others.map((one) => one.uid ?? one.raw)).size;
  });
  return counts.length > 0 ? Math.min(...counts) : 0;
}

function withRulings(covering: ShutdownSpec['budgets'], all: readonly V1PodDisruptionBudget[], pod: Pod): BudgetSpec[] {
  const read = covering.map((one) => ({
    one,
    facts: factsOf(all.find(({ metadata }) => metadata?.name === one.name)),
  }));
  const ruling = rulingOf(
    pod,
    read.map(({ facts }) => facts),
  );
  return read.map(({ one, facts: { allowed, healthy, desired } }) => {
    const now = `${plural(allowed, 'disruption')} now (${healthy} healthy, ${desired} must stay)`;
    return { ...one, ruling: { ...ruling, text: `PodDisruptionBudget ${one.name} allows ${now}` } };
  });
}

/** What a live PodDisruptionBudget says about itself; `desired`: healthy pods that must stay. */
function factsOf(budget: V1PodDisruptionBudget | undefined) {
  const status = asObject(budget?.status);
  const count = (field: string): number => asNumber(status[field]) ?? 0;
  return {
    allowed: count('disruptionsAllowed'),
    healthy: count('currentHealthy'),
    desired: count('desiredHealthy'),
    evictsUnready: asObject(budget?.spec)['unhealthyPodEvictionPolicy'] === 'AlwaysAllow',
  };
}

type BudgetFacts = ReturnType<typeof factsOf>;

/**
 * Whether the eviction API would let a pod go, by the rule of the API server: KK/registry/core/pod/storage/eviction.go `Create`
 * (SIGNALS.md §1 "Eviction"). It refuses too while a budget's controller has not seen its last change (`checkAndDecrement`), which
 * passes in a moment and is not looked at. `budgets`: all that cover the pod. `because`: where the number of disruptions that a
 * budget allows does not decide.
 */
function rulingOf(pod: Pod, budgets: readonly BudgetFacts[]): { refused: boolean; because?: string } {
  const exemption = exemptionOf(pod);
  if (exemption !== undefined) return { refused: false, because: exemption };
  const [budget, ...more] = budgets;
  if (!budget) return { refused: false };
  if (more.length > 0) return { refused: true, because: 'the eviction API refuses a pod that several budgets cover' };
  const unready = unreadyExemption(pod, budget);
  return unready === undefined ? { refused: budget.allowed < 1 } : { refused: false, because: unready };
}

/** `canIgnorePDB`: such a pod goes before any budget is looked at. */
function exemptionOf(pod: Pod): string | undefined {
  const { phase } = pod.status;
  const isUnguarded = phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending';
  if (!isUnguarded && !isTerminating(pod)) return undefined;
  return `the eviction API ignores the budgets of a pod that is ${isUnguarded ? phase : 'terminating'}`;
}

/** `Create` behind `IsPodReady`: one that is not ready counts for no budget as healthy; IfHealthyBudget is the default. */
function unreadyExemption(pod: Pod, { evictsUnready, healthy, desired }: BudgetFacts): string | undefined {
  if (isReady(pod)) return undefined;
  const lets = 'the eviction API lets this pod go whatever is allowed: it is not ready';
  if (evictsUnready) return `${lets}, and the budget's unhealthyPodEvictionPolicy is AlwaysAllow`;
  return healthy >= desired && desired > 0 ? `${lets}, and as many others are healthy as must stay` : undefined;
}
