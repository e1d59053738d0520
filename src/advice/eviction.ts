/**
 * Whether the eviction API would let a pod go, by the rule of the API server: KK/registry/core/pod/storage/eviction.go
 * `Create` (SIGNALS.md §1 "Eviction"). It refuses too while a budget's controller has not seen its last change
 * (`checkAndDecrement`), which passes in a moment and is not looked at. Pure.
 */
import type { Pod } from '../model/kube.ts';
import { isReady, isTerminating } from '../model/pod.ts';

/** What a live PodDisruptionBudget says about itself. */
export interface BudgetFacts {
  allowed: number;
  healthy: number;
  /** Healthy pods that must stay. */
  desired: number;
  /** Its unhealthyPodEvictionPolicy is AlwaysAllow. */
  evictsUnready: boolean;
}

export interface Ruling {
  refused: boolean;
  /** Where the number of disruptions that a budget allows does not decide. */
  because?: string;
}

/** `budgets`: all that cover the pod. */
export function rulingOf(pod: Pod, budgets: readonly BudgetFacts[]): Ruling {
  const free = freedomOf(pod);
  if (free !== undefined) return { refused: false, because: free };
  const [budget, ...more] = budgets;
  if (!budget) return { refused: false };
  if (more.length > 0) return { refused: true, because: 'the eviction API refuses a pod that several budgets cover' };
  const unready = unreadinessOf(pod, budget);
  return unready === undefined ? { refused: budget.allowed < 1 } : { refused: false, because: unready };
}

/** `canIgnorePDB`: such a pod goes before any budget is looked at. */
function freedomOf(pod: Pod): string | undefined {
  const { phase } = pod.status;
  const isUnguarded = phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending';
  if (!isUnguarded && !isTerminating(pod)) return undefined;
  return `the eviction API ignores the budgets of a pod that is ${isUnguarded ? phase : 'terminating'}`;
}

/** `Create` behind `IsPodReady`: one that is not ready counts for no budget as healthy; IfHealthyBudget is the default. */
function unreadinessOf(pod: Pod, { evictsUnready, healthy, desired }: BudgetFacts): string | undefined {
  if (isReady(pod)) return undefined;
  const lets = 'the eviction API lets this pod go whatever is allowed: it is not ready';
  if (evictsUnready) return `${lets}, and the budget's unhealthyPodEvictionPolicy is AlwaysAllow`;
  return healthy >= desired && desired > 0 ? `${lets}, and as many others are healthy as must stay` : undefined;
}
