/** A live pod → its ShutdownSpec: its spec plus what its status, endpoints, budgets and node show. Pure. */
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
  const isRestarted = (asString(pod.spec?.restartPolicy) ?? 'Always') === 'Always';
  // A waiting container may still start, and so may one that has no status yet.
  const mayRun = (name: string): boolean => stateOf(name)?.terminated === undefined || isRestarted;
  const noneRuns = !isFinished(narrowed) && !statusesOf(narrowed).some(({ state }) => isRunning(state));
  const spec = specOfWorkload(pod, neighboursOf(namespace), graceSeconds);
  const uid = asString(pod.metadata?.uid) ?? '';
  const slices = namespace.slices.filter(hasEndpointOf(uid));
  const readyCondition = asArray(asObject(node?.status)['conditions'])
    .map(asObject)
    .find((condition) => condition['type'] === 'Ready');
  return {
    ...spec,
    containers: containersOf(pod.spec, spec.podPath, mayRun),
    services: servicesBehind(spec.services, slices, namespace, uid),
    budgets: withRulings(spec.budgets, namespace.budgets, narrowed),
    isFinished: isFinished(narrowed),
    notRunningNow: noneRuns,
    nodeNotReady:
      readyCondition && readyCondition['status'] !== 'True'
        ? { node: asString(node?.metadata?.name) ?? '', status: asString(readyCondition['status']) ?? 'Unknown' }
        : undefined,
  };
}

const endpointsOf = (slice: V1EndpointSlice) =>
  asArray(slice.endpoints)
    .map(asObject)
    .map((endpoint) => ({
      uid: asString(asObject(endpoint['targetRef'])['uid']),
      // Absent means ready (discovery/v1).
      isReady: asObject(endpoint['conditions'])['ready'] !== false,
      raw: endpoint,
    }));

const hasEndpointOf =
  (uid: string) =>
  (slice: V1EndpointSlice): boolean =>
    endpointsOf(slice).some((endpoint) => endpoint.uid === uid && endpoint.isReady);

const serviceNameOf = ({ metadata }: V1EndpointSlice): string =>
  metadata?.labels?.['kubernetes.io/service-name'] ?? metadata?.name ?? '';

/**
 * Services with the pod among their ready endpoints, also Services without a selector. If slices may not be read: the
 * Services that select the pod. A pod in no slice has no clients to lose.
 */
function servicesBehind(
  selecting: readonly ServiceSpec[],
  slicesWithPod: readonly V1EndpointSlice[],
  { services, slices, unread }: NamespaceState,
  uid: string,
): ServiceSpec[] {
  if (unread.some(({ because }) => because.startsWith('endpointslices'))) return [...selecting];
  return [...new Set(slicesWithPod.map(serviceNameOf))].map((name) => {
    // If the Service does not select the pod, its slices are managed elsewhere and its ports say nothing about the pod.
    const other = services.find(({ metadata }) => metadata?.name === name);
    const service = selecting.find((one) => one.name === name) ?? { ...serviceOf(other ?? {}), name, targetPorts: [] };
    const ownSlices = slices.filter((slice) => serviceNameOf(slice) === name);
    return { ...service, otherReady: otherReady(ownSlices, uid) };
  });
}

/** For the address type with the fewest, which limits clients. A pod may be in two slices during an update. */
function otherReady(slices: readonly V1EndpointSlice[], uid: string): number {
  const addressTypes = slices.filter(hasEndpointOf(uid)).map(({ addressType }) => addressType);
  const counts = [...new Set(addressTypes)].map((type) => {
    const others = slices
      .filter(({ addressType }) => addressType === type)
      .flatMap(endpointsOf)
      .filter((endpoint) => endpoint.isReady && endpoint.uid !== uid);
    return new Set(others.map((endpoint) => endpoint.uid ?? endpoint.raw)).size;
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
    const now = `${plural(allowed, 'disruption')} now (${healthy} healthy, ${desired} required)`;
    return { ...one, ruling: { ...ruling, text: `PodDisruptionBudget ${one.name} allows ${now}` } };
  });
}

/** The numbers and policy of a live PodDisruptionBudget. `desired`: healthy pods that must stay. */
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
 * Whether the eviction API would evict a pod: `Create` of KK/registry/core/pod/storage/eviction.go (SIGNALS.md §1
 * "Eviction"). It also refuses until a budget's controller has seen the latest change (`checkAndDecrement`), which is
 * over in a moment and ignored here. `budgets`: all that cover the pod. `because`: the reason, unless it is the number
 * of allowed disruptions.
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

/** `canIgnorePDB` in eviction.go: these pods are evicted whatever their budgets say. */
function exemptionOf(pod: Pod): string | undefined {
  const { phase } = pod.status;
  const isNotRunning = phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending';
  if (!isNotRunning && !isTerminating(pod)) return undefined;
  return `the eviction API ignores the budgets of a pod that is ${isNotRunning ? phase : 'terminating'}`;
}

/** `Create` after `IsPodReady`: a pod that is not ready counts as unhealthy. The default policy is IfHealthyBudget. */
function unreadyExemption(pod: Pod, { evictsUnready, healthy, desired }: BudgetFacts): string | undefined {
  if (isReady(pod)) return undefined;
  const lets = 'the eviction API lets this pod go whatever is allowed: it is not ready';
  if (evictsUnready) return `${lets}, and the budget's unhealthyPodEvictionPolicy is AlwaysAllow`;
  return healthy >= desired && desired > 0 ? `${lets}, and as many others are healthy as must stay` : undefined;
}
