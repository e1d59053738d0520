/**
 * `watch-server.ts PODS CHANGES EXITS [faults]`: a cluster of so many pods on 100 nodes, in which so many objects change and so many
 * pods exit in a second. It begins on the parent's first message, reports each removed pod, stops on the second message,
 * and exits with its parent.
 */
import { readFileSync } from 'node:fs';
import type { Playback } from '../../src/demo/cluster.ts';
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import { startLoopback } from '../../src/demo/loopback.ts';
import { parseScenario } from '../../src/demo/scenarios.ts';
import { scenarioFile } from '../../test/helpers/recordings.ts';
import { watchFaults } from './watch-faults.ts';

export interface WatchedCluster {
  namespace: string;
  kubeconfig: string;
}

/** The pod `uid` was removed `at` this time, client ms. `isShown`: it had gone out in a list or a watch before; with faults only. */
export interface RemovedPod {
  uid: string;
  at: number;
  isShown: boolean;
}

interface Row {
  event?: { object?: KubeObject & { status?: { containerStatuses?: { ready?: boolean }[] }; reason?: string } };
}

const [pods = 0, changesPerSecond = 0, exitsPerSecond = 0] = process.argv.slice(2, 5).map(Number);
/** The uids of the pods that a client may know. */
const shown = new Set<string>();
const withFaults = (cluster: Playback) => watchFaults(cluster, (uid) => shown.add(uid));
const interfere = process.argv[5] === 'faults' ? withFaults : undefined;
/** ms from the deletion to the Killing Event, to the exit of the container, and from there to the removal. */
const [killingMs, drainMs, cleanupMs] = [20, 2000, 500];

const text = readFileSync(scenarioFile('rollout-25'), 'utf8');
const recorded = text
  .split('\n')
  .filter((line) => line !== '')
  .flatMap((line) => (JSON.parse(line) as Row).event?.object ?? []);
const found = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('the recording has no such object');
  return value;
};
const readyPod = found(recorded.find(({ kind, status }) => kind === 'Pod' && status?.containerStatuses?.[0]?.ready));
const killing = found(recorded.find(({ kind, reason }) => kind === 'Event' && reason === 'Killing'));

const server = await startLoopback({ scenario: parseScenario(text), attachDelayMs: 2 ** 30, interfere });
/** The one that changed longest ago is first. */
const alive = new Map<string, KubeObject>();
let created = 0;

function create(): void {
  const index = created++;
  const { deletionTimestamp: _, deletionGracePeriodSeconds: _seconds, ...metadata } = readyPod.metadata;
  const uid = `uid-${index}`;
  const pod = {
    ...structuredClone(readyPod),
    metadata: { ...metadata, namespace: `ns-${index % 50}`, name: `web-${index}`, uid },
    spec: { ...(readyPod['spec'] as object), nodeName: `node-${index % 100}` },
  };
  alive.set(uid, pod);
  server.write('pods', 'ADDED', pod);
}

const stamp = (ms = Date.now()): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

function change(): void {
  const [uid, pod] = alive.entries().next().value ?? [];
  if (uid === undefined || !pod) return;
  alive.delete(uid);
  alive.set(uid, pod);
  server.write('pods', 'MODIFIED', { ...pod, metadata: { ...pod.metadata, annotations: { at: stamp() } } });
}

function exit(): void {
  const [uid, pod] = alive.entries().next().value ?? [];
  if (uid === undefined || !pod) return;
  alive.delete(uid);
  const metadata = {
    ...pod.metadata,
    deletionGracePeriodSeconds: 30,
    deletionTimestamp: stamp(Date.now() + 30_000),
  };
  const { namespace = '', name } = metadata;
  const terminating = { ...pod, metadata };
  server.write('pods', 'MODIFIED', terminating);
  setTimeout(() => {
    const involvedObject = { ...(killing['involvedObject'] as object), namespace, name, uid };
    const times = { firstTimestamp: stamp(), lastTimestamp: stamp() };
    const own = {
      ...killing.metadata,
      namespace,
      name: `${name}.${uid}`,
      uid: `event-${uid}`,
      creationTimestamp: stamp(),
    };
    server.write('events', 'ADDED', { ...killing, ...times, metadata: own, involvedObject });
  }, killingMs);
  setTimeout(() => {
    const { containerStatuses = [], ...status } = pod['status'] as { containerStatuses?: object[] };
    const state = { terminated: { exitCode: 0, reason: 'Completed', startedAt: stamp(), finishedAt: stamp() } };
    const statuses = containerStatuses.map((one) => ({ ...one, ready: false, state }));
    const ended = { ...terminating, status: { ...status, phase: 'Succeeded', containerStatuses: statuses } };
    server.write('pods', 'MODIFIED', ended);
    setTimeout(() => {
      process.send?.({ uid, at: Date.now(), isShown: shown.delete(uid) } satisfies RemovedPod);
      server.write('pods', 'DELETED', ended);
    }, cleanupMs);
  }, drainMs);
  create();
}

/** Calls `act` so many times a second: several at once, because a timer of 5 ms is not accurate. */
function atRate(perSecond: number, act: () => void): () => void {
  const began = Date.now();
  let done = 0;
  const timer = setInterval(() => {
    for (; done < ((Date.now() - began) / 1000) * perSecond; done += 1) act();
  }, 20);
  return () => clearInterval(timer);
}

while (created < pods) create();
process.send?.({ namespace: server.namespace, kubeconfig: server.kubeconfig() } satisfies WatchedCluster);
let stop: (() => void)[] = [];
process.on('message', () => {
  stop.forEach((one) => one());
  // An exit is five changes by itself.
  stop = stop.length > 0 ? [] : [atRate(exitsPerSecond, exit), atRate(changesPerSecond - 5 * exitsPerSecond, change)];
});
process.on('disconnect', () => process.exit());
