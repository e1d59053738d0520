/** Sends exits to other programs, a few at a time; a receiver that is down costs only what is sent there. */
import { setTimeout } from 'node:timers/promises';
import type { Cluster } from '../kube/cluster.ts';
import { requestWithRetries } from '../kube/get.ts';
import { refusalOf } from '../kube/refused.ts';
import { collectionPath } from '../kube/resource-path.ts';
import type { Pod } from '../model/kube.ts';
import { controllerOf } from '../model/pod.ts';
import { forTerminal } from '../output/safe-text.ts';
import type { Report } from '../verdict/report.ts';
import { isFine, type Droppable } from './exit-counts.ts';
import type { WatchedExit } from './lines.ts';

/** Returns why it failed, in one sentence; undefined if it succeeded. */
export type Send = (report: Report) => Promise<string | undefined>;

export function createExitSender(
  what: 'traces' | 'events',
  send: Send,
  { warn, dropped }: { warn: (message: string) => void; dropped: (what: Droppable, why: string) => void },
) {
  const queue: Report[] = [];
  const sending = new Set<Promise<void>>();
  const sendAll = async (): Promise<void> => {
    for (let report = queue.shift(); report; report = queue.shift()) {
      const failure = await send(report).catch(({ message }: Error) => message);
      if (failure !== undefined) dropped(what, failure);
    }
  };
  return {
    exit(exit: WatchedExit): void {
      if (exit.kind !== 'pod') return;
      if (queue.length >= 200) return dropped(what, 'too many wait to be sent'); // reports that wait
      queue.push(exit.report);
      if (sending.size >= 4) return; // sent at the same time
      const one = sendAll().finally(() => sending.delete(one));
      sending.add(one);
    },
    /** Drops what waits, and waits at most 5000 ms for what is being sent. */
    async end(): Promise<void> {
      const waiting = queue.splice(0).length;
      await Promise.race([Promise.all(sending), setTimeout(5000, undefined, { ref: false })]);
      if (waiting + sending.size > 0) warn(`${waiting + sending.size} ${what} were not sent before the end`);
    },
  };
}

/**
 * `--emit-events`: a Kubernetes Event on the workload for each exit that is known not to be graceful, for `kubectl
 * describe` and `kubectl events`. Its name follows from the pod's uid: after a restart of the watch there is no second one.
 */
export const postEvent =
  (cluster: Cluster, ownerOf: (pod: Pod) => ReturnType<typeof controllerOf>): Send =>
  async ({ timeline: { pod, now }, verdict: { outcome }, answer: { summary } }) => {
    if (isFine(outcome) || outcome === 'unknown') return undefined;
    const { name: podName, uid, namespace = '' } = pod.metadata;
    // A static pod is owned by its Node, whose Events are in another namespace.
    const owner = [ownerOf(pod), controllerOf(pod)].find((one) => one?.controller === true && one.kind !== 'Node');
    const { apiVersion, kind, ...named } = owner ?? { apiVersion: 'v1', kind: 'Pod', name: podName, uid };
    const at = new Date(now).toISOString();
    const body = {
      metadata: { name: `podexit.${uid}`, namespace },
      involvedObject: { apiVersion, kind, namespace, name: named.name, uid: named.uid },
      type: 'Warning',
      reason: `PodExit${outcome.replace(/(?:^|-)./g, (one) => one.slice(-1).toUpperCase())}`,
      message: forTerminal(`${podName}: ${summary}`, 1000),
      ...{ firstTimestamp: at, lastTimestamp: at, count: 1 },
      source: { component: 'podexit' },
    };
    const answer = await requestWithRetries(cluster, {
      method: 'POST',
      path: collectionPath(namespace, 'events'),
      body,
    });
    return answer.status < 300 || answer.status === 409 ? undefined : refusalOf(cluster, answer).message;
  };
