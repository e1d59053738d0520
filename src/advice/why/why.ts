/** The command `why`: an exit that is over, from recordings, an audit log, or the Events that are left. Reads only. */
import type { CoreV1Event, KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PodexitError } from '../../errors.ts';
import type { Cluster } from '../../kube/cluster.ts';
import type { ConnectOptions } from '../../kube/connect-options.ts';
import { getObject } from '../../kube/get.ts';
import { listOnce } from '../../kube/list.ts';
import { podPath } from '../../kube/resource-path.ts';
import { asArray, asNumber, asObject, asString } from '../../model/observe/read.ts';
import type { Json } from '../../model/observe/read.ts';
import type { Outcome } from '../../model/report.ts';
import { connectCluster } from '../../run/connected.ts';
import type { Ports } from '../../run/ports.ts';
import type { Target } from '../../run/target.ts';
import { targetText } from '../../run/target.ts';
import { exitsIn } from '../history/reports.ts';
import type { OutputOptions } from '../output.ts';
import { print } from '../output.ts';
import type { Story } from './event-story.ts';
import { endedPods, storyOf } from './event-story.ts';
import type { Found, ReplayText } from './found.ts';
import { ofExit } from './found.ts';
import { fromAuditLogs } from './from-audit-log.ts';
import type { EndedList, WhyReport } from './report.ts';
import { endedText, momentOf, whyMarkdown, whyText } from './report.ts';

export interface WhyOptions extends OutputOptions {
  /** Undefined: the pods of the namespace that ended lately. */
  target?: Target;
  /** Folders of recordings. */
  from: readonly string[];
  auditLogs: readonly string[];
  /** Outcomes for which the exit code is 5. */
  failOn: readonly Outcome[];
  connection: ConnectOptions;
  verbosity: number;
  replay: ReplayText;
}

/** 0, or 5 for --fail-on. Throws `why.unknown` where nothing is known of the pod. */
export async function why(options: WhyOptions, ports: Ports): Promise<number> {
  const { target } = options;
  const name = target?.kind === 'pod' ? target.name : undefined;
  const recorded = name === undefined ? undefined : await fromRecordings(name, options);
  if (recorded) return show(recorded, options, ports);
  // An audit log needs no cluster where the namespace is named.
  const named = options.connection.namespace;
  const logged = name === undefined || named === undefined ? undefined : await fromAuditLogs(name, named, options);
  if (logged) return show(logged, options, ports);
  const cluster = await connectCluster(options.connection, ports, options.verbosity);
  try {
    const namespace = cluster.namespace;
    const audited =
      name === undefined || named !== undefined ? undefined : await fromAuditLogs(name, namespace, options);
    if (audited) return await show(audited, options, ports, cluster.contextName);
    const events = await eventsOf(cluster);
    const pods = await podsOf(cluster);
    if (!target) return await showEnded(events, pods, options, ports, cluster);
    const pod = target.kind === 'pod' ? target.name : latestOf(target, events, pods, namespace);
    return await show(await fromEvents(cluster, pod, events, pods), options, ports, cluster.contextName);
  } finally {
    cluster.close();
  }
}

const runOf = ({ version }: Ports, context?: string) => ({ command: 'why', version, context });

async function show(
  { report: found, card }: Found,
  options: WhyOptions,
  ports: Ports,
  context?: string,
): Promise<number> {
  const exitCode = options.failOn.includes(found.outcome) ? 5 : 0;
  const report: WhyReport = {
    apiVersion: 'podexit/v1',
    kind: 'WhyReport',
    ...found,
    verdict: { exitCode },
    run: runOf(ports, context),
  };
  const complete = await print(
    {
      document: report,
      text: (pen, columns) => whyText(report, card, pen, columns),
      others: { markdown: () => whyMarkdown(report) },
    },
    options,
    ports,
  );
  return complete ? exitCode : 1;
}

