/** The command that starts a rollout when all streams are in sync, kubectl's or the user's, and what its output tells. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PodexitError } from '../../errors.ts';
import { connectionArguments, type ConnectOptions } from '../../kube/connect-options.ts';
import type { Ports } from '../ports.ts';
import type { JsonObject } from '../../model/observe/read.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { budgetsOf, budgetText } from '../deleting/ask-deletion.ts';
import { isTerminatingPod, nameOf, namespaceOf, uidOf } from '../streams/watched.ts';

/** How a rollout is started. */
export type RolloutStart =
  | { kind: 'restart' }
  /** `CONTAINER=IMAGE`. */
  | { kind: 'image'; image: string }
  | { kind: 'command'; argv: readonly string[] };

/**
 * The command line. `owner`: `deployment/checkout`. kubectl reaches the same cluster as the same user, except with
 * --token, --username or --password: other users of this machine could read them in its arguments.
 */
export function commandOf(
  start: RolloutStart,
  owner: string,
  namespace: string,
  connection: ConnectOptions,
  env: Ports['env'],
): readonly string[] {
  if (start.kind === 'command') return start.argv;
  const verb = start.kind === 'restart' ? ['rollout', 'restart', owner] : ['set', 'image', owner, start.image];
  return [env['KUBECTL_PATH'] || 'kubectl', ...verb, '-n', namespace, ...connectionArguments(connection)];
}

/** Runs the command to its end, or ends it on abort. `write` gets its output. Throws `rollout.command-failed`. */
export async function runCommand(
  [program = '', ...args]: readonly string[],
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const child = spawn(program, args, { stdio: ['inherit', 'pipe', 'pipe'], signal });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', write);
  const [code, endedBy] = (await once(child, 'close').catch((cause: NodeJS.ErrnoException) => {
    if (signal.aborted) return [0];
    throw failed(program, `could not be started (${cause.code ?? cause.message})`, cause);
  })) as [code: number | null, endedBy?: string];
  if (code === 0 || signal.aborted) return;
  throw failed(program, code === null ? `was ended by ${endedBy ?? 'a signal'}` : `failed with exit code ${code}`);
}

const failed = (program: string, how: string, cause?: unknown): PodexitError =>
  new PodexitError(
    'rollout.command-failed',
    `${program} ${how}`,
    'Its own output above says why; pods that terminated until then are reported.',
    { cause },
  );

export type BlockedEvictions = ReturnType<typeof createBlockedEvictions>;

/** `error when evicting pods/"web-0" -n "shop" (will retry after 5s): … disruption budget.` (kubectl's drain package). */
const refusalPattern = /evicting pods?\/"(?<name>[^"]+)"(?: -n "(?<namespace>[^"]+)")?.*disruption budget/g;

/**
 * Reports evictions that a PodDisruptionBudget refuses while a node is drained, once per pod, with the budget's name
 * and numbers. The API tells a refusal only to its client, so the output of the drain command is parsed. Limit: a drain
 * that another terminal runs prints its refusals there. `held` gets the refused pods, until they terminate.
 */
export function createBlockedEvictions(
  cluster: Cluster,
  warn: (sentence: string) => void,
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
    const text = `its eviction was refused${why}`;
    held.set(key, text);
    if (!signal.aborted) warn(`${key}: ${text}; waiting`);
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
