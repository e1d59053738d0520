/** The command `try`: proves a patch on two throwaway copies of a workload, which it removes however it ends. */
import { publish, type OutputOptions } from '../advice/output.ts';
import { yamlOf } from '../advice/fix/edited-text.ts';
import type { ManifestInput } from '../advice/manifest-input.ts';
import { PodexitError } from '../errors.ts';
import type { Cluster } from '../kube/cluster.ts';
import type { ConnectOptions } from '../kube/connect-options.ts';
import type { Interrupted } from '../model/observation.ts';
import { asNumber, asString, metadataOf } from '../model/observe/read.ts';
import { forTerminal } from '../output/safe-text.ts';
import { isYes } from '../run/choosing/confirm-delete.ts';
import { targetText, type Target } from '../run/choosing/target.ts';
import { leftBy, unlessInterrupted, createDeadline } from '../run/ending/leaving.ts';
import { runLive } from '../run/group/run-live.ts';
import { warnOn, type Ports } from '../run/ports.ts';
import { canAsk, withCluster, type Session } from '../run/session.ts';
import { gateFailed, signalCodes } from '../verdict/policy.ts';
import { list, plural } from '../verdict/words.ts';
import { tryViews, type TryReport, adviceOf, judgePatch, resultOf, patchSummary, type TriedExit } from './outcome.ts';
import { copyNames, copyOf, ownerManifest, tryIdOf, type Copy, type CopyName } from './copies.ts';
import { isInside, measureExit, type Measuring, untilReady } from './measure.ts';
import { assertPermitted, create, leftText, cleanupCommand, ownersLeft, remove, workloadOf } from './objects.ts';
import { planOf, type Plan, type Proposal } from './plan.ts';
import { podSpecIn } from './refusals.ts';

export interface TryOptions extends OutputOptions {
  /** Absent: the manifests hold one workload, or `cleanup` removes the copies of all. */
  target?: Target;
  manifests?: ManifestInput;
  proposal: Proposal;
  /** Exits of each copy. */
  runs: number;
  probe: Measuring['probe'];
  path: string;
  /** ms that the pods have to become ready. */
  timeoutMs: number;
  /** Do not ask. */
  yes: boolean;
  /** Print the manifests, create nothing. */
  dryRun: boolean;
  /** Only remove what earlier tries left. */
  cleanup: boolean;
  failOn: readonly ('worse' | 'lost')[];
  connection: ConnectOptions;
  verbosity: number;
}

/** Returns 0, or 5 for `failOn`. Throws what `planOf`, `assertPermitted`, `measureExit` and `remove` throw. */
export async function tryPatch(options: TryOptions, ports: Ports): Promise<number> {
  const leaving = new AbortController();
  const unsubscribe = ports.onSignal((signal) =>
    leaving.signal.aborted ? ports.leave(signalCodes[signal]) : leaving.abort(signal),
  );
  return withCluster(options.connection, ports, options.verbosity, async (cluster) => {
    if (options.cleanup) return cleanUp(cluster, options, ports);
    return tryIn({ cluster, ports, deadline: createDeadline(ports.clock, null) }, options, leaving.signal);
  })
    .catch((error: unknown) => {
      if (!leaving.signal.aborted || (error as { code?: unknown }).code === 'try.left') throw error;
      const signal = leaving.signal.reason as Interrupted['signal'];
      throw leftBy(signal, 'interrupted', 'The copies, if there were any, are removed.');
    })
    .finally(unsubscribe);
}

