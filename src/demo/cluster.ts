import { EventEmitter } from 'node:events';
import type { DemoClock } from './clock.ts';
import { type Kind, valueAt, type KubeObject } from './data/kube-object.ts';
import { append, forget, createLog, storeKey, stateAt, type Change, type ChangeLog, type Stored } from './data/log.ts';
import { methodNotAllowed, notFound } from './data/status.ts';
import {
  ContainerLog,
  prepareScenario,
  type ChangeStep,
  type PreparedScenario,
  type RecordedStep,
} from './play/prepare.ts';
import { createMover, type Mover, Player } from './play/player.ts';
import type { Scenario } from './scenarios.ts';

export interface ClusterOptions {
  scenario: Scenario;
  clock: DemoClock;
  /** If no DELETE begins the pod's end: how long after the first watch of pods it begins. Default: as recorded. */
  attachDelayMs?: number;
  /** The first revision; by default the recorded one. */
  firstRevision?: number;
}

/** Older changes are forgotten, so that an hour of chatter does not fill the memory. */
const maxKeptChanges = 20_000;

/** Everything behind the HTTP layer: the store, the player that changes it, and the listeners to changes. */
export class Playback {
  readonly scenario: PreparedScenario;
  readonly clock: DemoClock;
  readonly log: ChangeLog;
  readonly player: Player;
  /** The last revision that readers see; a server that lags behind hides newer ones. */
  horizon = Infinity;
  readonly #mover: Mover;
  /** Keyed by pod and container. */
  readonly #logs = new Map<string, ContainerLog>();
  /** Keyed by the pod's uid. */
  readonly #amendments = new Map<string, Amendment>();
  /** Pods by name → when their deletion was accepted, in ms. */
  readonly terminatingSince: Record<string, number> = {};
  /** Recorded resourceVersions → those of this run. */
  readonly #revisions = new Map<string, string>();
  /** Emits `change`. */
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #sleeps = new Set<() => void>();

