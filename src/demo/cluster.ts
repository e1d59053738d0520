import { EventEmitter } from 'node:events';
import type { Clock } from './clock.ts';
import { valueAt, type KubeObject } from './data/kube-object.ts';
import { append, compact, createLog, key, stateAt, type Change, type ChangeLog, type Stored } from './data/log.ts';
import { createDirector, type Director } from './play/director.ts';
import { createLogHub, type LogHub } from './play/log-hub.ts';
import { createMover, type Mover } from './play/move.ts';
import { tellStory, type Cue, type Story } from './play/story.ts';
import type { Scenario } from './scenario.ts';

/** Everything behind the HTTP shell: the store, the play that changes it, and who wants to know. */
export interface Cluster {
  readonly story: Story;
  readonly clock: Clock;
  readonly log: ChangeLog;
  readonly logs: LogHub;
  readonly director: Director;
  readonly mover: Mover;
  /** Changes by this run's clients, by the pod's uid. */
  readonly amendments: Map<string, Amendment>;
  /** Revisions of this run by the recorded ones. */
  readonly revisions: Map<string, string>;
  /** Emits `change`. */
  readonly changes: EventEmitter;
  /** How far readers may see; a server that is behind hides what is newer. */
  horizon: number;
  write(written: Parameters<typeof append>[1]): Change;
  /** Calls back after every change and whenever the horizon moves; returns how to stop that. */
  onChange(listener: () => void): () => void;
  /** Moves the horizon: Infinity shows everything. */
  hideAfter(revision: number): void;
  get(resource: string, namespace: string | undefined, name: string): KubeObject | undefined;
  /** What a recorded answer is in this run. */
  answer(body: unknown, at: number): unknown;
  sleep(ms: number): Promise<void>;
  stop(): void;
}

/** More changes than this are not kept: an hour of chatter must not become an hour of memory. */
const keptChanges = 20_000;

export function createCluster(options: {
  scenario: Scenario;
  clock: Clock;
  attachDelayMs: number;
  namespace?: string;
  /** The revision to begin with; by default the recorded one. */
  firstRevision?: number | undefined;
}): Cluster {
  const { clock } = options;
  const story = tellStory(options.scenario, options.namespace);
  const director = createDirector(story, clock, options.attachDelayMs, (cue) => play(cluster, cue));
  const mover = createMover(story, director.moments);
  const log = createLog(options.firstRevision ?? story.revision, firstObjects(story, mover));
  const changes = new EventEmitter().setMaxListeners(0);
  const sleeper = createSleeper(clock);
  const cluster: Cluster = {
    story,
    clock,
    log,
    logs: createLogHub(),
    director,
    mover,
    amendments: new Map(),
    revisions: new Map(),
    changes,
    horizon: Infinity,
    write: (written) => write(cluster, written),
    onChange(listener) {
      changes.on('change', listener);
      return () => changes.off('change', listener);
    },
    hideAfter(revision) {
      cluster.horizon = revision;
      changes.emit('change');
    },
    get(resource, namespace, name) {
      const state = stateAt(log, Math.min(cluster.horizon, log.revision));
      return (state === 'expired' ? log.current : state).get(key(resource, namespace, name))?.object;
    },
    answer: (body, at) => answer(cluster, body, at),
    sleep: sleeper.sleep,
    stop() {
      director.stop();
      sleeper.stop();
      changes.removeAllListeners();
    },
  };
  writeFirstLogs(cluster);
  return cluster;
}

function firstObjects(story: Story, mover: Mover): Stored[] {
  const recorded = story.objects.map(({ resource, object, seenAt }) => ({
    resource,
    object: mover.object(object, seenAt),
  }));
  return [...recorded, ...surroundings(story, recorded)];
}

function writeFirstLogs({ story, logs, mover }: Cluster): void {
  for (const { pod, container, status, refusal, past, ended } of story.logs) {
    const lines = past.map(({ stamp, text }) => ({ stamp: mover.time(stamp), text }));
    Object.assign(logs.of(pod, container), { status, refusal, lines, ended });
  }
}

function write(cluster: Cluster, written: Parameters<typeof append>[1]): Change {
  const { log, changes } = cluster;
  const change = append(log, written);
  if (log.changes.length > keptChanges) compact(log, log.changes[keptChanges / 2]?.revision ?? 0);
  if (change.resource === 'pods' && change.type === 'DELETED') forgetLogs(cluster, change.object);
  changes.emit('change');
  return change;
}

