/**
 * Where the exits of a watch go besides its output. `--record-dir`: a recording of each, in a folder of limited size; the
 * oldest go first. To other programs they are sent a few at a time; a receiver that is down costs only what is sent there.
 */
import { mkdirSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Observation } from '../model/observation.ts';
import type { Pod } from '../model/kube.ts';
import { unrecordable } from '../recording/recorder.ts';
import type { Ports } from '../run/ports.ts';
import { recorderFor } from '../output/report-files.ts';
import { type Droppable, isFine } from './counts.ts';
import { setTimeout } from 'node:timers/promises';
import type { Cluster } from '../kube/cluster.ts';
import { requestWithRetries } from '../kube/get.ts';
import { refusalOf } from '../kube/refused.ts';
import { collectionPath } from '../kube/resource-path.ts';
import { controllerOf } from '../model/pod.ts';
import { forTerminal } from '../output/safe-text.ts';
import type { Report } from '../verdict/report.ts';
import type { WatchedExit } from './lines.ts';

export interface RecordingFolder {
  readonly folder: string;
  /** All recordings together. */
  readonly maxBytes: number;
}

/** Throws `record.unwritable` if the folder cannot be read or made. */
export function createRecordings(
  { folder, maxBytes }: RecordingFolder,
  ports: Pick<Ports, 'clock' | 'version'>,
  dropped: (what: Droppable, why: string) => void,
) {
  const kept = recordingsIn(folder);
  const rotate = (): void => {
    let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
    for (let oldest = kept[0]; oldest && total > maxBytes && kept.length > 1; oldest = kept[0]) {
      total -= oldest.bytes;
      kept.shift();
      remove(join(folder, oldest.name));
    }
  };
  return {
    /** Writes the log of an exit. A failure costs only recordings. */
    save(pod: Pod, log: readonly Observation[]): void {
      const name = nameOf(new Date(ports.clock.now()).toISOString(), pod);
      const file = join(folder, name);
      let failure: Error | undefined;
      try {
        const recorder = recorderFor(file, false, ports, (error) => (failure = error));
        recorder.write(log);
        recorder.close();
        if (!failure) kept.push({ name, bytes: statSync(file).size });
      } catch (error) {
        failure = error as Error;
      }
      if (!failure) return rotate();
      remove(file);
      dropped('recordings', failure.message);
    },
  };
}

function recordingsIn(folder: string): { name: string; bytes: number }[] {
  try {
    mkdirSync(folder, { recursive: true });
    const names = readdirSync(folder).filter((name) => /^\d{8}T\d{6}\.\d{3}Z_.*\.ndjson$/.test(name));
    return names.sort().map((name) => ({ name, bytes: statSync(join(folder, name)).size }));
  } catch (cause) {
    throw unrecordable(folder, (cause as NodeJS.ErrnoException).code ?? String(cause), cause);
  }
}

/** Somebody else may have deleted it. */
function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It is gone, or it stays: neither stops the watch.
  }
}

/** `20261128T100431.204Z_shop_checkout-258qr_1f2e3d4c.ndjson`: the cluster's names are only letters, digits, "-" and "." here. */
function nameOf(recorded: string, { metadata: { namespace = '', name, uid } }: Pod): string {
  const safe = (text: string): string => text.replace(/[^\w.-]/g, '-').slice(0, 80);
  return `${recorded.replace(/[-:]/g, '')}_${safe(namespace)}_${safe(name)}_${safe(uid).slice(0, 8)}.ndjson`;
}

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