  constructor({ scenario, clock, attachDelayMs = 1200, firstRevision }: ClusterOptions) {
    this.clock = clock;
    this.scenario = prepareScenario(scenario);
    this.player = new Player(this.scenario, clock, attachDelayMs, (step) => this.#play(step));
    this.#mover = createMover(this.scenario, this.player.moments);
    this.log = createLog(firstRevision ?? this.scenario.revision, firstObjects(this.scenario, this.#mover));
    for (const { pod, container, lines, ...recorded } of this.scenario.logs) {
      const moved = lines.map((line) => this.#mover.line(line));
      Object.assign(this.logOf(pod, container), { ...recorded, lines: moved });
    }
  }

  logOf(pod: string, container: string): ContainerLog {
    const key = `${pod}/${container}`;
    const log = this.#logs.get(key) ?? new ContainerLog();
    this.#logs.set(key, log);
    return log;
  }

  write(written: Parameters<typeof append>[1]): Change {
    const change = append(this.log, written);
    const { changes } = this.log;
    if (changes.length > maxKeptChanges) forget(this.log, changes[maxKeptChanges / 2]?.revision ?? 0);
    const { name, deletionTimestamp } = change.object.metadata;
    if (change.resource === 'pods' && deletionTimestamp !== undefined) this.terminatingSince[name] ??= this.clock.now();
    if (change.resource === 'pods' && change.type === 'DELETED') this.#endLogs(change.object);
    this.#changes.emit('change');
    return change;
  }

  /** Adds to what clients of this run changed in a pod. */
  amend({ metadata: { uid = '' } }: KubeObject, amendment: Amendment): void {
    this.#amendments.set(uid, { ...this.#amendments.get(uid), ...amendment });
  }

  /** Calls back after every change and when the horizon moves; returns the function that ends that. */
  onChange(listener: () => void): () => void {
    this.#changes.on('change', listener);
    return () => this.#changes.off('change', listener);
  }

  /** Moves the horizon: Infinity shows everything. */
  hideAfter(revision: number): void {
    this.horizon = revision;
    this.#changes.emit('change');
  }

  get visibleRevision(): number {
    return Math.min(this.log.revision, this.horizon);
  }

  get(resource: string, namespace: string | undefined, name: string): KubeObject | undefined {
    const state = stateAt(this.log, this.visibleRevision);
    return (state === 'expired' ? this.log.current : state).get(storeKey(resource, { namespace, name }))?.object;
  }

  /** The object that a request names. Throws a 404, or a 405 where it names none. */
  requested(kind: Kind, { namespace, name }: { namespace?: string; name?: string }): KubeObject {
    if (name === undefined) throw methodNotAllowed();
    const object = this.get(kind.plural, namespace, name);
    if (object === undefined) throw notFound(kind, name);
    return object;
  }

  /** A recorded response with the times and the revision of this run. */
  answer(body: unknown, at: number): unknown {
    if (valueAt(body, 'metadata.name') === undefined) return body;
    const object = this.#mover.object(body as KubeObject, at);
    const recorded = object.metadata.resourceVersion ?? '';
    return { ...object, metadata: { ...object.metadata, resourceVersion: this.#revisions.get(recorded) ?? recorded } };
  }

  /** Never resolves if `stop` is called before. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.clock.setTimeout(() => {
        this.#sleeps.delete(cancel);
        resolve();
      }, ms);
      this.#sleeps.add(cancel);
    });
  }

  stop(): void {
    this.player.stop();
    this.#sleeps.forEach((cancel) => cancel());
    this.#changes.removeAllListeners();
  }

  /** Open streams survive a forced deletion (SIGNALS.md §5): recorded ones end when they ended in the recording. */
  #endLogs({ metadata: { name } }: KubeObject): void {
    if (this.scenario.logs.some(({ pod }) => pod === name)) return;
    for (const [key, log] of this.#logs) if (key.startsWith(`${name}/`)) log.end();
  }

  #play(step: RecordedStep): void {
    if (step.kind === 'change') return this.#playChange(step);
    const log = this.logOf(step.pod, step.container);
    if (step.line) log.write(this.#mover.line(step.line));
    else log.end();
  }

  #playChange({ type, object: recorded, at, resource, revision }: ChangeStep): void {
    const object = this.#mover.object(recorded, at);
    const { uid = '' } = object.metadata;
    const change = amended({ type, object }, this.#amendments.get(uid));
    if (change === undefined) return;
    const written = this.write({ ...change, resource, revision });
    this.#revisions.set(recorded.metadata.resourceVersion ?? '', String(written.revision));
    if (change.type === 'DELETED') this.#amendments.set(uid, { gone: true });
  }
}

/** The recorded objects, and the namespaces, which every cluster has but no recording lists. */
function firstObjects({ objects, namespace, revision }: PreparedScenario, mover: Mover): Stored[] {
  const recorded = objects.map(({ resource, object, seenAt }) => ({ resource, object: mover.object(object, seenAt) }));
  const oldest = recorded.map(({ object }) => object.metadata.creationTimestamp ?? '').sort()[0];
  const names = [...new Set(['default', 'kube-node-lease', namespace])];
  const namespaces = names.map((name) => namespaceObject(name, oldest, revision));
  return [...recorded, ...namespaces.map((object) => ({ resource: 'namespaces', object }))];
}

/** What clients changed in a pod. Later recorded changes of the pod get it too, so that they do not undo it. */
interface Amendment {
  /** A grace period that a client shortened, and the resulting deletionTimestamp. */
  deadline?: { deletionTimestamp: string; deletionGracePeriodSeconds: number };
  finalizers?: string[];
  /** The pod is removed: later recorded changes are dropped. */
  gone?: boolean;
}

type PodChange = Pick<ChangeStep, 'type' | 'object'>;

/** The change to write, or undefined if the pod is gone already. */
function amended(change: PodChange, amendment: Amendment | undefined): PodChange | undefined {
  if (amendment?.gone) return undefined;
  if (amendment === undefined) return change;
  const { type, object } = change;
  const { deadline, finalizers } = amendment;
  const grace = object.metadata.deletionGracePeriodSeconds;
  const isShorter = deadline !== undefined && grace !== undefined && deadline.deletionGracePeriodSeconds < grace;
  const metadata = { ...object.metadata, ...(isShorter && deadline), ...(finalizers && { finalizers }) };
  if (finalizers?.length === 0) delete metadata.finalizers;
  const written = { type, object: { ...object, metadata } };
  if (finalizers === undefined || metadata.deletionGracePeriodSeconds !== 0) return written;
  // Without a grace period, only finalizers keep the pod.
  return { ...written, type: finalizers.length > 0 ? 'MODIFIED' : 'DELETED' };
}

const namespaceObject = (name: string, createdAt: string | undefined, revision: number): KubeObject => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: {
    name,
    uid: `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padEnd(12, '0').slice(0, 12)}`,
    resourceVersion: String(revision),
    creationTimestamp: createdAt,
    labels: { 'kubernetes.io/metadata.name': name },
  },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
});