async function showEnded(
  events: readonly CoreV1Event[],
  pods: readonly V1Pod[],
  options: WhyOptions,
  ports: Ports,
  { namespace, contextName }: Cluster,
): Promise<number> {
  const present = new Set(
    pods.filter(({ status }) => status?.phase !== 'Failed').map(({ metadata }) => metadata?.uid ?? ''),
  );
  const ended = endedPods(events, present);
  const list: EndedList = {
    apiVersion: 'podexit/v1',
    kind: 'EndedPodList',
    namespace,
    summary:
      ended.length === 0
        ? `no pod of namespace ${namespace} was stopped within the last hour, as far as its Events say`
        : `${ended.length} pod${ended.length === 1 ? '' : 's'} of namespace ${namespace} stopped lately; kubectl podexit why POD says more of one`,
    pods: ended.map(({ name, at, what }) => ({ name, at: new Date(at).toISOString(), what })),
    verdict: { exitCode: 0 },
    run: runOf(ports, contextName),
  };
  return (await print({ document: list, text: (pen) => endedText(list, pen) }, options, ports)) ? 0 : 1;
}

/** The recording of a folder that is of this pod: what it says is what the live run said. */
async function fromRecordings(name: string, { from, replay }: WhyOptions): Promise<Found | undefined> {
  for (const folder of from) {
    const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      throw new PodexitError(
        'why.from',
        `the folder ${folder} cannot be read (${error.code ?? error.message})`,
        'Check --from.',
      );
    });
    for (const file of files.filter((one) => one.endsWith('.ndjson')).sort()) {
      const path = join(folder, file);
      const document = asObject(
        await replay(path, ['-o', 'json']).then(
          (text) => JSON.parse(text) as unknown,
          () => undefined,
        ),
      );
      const exit = exitOf(document, name);
      if (!exit) continue;
      const card = await replay(path, document['kind'] === 'ExitReport' ? [] : [name]);
      return { report: ofExit(exit, 'recording', `from the recording ${path}`), card };
    }
  }
  return undefined;
}

const exitOf = (document: Json, name: string): Json | undefined =>
  exitsIn(document)?.find((one) => asObject(one['pod'])['name'] === name);

async function listAll(cluster: Cluster, path: string): Promise<unknown[] | undefined> {
  const result = await listOnce(cluster, { stream: 'owner', path }, { signal: new AbortController().signal });
  return result.kind === 'listed' ? result.objects : undefined;
}

async function eventsOf(cluster: Cluster): Promise<CoreV1Event[]> {
  const found = await listAll(cluster, `/api/v1/namespaces/${encodeURIComponent(cluster.namespace)}/events`);
  if (found) return found as CoreV1Event[];
  throw new PodexitError(
    'why.events',
    `the Events of namespace "${cluster.namespace}" cannot be read`,
    'Ask for list of events, or give recordings with --from, or an audit log with --audit-log.',
  );
}

/** None where they may not be listed: then only the Events speak. */
const podsOf = async (cluster: Cluster): Promise<V1Pod[]> =>
  ((await listAll(cluster, `/api/v1/namespaces/${encodeURIComponent(cluster.namespace)}/pods`)) ?? []) as V1Pod[];

/** The worst of a workload's pods that have ended. Throws `why.unknown`. */
function latestOf(
  target: Exclude<Target, { kind: 'pod' }>,
  events: readonly CoreV1Event[],
  pods: readonly V1Pod[],
  namespace: string,
): string {
  const prefix = target.kind === 'workload' ? `${target.name}-` : '';
  const present = new Set(pods.map(({ metadata }) => metadata?.uid ?? ''));
  const own = endedPods(events, present).find(({ name }) => prefix !== '' && name.startsWith(prefix));
  if (own) return own.name;
  throw unknownPod(targetText(target), namespace);
}

const unknownPod = (what: string, namespace: string): PodexitError =>
  new PodexitError(
    'why.unknown',
    `nothing is known of an exit of ${what} in namespace "${namespace}": no Event (they are kept for about an hour)`,
    'Give recordings with --from, or an audit log with --audit-log; kubectl podexit why lists what is known.',
  );

