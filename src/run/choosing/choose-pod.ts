/** Chooses one of several pods: by `--pick`, by asking the user, or the next that terminates. */
import { asObject, asString, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import { PodexitError } from '../../errors.ts';
import { columnsOf } from '../../output/prose.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { targetText, type Pick, type WorkloadTarget } from './target.ts';
import { listObjects } from '../../kube/get.ts';
import { refusedPods } from '../../kube/refused.ts';
import { notKubernetes } from '../../kube/server-errors.ts';
import { readGroup } from './read-group.ts';
import { ask, canAsk, readInTime, type Session } from '../session.ts';
import type { FoundPod, GroupListener } from '../group/group.ts';
import type { TracedPod } from '../group/run-live.ts';
import { isFinishedPod, isReadyPod, isTerminatingPod, nameOf, uidOf } from '../streams/watched.ts';
import { createWaitingLimit } from '../ending/leaving.ts';
import { warnOn } from '../ports.ts';
import type { SeveralOptions } from '../group/end.ts';

/**
 * The pod to delete. Terminating pods are offered only if no other pod is left. `left`: aborted when the user leaves.
 * Throws what readGroup throws, `target.no-pods`, `target.all-ready`, `target.several`, `target.not-chosen`.
 */
export async function resolveTarget(
  session: Session,
  { target, pick, left }: { target: WorkloadTarget; pick?: Pick; left: AbortSignal },
): Promise<FoundPod> {
  const { cluster, ports } = session;
  const { namespace, connectionFlags } = cluster;
  const what = targetText(target);
  const offered = preferredPods(await listCandidates(session, target));
  const [only] = offered;
  if (!only)
    throw new PodexitError(
      'target.no-pods',
      `${what} in namespace "${namespace}" has no pods`,
      `Look at: kubectl get pods -n ${namespace}${connectionFlags}`,
    );
  if (pick === undefined && offered.length > 1 && !canAsk(ports))
    throw new PodexitError(
      'target.several',
      `${what} in namespace "${namespace}" matches ${offered.length} pods`,
      `${podTable(offered, ports.clock.now()).join('\n')}\nName one of them, or choose with --pick=oldest|newest|random|not-ready.`,
    );
  const picked = pick && pickByRule(offered, pick, what, session);
  const pod = picked ?? (offered.length === 1 ? only : await askUser(offered, what, session, left));
  return { name: nameOf(pod), uid: uidOf(pod) };
}

/** Throws what readGroup throws and refusedPods returns, `server.not-kubernetes` and `server.unreachable`. */
async function listCandidates(session: Session, target: WorkloadTarget): Promise<JsonObject[]> {
  const { cluster } = session;
  const { pods, owns } = await readGroup(session, target);
  const list = () => listObjects(cluster, pods, { retry: true });
  const result = await readInTime(session, targetText(target), list);
  if (result.kind === 'listed') return result.objects.map(asObject).filter(owns);
  if (result.outcome.kind === 'foreign') throw notKubernetes(cluster);
  throw refusedPods(cluster, { namespace: cluster.namespace }, result.refusal);
}

function preferredPods(candidates: readonly JsonObject[]): JsonObject[] {
  const sorted = [...candidates].sort((a, b) => nameOf(a).localeCompare(nameOf(b), 'en'));
  const open = sorted.filter((pod) => !isTerminatingPod(pod));
  const running = open.filter((pod) => !isFinishedPod(pod));
  return running.length > 0 ? running : open.length > 0 ? open : sorted;
}

function pickByRule(offered: readonly JsonObject[], pick: Pick, what: string, { cluster, ports }: Session): JsonObject {
  const byAge = [...offered].sort((a, b) => (createdAt(a) || 0) - (createdAt(b) || 0));
  const rules: Record<Pick, () => JsonObject | undefined> = {
    oldest: () => byAge[0],
    newest: () => byAge.at(-1),
    random: () => offered[Math.floor(ports.random() * offered.length)],
    'not-ready': () => byAge.find((pod) => !isReadyPod(pod)),
  };
  const found = rules[pick]();
  if (found) return found;
  throw new PodexitError(
    'target.all-ready',
    `every pod of ${what} in namespace "${cluster.namespace}" is ready`,
    'Pick another one: --pick=oldest, newest or random.',
  );
}

async function askUser(
  offered: readonly JsonObject[],
  what: string,
  session: Session,
  left: AbortSignal,
): Promise<JsonObject> {
  const [head, ...rows] = podTable(offered, session.ports.clock.now());
  const width = String(offered.length).length;
  const list = rows.map((row, index) => `${String(index + 1).padStart(width)}  ${row}`);
  const text = await ask(
    session,
    `${what} has ${offered.length} pods:\n${' '.repeat(width)}  ${head}\n${list.join('\n')}\nWhich one (1-${offered.length})? `,
    left,
  );
  const answer = text?.trim() ?? '';
  const chosen = offered[Number(answer || NaN) - 1] ?? offered.find((pod) => nameOf(pod) === answer);
  if (chosen) return chosen;
  const noChoice = `"${forTerminal(answer, 80)}" is not a choice: enter a number from 1 to ${offered.length}`;
  const words = answer === '' ? 'no pod was chosen' : noChoice;
  throw new PodexitError('target.not-chosen', words, 'Nothing was deleted.');
}

const podTable = (pods: readonly JsonObject[], now: number): string[] =>
  columnsOf([
    ['NAME', 'READY', 'AGE', 'NODE'],
    ...pods.map((pod) => {
      const node = asString(asObject(pod['spec'])['nodeName']) ?? '<none>';
      return [forTerminal(nameOf(pod)), isReadyPod(pod) ? 'yes' : 'no', age(now - createdAt(pod)), forTerminal(node)];
    }),
  ]);

/** In the short form of kubectl: `45s`, `12m`, `5h`, `3d`. */
function age(ms: number): string {
  if (!Number.isFinite(ms)) return '<unknown>';
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** ms since the epoch; NaN if the server did not say. */
const createdAt = (pod: JsonObject): number => Date.parse(String(metadataOf(pod)['creationTimestamp']));

/** A workload's next terminating pod: `--attach` without a pod's name. Throws what readGroup throws. */
export async function nextPod(session: Session, options: SeveralOptions): Promise<TracedPod> {
  const { cluster, deadline, ports } = session;
  const warn = warnOn(ports);
  const group = await readGroup(session, options.target);
  const limit = createWaitingLimit({ ...ports, timeoutMs: options.timeoutMs });
  const over = new AbortController();
  let uid: string | undefined;
  warn(`waiting for the next terminating pod of ${group.target}`);
  const listener: GroupListener = {
    shouldTrace(one) {
      limit.cancel();
      return (uid ??= one) === one;
    },
    ended: () => over.abort(),
    seen: (_uid, pod) => void (pod && limit.podSeen(pod)),
    missed: (_pod, text) => void (limit.restart(), warn(text)),
    listed: limit.listed,
  };
  return {
    group: { ...group, isNext: true },
    listener,
    // A pod that was removed at once is terminating in the log, and is not the next pod.
    wants: ({ metadata }) => metadata.uid === uid,
    finishOn: AbortSignal.any([over.signal, deadline.signal, limit.signal]),
    notStarted: () =>
      new PodexitError(
        'attach.not-started',
        `no pod of ${group.target} in namespace "${cluster.namespace}" was being deleted within ${limit.signal.aborted ? limit.text() : '--timeout'}`,
        'Start the rollout or the deletion while this waits, or wait longer: --timeout 0 waits forever.',
        { exitCode: 3 },
      ),
    close: limit.cancel,
  };
}
