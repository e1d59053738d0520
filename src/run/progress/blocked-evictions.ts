/**
 * Reports evictions that a PodDisruptionBudget refuses while a node is drained, once per pod, with the budget's name
 * and numbers. The API tells a refusal only to its client, so the output of the drain command is parsed. Without a
 * command, only this is known: a budget of a pod on the cordoned node allows no disruption now.
 */
import { asObject, type JsonObject } from '../../model/observe/read.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { getObject } from '../../kube/get.ts';
import { delay } from '../../kube/env.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { budgetsOf, budgetText, type Budget } from '../deleting/ask-deletion.ts';
import { isFinishedPod, isTerminatingPod, nameOf, namespaceOf, ownerOf } from '../streams/watched.ts';

export type BlockedEvictions = ReturnType<typeof createBlockedEvictions>;

/** `error when evicting pods/"web-0" -n "shop" (will retry after 5s): … disruption budget.` (kubectl's drain package). */
const refusalPattern = /evicting pods?\/"(?<name>[^"]+)"(?: -n "(?<namespace>[^"]+)")?.*disruption budget/g;
/** ms without a change of the node's pods until the budgets are checked; the time doubles after each check. */
const firstLookMs = 6000;

/** `held` gets the pods whose eviction is refused, until they terminate. */
export function createBlockedEvictions(
  cluster: Cluster,
  node: string,
  write: (line: string) => void,
  held: Map<string, string>,
  signal: AbortSignal,
) {
  const pods = new Map<string, JsonObject>();
  const reported = new Set<string>();
  let changed = new AbortController();
  let isCommandRead = false;
  const report = async (pod: JsonObject, what: (budgets: readonly Budget[]) => string | undefined): Promise<void> => {
    const key = keyOf(pod);
    if (reported.has(key)) return;
    reported.add(key);
    const text = what((await budgetsOf(cluster, pod, signal)) ?? []);
    if (text === undefined) return void reported.delete(key);
    held.set(key, text);
    if (!signal.aborted) write(`podexit: ${forTerminal(`${key}: ${text}`, 2000)}\n`);
  };
  const checkBudgets = async (): Promise<void> => {
    for (let wait = firstLookMs; !signal.aborted && !isCommandRead; wait *= 2) {
      while (!(await delay(cluster.env, wait, AbortSignal.any([signal, changed.signal])))) {
        if (signal.aborted) return;
        changed = new AbortController();
        wait = firstLookMs;
      }
      if (await isCordoned(cluster, node))
        for (const pod of [...pods.values()].filter(isEvictable)) await report(pod, blockedText).catch(() => undefined);
    }
  };
  void checkBudgets().catch(() => undefined);
  return {
    /** Takes output of the drain command. */
    output(text: string): void {
      for (const { groups } of text.matchAll(refusalPattern)) {
        isCommandRead = true;
        const { name, namespace = cluster.namespace } = groups ?? {};
        const pod = [...pods.values()].find((one) => nameOf(one) === name && namespaceOf(one) === namespace);
        if (pod) void report(pod, refusedText).catch(() => undefined);
      }
    },
    /** Takes every state of each pod on the node; undefined: the pod is gone. */
    seen(uid: string, pod: JsonObject | undefined): void {
      const before = pods.get(uid);
      if (pod && !isTerminatingPod(pod)) return void pods.set(uid, pod);
      if (before) held.delete(keyOf(before));
      if (pods.delete(uid) || before === undefined) changed.abort();
    },
  };
}

const keyOf = (pod: JsonObject): string => `${namespaceOf(pod) ?? ''}/${nameOf(pod)}`;

const refusedText = (budgets: readonly Budget[]): string =>
  budgets.length === 0
    ? 'its eviction was refused by a PodDisruptionBudget that cannot be read; waiting'
    : `its eviction was refused: ${budgets.map(budgetText).join('; ')}; waiting`;

const blockedText = (budgets: readonly Budget[]): string | undefined => {
  const holding = budgets.filter(({ allowed }) => allowed === 0);
  return holding.length === 0
    ? undefined
    : `an eviction would be refused now: ${holding.map(budgetText).join('; ')}; waiting`;
};

async function isCordoned(cluster: Cluster, node: string): Promise<boolean> {
  const { status, body } = await getObject(cluster, `/api/v1/nodes/${encodeURIComponent(node)}`);
  return status === 200 && asObject(asObject(body)['spec'])['unschedulable'] === true;
}

/** `kubectl drain` does not evict DaemonSet pods and static pods. */
const isEvictable = (pod: JsonObject): boolean =>
  !isFinishedPod(pod) && !['DaemonSet', 'Node'].includes(ownerOf(pod)?.kind ?? '');
