/** The command `why`: explains a past exit from recordings, an audit log, or the Events that are left. Reads only. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PodexitError } from '../../errors.ts';
import type { Cluster } from '../../kube/cluster.ts';
import type { ConnectOptions } from '../../kube/connect-options.ts';
import type { Outcome } from '../../model/report.ts';
import { podText } from '../../output/pod-facts.ts';
import { warnOn, type Ports } from '../../run/ports.ts';
import { withCluster } from '../../run/session.ts';
import type { Target } from '../../run/choosing/target.ts';
import type { Report } from '../../verdict/report.ts';
import { plural } from '../../verdict/words.ts';
import type { ReadRecording } from '../history/reports.ts';
import { publish, type OutputOptions } from '../output.ts';
import { recordsWith } from './audit-records.ts';
import { fromAuditLogs, type ReportOfLog } from './from-audit-log.ts';
import { fromEvents, readHistory, podOfWorkload } from './from-events.ts';
import { endedPods, type NamespaceHistory } from './gone-pod.ts';
import { endedListOf, endedText, pastExitOf, whyReportOf, whyText, type PastExit } from './report.ts';

interface WhyOptions extends OutputOptions {
  /** Undefined: list the pods of the namespace that ended recently. */
  target?: Target;
  from: readonly string[];
  auditLogs: readonly string[];
  failOn: readonly Outcome[];
  connection: ConnectOptions;
  verbosity: number;
  readRecording: ReadRecording;
  reportOfLog: ReportOfLog;
}

/** Returns 0, or 5 for --fail-on. Throws `why.unknown` if nothing is known about the pod, and `why.target`. */
export async function why(options: WhyOptions, ports: Ports): Promise<number> {
  const { target, connection } = options;
  const name = target?.kind === 'pod' ? target.name : undefined;
  if (name === undefined && options.from.length + options.auditLogs.length > 0)
    throw new PodexitError(
      'why.target',
      '--from and --audit-log explain one pod',
      'Name it: kubectl podexit why POD; without these flags, why lists the pods that ended recently.',
    );
  const warn = warnOn(ports);
  const fromLogs = async (namespace: string | undefined): Promise<PastExit | undefined> =>
    name === undefined || namespace === undefined ? undefined : fromAuditLogs(name, namespace, options, warn);
  const recorded = name === undefined ? undefined : await fromRecordings(name, options, warn);
  // With a namespace on the command line, an audit log needs no cluster.
  const offline = recorded ?? (await fromLogs(connection.namespace));
  if (offline) return show(offline, options, ports);
  return withCluster(connection, ports, options.verbosity, async (cluster) => {
    const { namespace, contextName } = cluster;
    const audited = connection.namespace === undefined ? await fromLogs(namespace) : undefined;
    if (audited) return show(audited, options, ports, contextName);
    const history = await readHistory(cluster);
    if (!target) return showEnded(history, cluster, options, ports);
    const pod = target.kind === 'pod' ? target.name : podOfWorkload(target, history, namespace);
    return show(await fromEvents(cluster, pod, history), options, ports, contextName);
  });
}

async function show(known: PastExit, options: WhyOptions, ports: Ports, context?: string): Promise<number> {
  const exitCode = options.failOn.includes(known.outcome) ? 5 : 0;
  const content = { kind: 'WhyReport', ...known, verdict: { exitCode } };
  return publish(content, { command: 'why', context }, { text: whyText, document: whyReportOf }, options, ports);
}

async function showEnded(past: NamespaceHistory, cluster: Cluster, options: WhyOptions, ports: Ports): Promise<number> {
  const { namespace, contextName: context } = cluster;
  const ended = endedPods(past);
  const summary =
    ended.length === 0
      ? `no pod of namespace ${namespace} was stopped within the last hour, as far as its Events say`
      : `${plural(ended.length, 'pod')} of namespace ${namespace} stopped recently; run kubectl podexit why POD for details`;
  const pods = ended.map(({ name, at, problem, by }) => ({ name, at, what: problem ?? `deleted by ${by}` }));
  const content = { kind: 'EndedPodList', namespace, summary, pods, verdict: { exitCode: 0 } };
  return publish(content, { command: 'why', context }, { text: endedText, document: endedListOf }, options, ports);
}

/** Its newest exit in the recordings that can be replayed, in any namespace without -n. `notice`: that there is none. */
async function fromRecordings(name: string, options: WhyOptions, notice: (text: string) => void) {
  const { from, readRecording, connection } = options;
  const pod = connection.namespace === undefined ? name : `${connection.namespace}/${name}`;
  const found: { path: string; exit: Report }[] = [];
  for (const folder of from) {
    const files = await readdir(folder).catch(({ code, message }: NodeJS.ErrnoException) => {
      throw new PodexitError('why.from', `the folder ${folder} cannot be read (${code ?? message})`, 'Check --from.');
    });
    for (const file of files.filter((one) => one.endsWith('.ndjson')).sort()) {
      const path = join(folder, file);
      if (!(await mentions(path, name))) continue;
      const { reports } = await readRecording(path).catch(() => ({ reports: [] as Report[] }));
      const own = reports.filter(({ timeline }) => [timeline.pod.metadata.name, podText(timeline)].includes(pod));
      found.push(...own.map((exit) => ({ path, exit })));
    }
  }
  const newest = found.sort((a, b) => a.exit.timeline.zero - b.exit.timeline.zero).at(-1);
  if (!newest && from.length > 0) notice(`no recording in ${from.join(', ')} has an exit of pod "${pod}"`);
  return newest && pastExitOf(newest.exit, 'recording', `from the recording ${newest.path}`);
}

/** Whether the file has the pod's name. Only such files are replayed: it takes long, and there may be thousands. */
async function mentions(path: string, name: string): Promise<boolean> {
  try {
    for await (const _ of recordsWith(path, [`"${name}"`])) return true;
  } catch {
    // A folder with such a name, or a file that may not be read.
  }
  return false;
}
