/** From what the user named to one pod. */
import type { Cluster } from '../cluster/cluster.ts';
import type { Mode } from '../trace/observation.ts';
import { listCandidates, podSelector } from './candidates.ts';
import { choosePod } from './choose-pod.ts';
import type { FoundPod } from './found-pod.ts';
import { nextTerminating } from './next-terminating.ts';
import type { Ports } from './ports.ts';
import type { Pick, Target } from './target.ts';
import { targetText } from './target.ts';

export interface Resolving {
  target: Target;
  pick?: Pick;
  mode: Mode;
  /** ms; null: never gives up. */
  timeoutMs: number | null;
}

/** Throws as podSelector, choosePod and nextTerminating do. A pod's own name costs no request. */
export async function resolveTarget(cluster: Cluster, resolving: Resolving, ports: Ports): Promise<FoundPod> {
  const { target, pick, mode, timeoutMs } = resolving;
  if (target.kind === 'pod') return { name: target.name };
  const selector = await podSelector(cluster, target);
  const what = targetText(target);
  const { clock, random, stderr, ask } = ports;
  if (mode === 'attach' && pick === undefined) {
    stderr.write(`podexit: waiting for the next terminating pod of ${what}\n`);
    return nextTerminating({ cluster, selector, what, clock, timeoutMs });
  }
  const { name, uid } = await choosePod({
    what,
    namespace: cluster.namespace,
    reach: cluster.reach,
    candidates: await listCandidates(cluster, selector),
    ...(pick === undefined ? {} : { pick }),
    ...(ask === undefined || !ports.stdinIsTty || !stderr.isTty ? {} : { ask }),
    now: clock.now(),
    random,
  });
  return { name, uid };
}
