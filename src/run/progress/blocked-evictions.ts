/**
 * Reports evictions that a PodDisruptionBudget refuses while a node is drained, once per pod, with the budget's name
 * and numbers. The API tells a refusal only to its client, so the output of the drain command is parsed. Limit: a drain
 * that another terminal runs prints its refusals there.
 */
import type { JsonObject } from '../../model/observe/read.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { budgetsOf, budgetText } from '../deleting/ask-deletion.ts';
import { isTerminatingPod, nameOf, namespaceOf, uidOf } from '../streams/watched.ts';

export type BlockedEvictions = ReturnType<typeof createBlockedEvictions>;

/** `error when evicting pods/"web-0" -n "shop" (will retry after 5s): … disruption budget.` (kubectl's drain package). */
const refusalPattern = /evicting pods?\/"(?<name>[^"]+)"(?: -n "(?<namespace>[^"]+)")?.*disruption budget/g;

/** `held` gets the pods whose eviction is refused, until they terminate. */
export function createBlockedEvictions(
  cluster: Cluster,
  write: (line: string) => void,
  held: Map<string, string>,
  signal: AbortSignal,
) {
  const pods = new Map<string, JsonObject>();
  const reported = new Set<string>();
  const report = async (pod: JsonObject): Promise<void> => {
    const key = keyOf(pod);
    if (reported.has(key)) return;
    reported.add(key);
    const budgets = (await budgetsOf(cluster, pod, signal)) ?? [];
    const why =
      budgets.length > 0 ? `: ${budgets.map(budgetText).join('; ')}` : ' by a PodDisruptionBudget that cannot be read';
    const text = `its eviction was refused${why}; waiting`;
    held.set(key, text);
    if (!signal.aborted) write(`podexit: ${forTerminal(`${key}: ${text}`, 2000)}\n`);
  };
  return {
    /** Takes output of the drain command, and each uid whose eviction it says was refused. */
    output(text: string, onRefusal: (uid: string) => void): void {
      for (const { groups } of text.matchAll(refusalPattern)) {
        const { name, namespace = cluster.namespace } = groups ?? {};
        const pod = [...pods.values()].find((one) => nameOf(one) === name && namespaceOf(one) === namespace);
        if (!pod) continue;
        onRefusal(uidOf(pod));
        void report(pod).catch(() => undefined);
      }
    },
    /** Takes every state of each pod on the node; undefined: the pod is gone. */
    seen(uid: string, pod: JsonObject | undefined): void {
      const before = pods.get(uid);
      if (pod && !isTerminatingPod(pod)) return void pods.set(uid, pod);
      if (before) held.delete(keyOf(before));
      pods.delete(uid);
    },
  };
}

const keyOf = (pod: JsonObject): string => `${namespaceOf(pod) ?? ''}/${nameOf(pod)}`;
