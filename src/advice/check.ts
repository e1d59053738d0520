/** The command `check`: judges the specs of manifests, a pod, a workload or a whole namespace. Deletes nothing. */
import { PodexitError } from '../errors.ts';
import type { Cluster } from '../kube/cluster.ts';
import type { ConnectOptions } from '../kube/connect-options.ts';
import type { Gate } from '../model/report.ts';
import { safeLines } from '../output/safe-text.ts';
import { annotate, publishSummary } from '../output/publish.ts';
import { createDeadline, unlessInterrupted } from '../run/ending/leaving.ts';
import type { Ports } from '../run/ports.ts';
import { withCluster } from '../run/session.ts';
import { resolveTarget } from '../run/choosing/choose-pod.ts';
import type { Pick, Target } from '../run/choosing/target.ts';
import { checkReportOf, judge, type CheckedSpec } from './check-report.ts';
import { checkAnnotations, checkMarkdown, checkViews } from './check-views.ts';
import type { FailOn } from './problem.ts';
import { situationIn, situationOfLivePod, situationOf, situationsOf, type Situation } from './situation.ts';
import { readManifests, type ManifestInput } from './manifest-input.ts';
import { kustomizationHint } from './manifests.ts';
import { publish, type OutputOptions } from './output.ts';
import { readNamespace, readPodToDelete, readWithKind, readWorkloads } from './read-cluster.ts';

export type CheckSource =
  { kind: 'files'; input: ManifestInput } | { kind: 'target'; target: Target; pick?: Pick } | { kind: 'all' };

export interface CheckOptions extends OutputOptions {
  source: CheckSource;
  connection: ConnectOptions;
  verbosity: number;
  /** The grace period of the deletion to predict; undefined: the spec's. */
  graceSeconds?: number;
  timeoutMs: number | null;
  evict: boolean;
  inspect: boolean; // Read PID 1 of each container, by running `cat` in it.
  failOn: readonly FailOn[];
  /** Names of the gates that need a real exit. */
  limits: readonly string[];
  warnOnly: boolean;
}

/** Returns 0, 5 if a gate failed, or 1 if input could not be read. Throws the PodexitErrors of its reads. */
export async function check(options: CheckOptions, ports: Ports): Promise<number> {
  const { source } = options;
  const found =
    source.kind === 'files' ? await fromFiles(source.input, options, ports) : await fromCluster(source, options, ports);
  const { failOn, warnOnly } = options;
  const gating = { failOn, warnOnly, gates: gatesOf(options, found.read) };
  const content = checkReportOf(found.read.map(judge), found.errors, gating);
  annotate(checkAnnotations(content), { otlp: 'never' }, options.format, ports);
  await publishSummary(() => [checkMarkdown(content)], { otlp: 'never' }, ports);
  const run = { command: 'check', context: found.context };
  return await publish(content, run, checkViews(source.kind === 'all'), options, ports);
}

async function fromFiles(input: ManifestInput, { graceSeconds }: CheckOptions, ports: Ports) {
  const { manifests, broken, kustomizations } = await readManifests(input, ports);
  for (const file of kustomizations) ports.stderr.write(safeLines(`podexit: ${kustomizationHint(file)}\n`));
  const read = situationsOf(manifests, graceSeconds);
  if (read.length > 0 || broken.length > 0) return { read, errors: broken, context: undefined };
  throw new PodexitError(
    'check.nothing',
    'these files hold nothing that has pods',
    'Name manifests of Deployments, StatefulSets, DaemonSets, Jobs, CronJobs or Pods; -k FOLDER builds a kustomization.',
  );
}

const fromCluster = async (source: Exclude<CheckSource, { kind: 'files' }>, options: CheckOptions, ports: Ports) =>
  withCluster(options.connection, ports, options.verbosity, async (cluster) => {
    const specs = await unlessInterrupted(ports, async (left) =>
      source.kind === 'all'
        ? allSpecs(cluster, options.graceSeconds)
        : [await targetSpec({ cluster, left, ports }, source, options)],
    );
    return { read: specs.map((situation) => ({ situation })), errors: [], context: cluster.contextName };
  });

async function targetSpec(
  { cluster, left, ports }: { cluster: Cluster; left: AbortSignal; ports: Ports },
  { target, pick }: Extract<CheckSource, { kind: 'target' }>,
  { graceSeconds, inspect }: CheckOptions,
): Promise<Situation> {
  if (target.kind === 'workload' && target.resource !== 'services' && !inspect) {
    const object = await readWithKind(cluster, target.resource, target.name);
    return situationOf(object, await readNamespace(cluster), graceSeconds);
  }
  const session = { cluster, deadline: createDeadline(ports.clock, null), ports };
  const { name } = target.kind === 'pod' ? target : await resolveTarget(session, { target, pick, left });
  const pod = await readPodToDelete(cluster, name);
  const spec = situationOfLivePod(pod, await readNamespace(cluster), graceSeconds);
  if (!inspect || spec.isFinished) return spec;
  ports.stderr.write(
    `podexit: --inspect runs cat /proc/1/status and cat /proc/1/cmdline in each container of ${name}\n`,
  );
  const { inspected } = await import('./inspect.ts');
  return inspected(cluster, spec);
}

/** Throws `check.unreadable` if nothing was found and some kind of workload may not be listed. */
async function allSpecs(cluster: Cluster, graceSeconds?: number): Promise<Situation[]> {
  const { objects, unread } = await readWorkloads(cluster);
  if (objects.length === 0 && unread.length > 0)
    throw new PodexitError(
      'check.unreadable',
      `the workloads in namespace "${cluster.namespace}" cannot be read (${unread.map(({ resource, status }) => `${resource}: ${status}`).join(', ')})`,
      'Ask for list of these resources, or name one workload.',
    );
  const neighbours = await readNamespace(cluster);
  // An owned ReplicaSet, Job or pod is judged as part of its owner.
  const unowned = objects.filter(({ metadata }) => !metadata?.ownerReferences?.length && !metadata?.deletionTimestamp);
  return unowned.map((object) => situationIn(object, neighbours, graceSeconds));
}

/** --evict and --timeout are judged from the spec; gates that need a real exit are listed as not judged. */
function gatesOf({ limits, evict, timeoutMs }: CheckOptions, read: readonly CheckedSpec[]): Gate[] {
  const specs = read.map(({ situation }) => situation);
  const message = 'only an exit can be measured';
  const gates = limits.map((name): Gate => ({ name, passed: true, judged: false, message }));
  const rulings = specs.flatMap(({ budgets }) => budgets.flatMap(({ ruling }) => ruling ?? []));
  if (evict && rulings.length > 0) {
    const passed = !rulings.some(({ refused }) => refused);
    gates.push({ name: 'disruption-budget', passed, message: rulings.map(({ text }) => text).join('; ') });
  }
  if (timeoutMs === null) return gates;
  const slow = specs.find((spec) => !spec.isFinished && !spec.notRunningNow && spec.graceSeconds * 1000 >= timeoutMs);
  const end = slow
    ? `ends before the grace period of ${slow.graceSeconds}s: a healthy exit could be called stuck`
    : 'is longer than the grace period';
  return [...gates, { name: 'timeout', passed: !slow, message: `--timeout ${timeoutMs / 1000}s ${end}` }];
}
