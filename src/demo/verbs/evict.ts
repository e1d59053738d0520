import type { Cluster } from '../cluster.ts';
import { kindOf, type Kind } from '../data/kinds.ts';
import { valueAt, type KubeObject } from '../data/kube-object.ts';
import { matchesLabels } from '../data/selectors.ts';
import { disruptionBudget, notFound, success } from '../data/status.ts';
import type { Exchange } from '../http/exchange.ts';
import { checkPreconditions, deleteOptionsOf, parseJson } from './delete-options.ts';
import { executeDelete, isTraced } from './delete.ts';

/** POST pods/NAME/eviction. Answers 201 with a Status, never with the Pod. Returns whether anything was accepted. */
export async function serveEviction(cluster: Cluster, exchange: Exchange, name: string): Promise<boolean> {
  const { request } = exchange;
  const pod = cluster.get('pods', request.namespace, name);
  if (pod === undefined) throw notFound(kindOf('pods') as Kind, name);
  const options = deleteOptionsOf(valueAt(parseJson(request.body), 'deleteOptions'));
  checkPreconditions(pod, options);
  checkBudgets(cluster, pod);
  const isDryRun = options.isDryRun || request.query.getAll('dryRun').includes('All');
  if (!isDryRun) {
    await executeDelete(cluster, pod, options);
    await recordedAnswer(cluster, pod);
  }
  exchange.json(201, success(201));
  return !isDryRun;
}

/** Budgets do not count for pods that are ending, have ended or never ran (SIGNALS.md §1). */
function checkBudgets(cluster: Cluster, pod: KubeObject): void {
  const isFree = pod.metadata.deletionTimestamp !== undefined || valueAt(pod, 'status.phase') !== 'Running';
  if (isFree) return;
  for (const { resource, object } of cluster.log.current.values()) {
    if (resource !== 'poddisruptionbudgets' || object.metadata.namespace !== pod.metadata.namespace) continue;
    if (!matchesLabels(valueAt(object, 'spec.selector.matchLabels'), pod)) continue;
    if (numberAt(object, 'status.disruptionsAllowed') > 0) continue;
    const needed = numberAt(object, 'status.desiredHealthy');
    throw disruptionBudget(object.metadata.name, needed, numberAt(object, 'status.currentHealthy'));
  }
}

async function recordedAnswer(cluster: Cluster, pod: KubeObject): Promise<void> {
  const { kind, answer } = cluster.story.trigger;
  if (kind === 'evict' && answer !== undefined && isTraced(cluster, pod)) {
    await cluster.sleep(cluster.director.untilRecorded(answer.at));
  }
}

function numberAt(object: KubeObject, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}