async function tryIn(session: Session, options: TryOptions, left: AbortSignal): Promise<number> {
  const { cluster, ports } = session;
  // Six letters and digits: ids differ only among the tries of one namespace.
  const id = ports.random().toString(36).slice(2, 8).padEnd(6, '0');
  const plan = await unlessInterrupted(ports, () => planOf(cluster, { ...options, id }, ports));
  if (options.dryRun) {
    // In the order in which they are created. The uid of their owner is known only then.
    const manifests = [ownerOf(plan), ...objectsOf(copiesOf(plan, 'the uid of the ConfigMap'))];
    ports.stdout.write(manifests.map(yamlOf).join('---\n'));
    return 0;
  }
  await assertPermitted(cluster);
  for (const owner of await ownersLeft(cluster))
    warnOn(ports)(
      `there are copies of an earlier try, or of one that still runs: ${leftText(owner)}; remove them with: ${cleanupCommand(cluster)}`,
    );
  if (!(await isAllowed(plan, session, options))) return 0;
  left.throwIfAborted();
  const { exits, failure } = await onCopies(session, plan, options, left);
  const code = await printed(session, plan, options, exits);
  if (failure !== undefined) throw failure;
  return code;
}

const objectsOf = (copies: readonly Copy[]) => copies.flatMap(({ deployment, service }) => [deployment, service]);

const ownerOf = ({ options, subject, change }: Plan, startedAt = 'when it is created') =>
  ownerManifest(options, { workload: subject, change, startedAt });

const copiesOf = ({ workloads, options }: Plan, ownerUid: string): Copy[] =>
  copyNames.map((name) => copyOf(workloads[name], name, options, ownerUid));

/** Throws `try.consent` if nobody can be asked. */
async function isAllowed(plan: Plan, session: Session, { yes, runs }: TryOptions): Promise<boolean> {
  if (yes) return true;
  const { cluster, ports } = session;
  const { replicas } = plan.options;
  const does = ['do whatever the application does when it starts', ...plan.touches];
  const where = cluster.contextName === undefined ? cluster.server : `context ${cluster.contextName}`;
  const facts = `Two copies of ${plan.subject} in namespace ${cluster.namespace} of ${where}, each with ${plural(replicas, 'pod')}, of which ${runs} are deleted one by one. They ${list(does)}.`;
  if (!canAsk(ports))
    throw new PodexitError('try.consent', `nobody can be asked. ${facts}`, 'If that is fine, add --yes.');
  const question = `${forTerminal(`Try: ${plan.change}. ${facts} Create them?`, 4000)} [y/N] `;
  return isYes(session, question, 'nothing was created');
}

/** Creates the copies, measures, and removes them. `failure`: not all could be removed, which comes before another error. */
async function onCopies(session: Session, plan: Plan, options: TryOptions, left: AbortSignal) {
  const { cluster, ports } = session;
  const warn = warnOn(ports);
  const measuring = measured(session, plan, options, left);
  await measuring.catch(() => undefined);
  warn(left.aborted ? `${left.reason}: removing the copies; a second signal leaves them` : 'removing the copies');
  const removing = remove(cluster, [plan.options.id], patienceMs(plan));
  const failure = await removing.then(() => undefined).catch((error: unknown) => error as PodexitError);
  const exits = await measuring.catch((error: unknown) => {
    if (failure && !left.aborted) warn((error as Error).message);
    throw failure ?? error;
  });
  return { exits, failure };
}

/** ms; the pods need their grace period to go. */
function patienceMs({ workloads }: Plan): number {
  const graces = copyNames.map((name) => asNumber(podSpecIn(workloads[name])['terminationGracePeriodSeconds']) ?? 30);
  return (Math.max(...graces) + 90) * 1000;
}

type Exits = Record<CopyName, TriedExit[]>;