async function fromEvents(
  cluster: Cluster,
  name: string,
  events: readonly CoreV1Event[],
  pods: readonly V1Pod[],
): Promise<Found> {
  const { namespace } = cluster;
  const story = storyOf(name, events);
  const answer = await getObject(cluster, podPath(namespace, name));
  const pod = answer.status === 200 ? (asObject(answer.body) as V1Pod) : undefined;
  const isSame = pod !== undefined && (story.uid === undefined || pod.metadata?.uid === story.uid);
  if (pod?.metadata?.deletionTimestamp !== undefined && isSame)
    throw new PodexitError(
      'why.terminating',
      `pod "${name}" in namespace "${namespace}" is still terminating`,
      `Watch it: kubectl podexit ${name} -n ${namespace} --attach${cluster.reach}`,
    );
  if (isSame && story.moments.every(({ name: moment }) => moment !== 'stopping')) return ofPresentPod(pod, namespace);
  if (story.moments.length === 0) throw unknownPod(`pod "${name}"`, namespace);
  const stopped = story.moments.some(({ name: moment }) => moment === 'stopping');
  const replacement = pod && !isSame ? pod : replacementOf(name, story, pods);
  return {
    report: {
      pod: { namespace, name, uid: story.uid, node: story.node },
      basis: 'events',
      heading: 'reconstructed from Events, ±1s',
      outcome: 'unknown',
      summary: `${stopped ? 'stopped by the kubelet' : 'ended'}; ${story.triggerText}; how its containers exited is not in the Events`,
      trigger: story.trigger,
      moments: [...story.moments.map(momentOf), ...replacementMoment(replacement)],
      cannotTell: [
        'exit codes, and whether a container was killed: the pod is gone, and no Event says it',
        ...(story.trigger === 'unknown' ? ['who deleted it: an audit log says it (--audit-log)'] : []),
      ],
    },
    card: '',
  };
}

/** A pod of the same owner, known by its name, that was created last before or after the stop. */
function replacementOf(name: string, { moments }: Story, pods: readonly V1Pod[]): V1Pod | undefined {
  const stopped = moments.find(({ name: moment }) => moment === 'stopping');
  const prefix = name.replace(/-[a-z0-9]{1,5}$/, '-');
  if (!stopped) return undefined;
  return pods
    .filter(({ metadata }) => metadata?.name?.startsWith(prefix) && createdAt({ metadata }) >= stopped.earliest - 1000)
    .sort((a, b) => createdAt(a) - createdAt(b))[0];
}

const createdAt = ({ metadata }: KubernetesObject): number => Date.parse(String(metadata?.creationTimestamp));

function replacementMoment(pod: V1Pod | undefined): WhyReport['moments'] {
  if (!pod) return [];
  const at = createdAt(pod);
  if (!Number.isFinite(at)) return [];
  const what = `pod ${pod.metadata?.name} was created, perhaps as its replacement`;
  return [
    {
      name: 'replacement-created',
      what,
      earliest: new Date(at).toISOString(),
      latest: new Date(at + 1000).toISOString(),
      source: 'creationTimestamp',
    },
  ];
}

/** It is there: nothing was deleted, and its containers may have ended and been started again. */
function ofPresentPod(pod: V1Pod, namespace: string): Found {
  const statuses = asArray(asObject(pod.status)['containerStatuses']).map(asObject);
  const ended = statuses.flatMap((status) => {
    const last = asObject(asObject(status['state'])['terminated'] ?? asObject(status['lastState'])['terminated']);
    const code = asNumber(last['exitCode']);
    return code === undefined ? [] : [{ status, last, code }];
  });
  const texts = ended.map(
    ({ status, last, code }) =>
      `${String(status['name'])} ended with ${asString(last['reason']) ?? 'exit'} ${code}, restarted ${asNumber(status['restartCount']) ?? 0} times`,
  );
  const phase = asString(asObject(pod.status)['phase']) ?? 'unknown';
  const reason = asString(asObject(pod.status)['reason']);
  return {
    report: {
      pod: { namespace, name: pod.metadata?.name ?? '', uid: pod.metadata?.uid, node: pod.spec?.nodeName },
      basis: 'events',
      heading: 'from its status: nobody has deleted it',
      outcome: 'unknown',
      summary: `not deleted, phase ${phase}${reason === undefined ? '' : ` (${reason})`}${texts.length > 0 ? `; ${texts.join('; ')}` : ''}`,
      trigger: 'unknown',
      moments: ended.flatMap(({ status, last, code }) => momentsOf(String(status['name']), last, code)),
      cannotTell: [],
    },
    card: '',
  };
}

function momentsOf(container: string, last: Json, code: number): WhyReport['moments'] {
  const at = Date.parse(String(last['finishedAt']));
  if (!Number.isFinite(at)) return [];
  const what = `${container} ended with ${asString(last['reason']) ?? 'exit'} ${code}`;
  return [
    {
      name: 'exited',
      container,
      what,
      earliest: new Date(at).toISOString(),
      latest: new Date(at + 1000).toISOString(),
      source: 'its status',
    },
  ];
}
