/** `check`: reads a pod and what is around it, and reports how its exit would go. Deletes nothing. */
import type { Cluster } from '../kube/cluster.ts';
import { getObject } from '../kube/get.ts';
import { listOnce } from '../kube/list-once.ts';
import { refusalOf, refusedPod } from '../kube/pod-refused.ts';
import { podPath } from '../kube/resource-path.ts';
import { PodexitError } from '../errors.ts';
import type { EndpointSlice, Node, Service } from '../model/kube.ts';
import { narrow } from '../model/observe.ts';
import { narrowPod } from '../model/observe/pod.ts';
import type { CheckFacts, Source } from '../verdict/check/facts.ts';
import { checkHeader, forecast } from '../verdict/check/forecast.ts';
import { plural } from '../verdict/words.ts';
import { budgetText, budgetsOf } from './budgets.ts';
import { commandLinesOf } from './command-lines.ts';
import { advisingSameCluster, connectCluster } from './connected.ts';
import { createDeadline } from './deadline.ts';
import { finishReport } from './finish.ts';
import { hookSecondsOf } from './hook-seconds.ts';
import { unlessLeft } from './leaving.ts';
import { noSuchPod, refuseMirror, uidToDelete } from './pod-checks.ts';
import type { Ports } from './ports.ts';
import { assertWritable } from './report-files.ts';
import { resolveTarget } from './resolve-target.ts';
import type { TraceOptions } from './trace-options.ts';
import type { Raw, Target } from './watched.ts';
import { printLabels } from './selectors.ts';
import { asRaw, candidateServices, metadataOf, namesOf, nodeTargets, servicesTarget, sliceTarget } from './watched.ts';

/** The exit code. Throws PodexitError where the pod cannot be read, `check.terminating` and `pod.mirror`. */
export async function checkPod(options: TraceOptions, ports: Ports): Promise<number> {
  await assertWritable(options.reports);
  const cluster = await connectCluster(options.connection, ports, options.verbosity);
  try {
    // Its --timeout is that of the run it speaks of.
    const deadline = createDeadline(ports.clock, null);
    const facts = await unlessLeft(ports, async (left) => {
      const { name } = await resolveTarget(cluster, { ...options, deadline, left }, ports);
      return readFacts(cluster, name, options, ports);
    });
    return await finishReport(forecast(facts, options.policy), advisingSameCluster(options), ports, checkHeader(facts));
  } finally {
    cluster.close();
  }
}

async function readFacts(
  cluster: Cluster,
  name: string,
  { graceSeconds, timeoutMs, mode }: TraceOptions,
  { clock }: Ports,
): Promise<CheckFacts> {
  const reader = readerOf(cluster, clock.now);
  const raw = await readPod(cluster, name);
  reader.tell('pod', `pod ${name} at resourceVersion ${String(metadataOf(raw)['resourceVersion'])}`);
  const services = candidateServices(await reader.list('services', servicesTarget(cluster.namespace)), raw);
  const slices = sliceTarget(cluster.namespace, namesOf(services));
  const { signal } = new AbortController();
  const endpointSlices = slices ? await reader.list('endpointslices', slices) : [];
  const budgets = await budgetsOf(cluster, raw, signal);
  if (budgets) reader.tell('poddisruptionbudgets', `${budgets.length} of the namespace's budgets cover the pod`);
  else reader.refuse('poddisruptionbudgets');
  const node = await reader.node(asRaw(raw['spec'])['nodeName']);
  return {
    at: clock.now(),
    pod: narrowPod(raw),
    services: services.map((one) => narrow('services', one) as Service),
    slices: endpointSlices.map((one) => narrow('endpointslices', one) as EndpointSlice),
    budgets: (budgets ?? []).map((one) => ({ ...one, text: budgetText(one) })),
    ...(node ? { node } : {}),
    hookSeconds: hookSecondsOf(raw),
    commandLines: commandLinesOf(raw),
    requestedSeconds: graceSeconds,
    timeoutSeconds: timeoutMs == null ? null : timeoutMs / 1000,
    evict: mode === 'evict',
    sources: reader.sources,
    refused: reader.refused,
  };
}

async function readPod(cluster: Cluster, name: string): Promise<Raw> {
  const { namespace } = cluster;
  const answer = await getObject(cluster, podPath(namespace, name));
  if (answer.status === 404) throw await noSuchPod(cluster, namespace, name);
  if (answer.status !== 200) throw refusedPod(cluster, { namespace, name }, refusalOf(cluster, answer));
  const raw = asRaw(answer.body);
  uidToDelete(cluster, raw);
  if (metadataOf(raw)['deletionTimestamp'] === undefined) {
    // As the command itself: there is no exit to forecast where a DELETE stops nothing.
    refuseMirror(raw);
    return raw;
  }
  throw new PodexitError(
    'check.terminating',
    `pod "${name}" in namespace "${namespace}" is being deleted already, so there is nothing to forecast`,
    `Trace it: kubectl podexit ${name} -n ${namespace} --attach${cluster.reach}`,
  );
}

/** Reads lists; what is refused is remembered and read as empty. */
function readerOf(cluster: Cluster, now: () => number) {
  const sources = new Map<Source, { at: number; what: string }>();
  const refused: { resource: Source; at: number }[] = [];
  const { signal } = new AbortController();
  const tell = (source: Source, what: string): void => void sources.set(source, { at: now(), what });
  const refuse = (resource: Source): void => void refused.push({ resource, at: now() });
  return {
    sources,
    refused,
    tell,
    refuse,
    async list(source: Source, { stream, path, labelSelector }: Target): Promise<Raw[]> {
      const target = { stream, path, ...(labelSelector ? { labelSelector: printLabels(labelSelector) } : {}) };
      const result = await listOnce(cluster, target, { signal });
      if (result.kind === 'listed')
        tell(source, `the list of ${source} (${plural(result.objects.length, 'entry', 'entries')})`);
      else refuse(source);
      return result.kind === 'listed' ? result.objects.map(asRaw) : [];
    },
    async node(name: unknown): Promise<Node | undefined> {
      if (typeof name !== 'string') return undefined;
      const path = nodeTargets(name)[0]?.path ?? '';
      const answer = await getObject(cluster, `${path}/${encodeURIComponent(name)}`);
      // Many users may not read nodes; a check without one only says less.
      if (answer.status !== 200) return undefined;
      tell('nodes', `node ${name}`);
      return narrow('node', answer.body) as Node;
    },
  };
}