async function measured(session: Session, plan: Plan, options: TryOptions, left: AbortSignal): Promise<Exits> {
  const { cluster, ports } = session;
  const said = new Set<string>();
  // The same streams may be refused in each exit.
  const say = (sentence: string): void => {
    if (!said.has(sentence)) warnOn(ports)(sentence);
    said.add(sentence);
  };
  const owner = await create(cluster, ownerOf(plan, new Date(ports.clock.now()).toISOString()));
  const copies = copiesOf(plan, asString(metadataOf(owner)['uid']) ?? '');
  for (const object of objectsOf(copies)) {
    left.throwIfAborted();
    await create(cluster, object);
  }
  say(`created two copies of ${plan.subject}, which nothing else selects; waiting until they are ready`);
  const { probe, path, timeoutMs } = options;
  const { targetPort } = plan.options;
  const measuring: Measuring = { session, probe, path, targetPort, timeoutMs, left, say, follow: runLive };
  for (const copy of copies) await untilReady(copy, measuring);
  const exits: Exits = { today: [], patched: [] };
  for (let run = 1; run <= options.runs; run++)
    // In turns, so that what changes in the cluster meanwhile does not favour one of them.
    for (const copy of run % 2 === 1 ? copies : copies.toReversed()) {
      const other = copies.find((one) => one !== copy) ?? copy;
      const exit = await measureExit(measuring, copy, other);
      exits[copy.name].push(exit);
      const { requests, sample } = exit;
      say(
        `exit ${run} of ${options.runs}, ${copy.name}: ${sample.outcome}, ${requests.failed} of ${requests.sent} requests lost`,
      );
    }
  return exits;
}

async function printed(
  session: Session,
  plan: Plan,
  options: TryOptions,
  { today: was, patched: is }: Exits,
): Promise<number> {
  const { cluster, ports } = session;
  const [before, after] = [resultOf(was), resultOf(is)];
  const judged = judgePatch(was, is);
  const fails = { worse: judged.worse.length > 0, lost: after.exitsWithLoss > 0 };
  const { kind = '', metadata } = plan.workloads.today;
  const content: Omit<TryReport, 'apiVersion' | 'run'> = {
    kind: 'TryReport',
    summary: patchSummary(judged, after),
    ...judged,
    workload: { kind, name: metadata?.name ?? '', namespace: cluster.namespace },
    patch: plan.change,
    advice: `${adviceOf(judged, before, after)}${judged.change === 'better' ? plan.how : ''}`,
    before,
    after,
    ratePerSecond: options.probe.ratePerSecond,
    via: isInside(session) ? 'url' : 'service-proxy',
    notShown: notShown(plan, options, before.notMeasured + after.notMeasured, isInside(session)),
    verdict: { exitCode: options.failOn.some((word) => fails[word]) ? gateFailed : 0 },
  };
  return publish(content, { command: 'try', context: cluster.contextName }, tryViews, options, ports);
}

function notShown(
  { leftOut, options: { replicas } }: Plan,
  { runs }: TryOptions,
  unmeasured: number,
  inside: boolean,
): string[] {
  // The largest share that so many exits without a loss leave possible, with 95 % confidence.
  const share = Math.round(100 * (1 - 0.05 ** (1 / runs)));
  const silent = `what became of ${plural(unmeasured, 'request')}: the API server did not answer, or this machine stood still`;
  return [
    ...(unmeasured > 0 ? [silent] : []),
    inside
      ? 'load balancers outside of the cluster, which learn later that a pod leaves'
      : 'kube-proxy, Ingresses and load balancers, which learn later than the API server that a pod leaves; connections that clients keep open',
    `the load of the original: each copy has ${plural(replicas, 'pod')}`,
    `rare losses: a copy that lost nothing in ${plural(runs, 'exit')} may still lose requests in up to ${share}% of its exits (--runs)`,
    `what selects the labels of the original, such as network policies and meshes${leftOut.length > 0 ? `; what these fields do, which the copies lack: ${leftOut.join(', ')}` : ''}`,
  ];
}

/** Removes the copies of the target's tries, or of all tries in the namespace. */
async function cleanUp(cluster: Cluster, { target }: TryOptions, ports: Ports): Promise<number> {
  const owners = (await ownersLeft(cluster)).filter((one) => !target || workloadOf(one) === targetText(target));
  for (const owner of owners) ports.stderr.write(`podexit: removing the copies of ${forTerminal(leftText(owner))}\n`);
  const ids = owners.flatMap((one) => tryIdOf(one) ?? []);
  if (ids.length > 0) await remove(cluster, ids);
  ports.stdout.write(
    ids.length === 0 ? 'no copies of a try are left\n' : `removed ${plural(ids.length, 'try', 'tries')}\n`,
  );
  return 0;
}
