/** The request that ends the pod: a DELETE, or an eviction that may have to wait for a PodDisruptionBudget. */
import { asNumber, asObject, isPresent, type JsonObject } from '../../model/observe/read.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { deletePod, type DeleteTarget } from '../../kube/delete.ts';
import { delay } from '../../kube/env.ts';
import { PodexitError } from '../../errors.ts';
import type { RawObservation } from '../../model/observation.ts';
import { matches } from '../streams/selectors.ts';
import { labelsOf, nameOf, namespaceOf } from '../streams/watched.ts';
import { listObjects } from '../../kube/get.ts';
import { collectionPath } from '../../kube/resource-path.ts';

interface AskOptions {
  signal: AbortSignal;
  /** Send the eviction again while a budget refuses it. */
  retryEvict: boolean;
  warn(message: string): void;
  /** Called before each request. False: no request is needed, because another client has deleted the pod meanwhile. */
  beforeRequest?(): boolean;
}

/** Throws what deletePod throws. The error for a refusal by a budget names the budgets. */
export async function* askDeletion(
  cluster: Cluster,
  target: DeleteTarget,
  pod: JsonObject,
  asking: AskOptions,
): AsyncGenerator<RawObservation, void> {
  for (let refusals = 0; !asking.signal.aborted && asking.beforeRequest?.() !== false; refusals++) {
    try {
      return yield* deletePod(cluster, target, asking);
    } catch (error) {
      if (!(error instanceof PodexitError) || error.code !== 'evict.disruption-budget') throw error;
      if (!asking.retryEvict) throw explainRefusal(error, await budgetsOf(cluster, pod, asking.signal));
      yield { kind: 'answered', at: cluster.env.now(), verb: 'evict', status: 429, message: error.message };
      if (refusals === 0)
        asking.warn(`${explainRefusal(error, await budgetsOf(cluster, pod, asking.signal)).message}; waiting`);
    }
    // As `kubectl drain` does.
    await delay(cluster.env, 5000, asking.signal);
  }
}

/** The budgets whose selector matches the pod; undefined if budgets may not be listed. */
export async function budgetsOf(cluster: Cluster, pod: JsonObject, signal: AbortSignal): Promise<Budget[] | undefined> {
  const path = collectionPath(namespaceOf(pod) ?? cluster.namespace, 'poddisruptionbudgets', 'policy/v1');
  const result = await listObjects(cluster, { stream: 'owner', path }, { signal, retry: true }).catch(() => undefined);
  if (result?.kind !== 'listed') return undefined;
  return result.objects
    .map(asObject)
    .filter(({ spec }) => {
      // A budget without a selector covers no pod, one with an empty selector covers every pod (policy/v1).
      const { selector } = asObject(spec);
      return isPresent(selector) && matches(asObject(selector), labelsOf(pod));
    })
    .map(budgetOf);
}

type Budget = ReturnType<typeof budgetOf>;

function budgetOf(object: JsonObject) {
  const status = asObject(object['status']);
  const count = (field: string): number => asNumber(status[field]) ?? 0;
  return {
    name: nameOf(object),
    /** Pods that may be disrupted now. An evicted pod counts as disrupted until its replacement is healthy. */
    allowed: count('disruptionsAllowed'),
    healthy: count('currentHealthy'),
    /** Minimum number of healthy pods. */
    desired: count('desiredHealthy'),
    expected: count('expectedPods'),
  };
}

/** `PodDisruptionBudget "web" allows 0 disruptions now (1 of 2 pods healthy, 2 required)`. */
export function budgetText(budget: Budget): string {
  const { name, allowed, healthy, desired, expected } = budget;
  const counts = `${healthy} of ${expected} ${expected === 1 ? 'pod' : 'pods'} healthy, ${desired} required`;
  return `PodDisruptionBudget "${name}" allows ${allowed} ${allowed === 1 ? 'disruption' : 'disruptions'} now (${counts})${neverAllows(budget) ? ', and with these settings it never will' : ''}`;
}

/** All expected pods are healthy, and all must stay healthy: waiting never makes room for an eviction. */
const neverAllows = ({ allowed, healthy, desired, expected }: Budget): boolean =>
  allowed === 0 && expected > 0 && healthy >= expected && desired >= expected;

/** The server's refusal of an eviction, with the budgets behind it. */
function explainRefusal(refused: PodexitError, budgets: readonly Budget[] | undefined): PodexitError {
  if (!budgets || budgets.length === 0) return refused;
  const several = budgets.length > 1 ? ' (the eviction API refuses a pod that several budgets cover)' : '';
  return new PodexitError(
    refused.code,
    `${refused.message}; ${budgets.map(budgetText).join('; ')}${several}`,
    budgets.some(neverAllows)
      ? 'Add a replica, or relax minAvailable or maxUnavailable of the budget: waiting does not help.'
      : 'Wait until more of its siblings are healthy (--retry-evict does), or delete it without --evict, which ignores budgets.',
    { cause: refused },
  );
}
