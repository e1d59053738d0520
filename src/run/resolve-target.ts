/** From what the user named to one pod. */
import type { Cluster } from '../kube/cluster.ts';
import { PodexitError } from '../errors.ts';
import { listCandidates, podSelector } from './candidates.ts';
import { choosePod } from './choose-pod.ts';
import type { Deadline } from './deadline.ts';
import { unlessLate } from './deadline.ts';
import type { FoundPod } from './found-pod.ts';
import type { Ports } from './ports.ts';
import type { Scope } from './scope.ts';
import { scopeOf } from './scope.ts';
import type { Pick, SeveralTarget, Target } from './target.ts';
import { targetText } from './target.ts';

export interface Resolving {
  target: Target;
  pick?: Pick;
  deadline: Deadline;
  /** Aborted where the answer is no longer wanted. */
  left: AbortSignal;
}

/** Throws as podSelector and choosePod do, and `target.unread`. A pod's own name costs no request. */
export async function resolveTarget(cluster: Cluster, resolving: Resolving, ports: Ports): Promise<FoundPod> {
  const { target, pick, deadline, left } = resolving;
  if (target.kind === 'pod') return { name: target.name };
  const what = targetText(target);
  const selector = await unlessLate(deadline, podSelector(cluster, target), () => unread(cluster, what));
  const { clock, random, stderr, ask } = ports;
  const { name, uid } = await choosePod({
    what,
    namespace: cluster.namespace,
    reach: cluster.reach,
    candidates: await unlessLate(deadline, listCandidates(cluster, selector), () => unread(cluster, what)),
    ...(pick === undefined ? {} : { pick }),
    ...(ask === undefined || !ports.stdinIsTty || !stderr.isTty
      ? {}
      : { ask: (question: string) => deadline.pauseWhile(() => ask(question, left)) }),
    now: clock.now(),
    random,
  });
  return { name, uid };
}

/** Throws as scopeOf does, and `target.unread`. */
export const scopeInTime = (
  cluster: Cluster,
  target: SeveralTarget,
  deadline: Deadline,
  scoping: Parameters<typeof scopeOf>[2],
): Promise<Scope> => unlessLate(deadline, scopeOf(cluster, target, scoping), () => unread(cluster, targetText(target)));

/** `target.unread`, exit code 3. */
export const unread = ({ namespace }: Cluster, what: string): PodexitError =>
  new PodexitError(
    'target.unread',
    `${what} in namespace "${namespace}" could not be read within --timeout`,
    'Nothing was deleted. See what is asked and answered with: -v=6',
    { exitCode: 3 },
  );