/** Existing streams survive a forced deletion (SIGNALS.md §5): those that were recorded end when they ended. */
function forgetLogs({ story, logs }: Cluster, pod: KubeObject): void {
  if (!story.logs.some((track) => track.pod === pod.metadata.name)) logs.endAll(pod.metadata.name);
}

function play(cluster: Cluster, cue: Cue): void {
  const { logs, mover } = cluster;
  if (cue.kind === 'change') playChange(cluster, cue);
  else if (cue.kind === 'log') logs.write(cue.pod, cue.container, mover.time(cue.line.stamp), cue.line.text);
  else logs.end(cue.pod, cue.container);
}

function playChange(cluster: Cluster, cue: Extract<Cue, { kind: 'change' }>): void {
  const { mover, amendments, revisions } = cluster;
  const object = mover.object(cue.object, cue.at);
  const change = amended({ type: cue.type, object }, amendments.get(object.metadata.uid ?? ''));
  if (change === undefined) return;
  const { revision } = write(cluster, { ...change, resource: cue.resource, revision: cue.revision });
  revisions.set(cue.object.metadata.resourceVersion ?? '', String(revision));
  if (change.type === 'DELETED') amendments.set(object.metadata.uid ?? '', { gone: true });
}

function answer({ mover, revisions }: Cluster, body: unknown, at: number): unknown {
  if (valueAt(body, 'metadata.name') === undefined) return body;
  const object = mover.object(body as KubeObject, at);
  const recorded = object.metadata.resourceVersion ?? '';
  return { ...object, metadata: { ...object.metadata, resourceVersion: revisions.get(recorded) ?? recorded } };
}

/** Sleeps that a stop cuts off: they never resolve then. */
function createSleeper(clock: Clock): { sleep: Cluster['sleep']; stop(): void } {
  const timers = new Set<() => void>();
  return {
    sleep: (ms) =>
      new Promise((resolve) => {
        const cancel = clock.setTimeout(() => {
          timers.delete(cancel);
          resolve();
        }, ms);
        timers.add(cancel);
      }),
    stop: () => timers.forEach((cancel) => cancel()),
  };
}

/**
 * What this run's clients changed about a pod and the recording knows nothing of. Later recorded changes of that pod
 * are amended by it, so that nothing a client wrote is undone by the play.
 */
interface Amendment {
  /** A grace that a client shortened, with the deadline it made. */
  deadline?: { deletionTimestamp: string; deletionGracePeriodSeconds: number };
  finalizers?: string[];
  /** Removed by a client before the recording has it removed. */
  gone?: boolean;
}

type PodChange = Pick<Extract<Cue, { kind: 'change' }>, 'type'> & { object: KubeObject };

/** The change as it has to be written, or undefined where nothing is left to change. */
function amended(change: PodChange, amendment: Amendment | undefined): PodChange | undefined {
  if (amendment === undefined) return change;
  if (amendment.gone === true) return undefined;
  return held(withMetadata(change, amendment), amendment);
}

function withMetadata({ type, object }: PodChange, { deadline, finalizers }: Amendment): PodChange {
  const grace = object.metadata.deletionGracePeriodSeconds;
  const isShorter = deadline !== undefined && grace !== undefined && deadline.deletionGracePeriodSeconds < grace;
  const metadata = {
    ...object.metadata,
    ...(isShorter && deadline),
    ...(finalizers && { finalizers }),
  };
  if (finalizers?.length === 0) delete metadata.finalizers;
  return { type, object: { ...object, metadata } };
}

/** Finalizers alone decide whether a pod that has no grace left stays. */
function held({ type, object }: PodChange, { finalizers }: Amendment): PodChange {
  if (finalizers === undefined || object.metadata.deletionGracePeriodSeconds !== 0) return { type, object };
  return { type: finalizers.length > 0 ? 'MODIFIED' : 'DELETED', object };
}

/** What every cluster has and no recording lists: the namespaces. */
function surroundings(story: Story, recorded: readonly Stored[]): Stored[] {
  const named = new Set(['default', 'kube-node-lease', story.namespace]);
  const oldest = recorded.map(({ object }) => object.metadata.creationTimestamp ?? '').sort()[0];
  return [...named].map((name) => ({ resource: 'namespaces', object: namespaceObject(name, oldest, story.revision) }));
}

const namespaceObject = (name: string, createdAt: string | undefined, revision: number): KubeObject => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: {
    name,
    uid: `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padEnd(12, '0').slice(0, 12)}`,
    resourceVersion: String(revision),
    ...(createdAt !== undefined && { creationTimestamp: createdAt }),
    labels: { 'kubernetes.io/metadata.name': name },
  },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
});
