/** Sends exits to other programs, a few at a time; a receiver that is down costs only what is sent there. */
import type { Cluster } from '../kube/cluster.ts';
import { requestWithRetries } from '../kube/get.ts';
import { refusalOf } from '../kube/refused.ts';
import type { Pod } from '../model/kube.ts';
import { controllerOf } from '../model/pod.ts';
import type { OutputPorts } from '../output/ports.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import { isFine, type Droppable } from './exit-counts.ts';
import type { WatchedExit } from './lines.ts';

/** What is sent at the same time, and what is sent or waits for it. */
const [mostSending, mostWaiting] = [4, 200];

/** Returns why it failed, in one sentence; undefined if it succeeded. */
export type Send = (report: Report) => Promise<string | undefined>;

export function createExitSender(
  what: 'traces' | 'events',
  send: Send,
  { warn, dropped }: { warn: (message: string) => void; dropped: (what: Droppable) => void },
) {
  const lanes = Array.from({ length: mostSending }, () => Promise.resolve());
  let [count, waiting] = [0, 0];
  let [isFailing, hasEnded] = [false, false];
  const next = async (report: Report): Promise<void> => {
    const failure = hasEnded ? 'the watch has ended' : await send(report).catch(({ message }: Error) => message);
    if (failure !== undefined) dropped(what);
    if (failure !== undefined && !isFailing && !hasEnded) warn(`${what} are not sent: ${failure}`);
    isFailing = failure !== undefined;
  };
  return {
    exit(exit: WatchedExit): void {
      if (exit.kind !== 'pod') return;
      if (waiting >= mostWaiting) return dropped(what);
      waiting += 1;
      const lane = count++ % mostSending;
      lanes[lane] = lanes[lane]?.then(() => next(exit.report)).finally(() => (waiting -= 1)) ?? Promise.resolve();
    },
    /** Drops what waits. What is being sent may take until its time is up: 10 s, unless OTEL_… says otherwise. */
    end(): void {
      hasEnded = true;
      if (waiting > mostSending) warn(`${waiting - mostSending} ${what} not sent: the receiver was too slow`);
    },
  };
}

/** `--otlp`. */
export const sendTrace =
  ({ env, version }: Pick<OutputPorts, 'env' | 'version'>): Send =>
  async (report) =>
    (await import('../export/export-trace.ts')).exportTrace(exitReportOf(report), { env, version });

/**
 * `--emit-events`: a Kubernetes Event on the workload for each exit that was not graceful, for `kubectl describe` and
 * `kubectl events`. Its name follows from the pod's uid: after a restart of the watch there is no second one.
 */
export const postEvent =
  (cluster: Cluster, ownerOf: (pod: Pod) => ReturnType<typeof controllerOf>): Send =>
  async ({ timeline: { pod, now }, verdict: { outcome }, answer: { summary } }) => {
    if (isFine(outcome)) return undefined;
    const { name: podName, uid, namespace = '' } = pod.metadata;
    const owner = ownerOf(pod) ?? controllerOf(pod);
    // A static pod is owned by its Node, whose Events are in another namespace.
    const { apiVersion, kind, ...named } =
      owner && owner.kind !== 'Node' ? owner : { apiVersion: 'v1', kind: 'Pod', name: podName, uid };
    const at = new Date(now).toISOString();
    const body = {
      metadata: { name: `podexit.${uid}`, namespace },
      involvedObject: { apiVersion, kind, namespace, name: named.name, uid: named.uid },
      type: 'Warning',
      reason: `PodExit${outcome.replace(/(?:^|-)./g, (one) => one.slice(-1).toUpperCase())}`,
      message: `${podName}: ${summary}`.slice(0, 1000),
      ...{ firstTimestamp: at, lastTimestamp: at, count: 1 },
      source: { component: 'podexit' },
    };
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
    const answer = await requestWithRetries(cluster, { method: 'POST', path, body });
    return answer.status < 300 || answer.status === 409 ? undefined : refusalOf(cluster, answer).message;
  };
