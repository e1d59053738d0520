/** The one request that ends the pod: a DELETE, or an eviction that may have to wait for a budget. */
import type { Cluster } from '../kube/cluster.ts';
import { deletePod } from '../kube/delete.ts';
import type { DeleteTarget } from '../kube/delete.ts';
import { passed } from '../kube/surroundings.ts';
import { PodexitError } from '../errors.ts';
import type { Sighting } from '../model/observation.ts';
import { budgetsOf, explainRefusal } from './budgets.ts';
import type { Raw } from './watched.ts';

export interface Asking {
  signal: AbortSignal;
  /** Ask again for as long as a budget refuses the eviction. */
  retryEvict: boolean;
  /** One sentence for stderr. */
  warn(message: string): void;
  /** Somebody else has begun the deletion meanwhile: nothing is left to ask for. */
  isOvertaken?(): boolean;
}

/** As often as `kubectl drain` tries. */
const retryMs = 5000;

/** Throws what deletePod throws; a budget's refusal with the budgets behind it. */
export async function* askDeletion(
  cluster: Cluster,
  target: DeleteTarget,
  pod: Raw,
  asking: Asking,
): AsyncGenerator<Sighting, void> {
  for (;;) {
    // Asked as a dry run first, so that refused tries are no part of the trace.
    if (target.evict && asking.retryEvict) await untilAllowed(cluster, target, pod, asking);
    if (asking.signal.aborted || asking.isOvertaken?.()) return;
    try {
      return yield* deletePod(cluster, target, asking);
    } catch (error) {
      if (!isBudgetRefusal(error)) throw error;
      if (!asking.retryEvict) throw explainRefusal(error, await budgetsOf(cluster, pod, asking.signal));
    }
    await passed(cluster.surroundings, retryMs, asking.signal);
  }
}

async function untilAllowed(cluster: Cluster, target: DeleteTarget, pod: Raw, asking: Asking): Promise<void> {
  for (let warned = false; !asking.signal.aborted && !asking.isOvertaken?.(); warned = true) {
    try {
      for await (const _ of deletePod(cluster, { ...target, dryRun: true }, asking));
      return;
    } catch (error) {
      if (refusesDryRuns(error)) return;
      if (!isBudgetRefusal(error)) throw error;
      if (!warned)
        asking.warn(`${explainRefusal(error, await budgetsOf(cluster, pod, asking.signal)).message}; waiting`);
    }
    await passed(cluster.surroundings, retryMs, asking.signal);
  }
}

/** A webhook that would do something is not called for a dry run (apiserver `NewDryRunUnsupportedErr`): only the eviction shows its answer. */
const refusesDryRuns = (error: unknown): boolean =>
  error instanceof PodexitError && /does not support dry run/.test(error.message);

const isBudgetRefusal = (error: unknown): error is PodexitError =>
  error instanceof PodexitError && error.code === 'evict.disruption-budget';
