import { EventEmitter } from 'node:events';
import type { Clock } from './clock.ts';
import type { Kind } from './data/kinds.ts';
import { valueAt, type KubeObject } from './data/kube-object.ts';
import { append, compact, createLog, key, stateAt, type Change, type ChangeLog, type Stored } from './data/log.ts';
import { methodNotAllowed, notFound } from './data/status.ts';
import { Director } from './play/director.ts';
import { LogHub } from './play/log-hub.ts';
import { createMover, type Mover } from './play/move.ts';
import { prepareStory, type Cue, type Story } from './play/story.ts';
import type { Scenario } from './scenario.ts';

interface ClusterOptions {
  scenario: Scenario;
  clock: Clock;
  attachDelayMs: number;
  namespace?: string;
  /** The first revision; by default the recorded one. */
  firstRevision?: number;
}

/** Older changes are forgotten, so that an hour of chatter does not fill the memory. */
const maxKeptChanges = 20_000;

/** Everything behind the HTTP layer: the store, the player that changes it, and the listeners to changes. */
export class Cluster {
  readonly story: Story;
  readonly clock: Clock;
  readonly log: ChangeLog;
  readonly logs = new LogHub();
  readonly director: Director;
  /** The last revision that readers see; a server that lags behind hides newer ones. */
  horizon = Infinity;
  readonly #mover: Mover;
  /** Keyed by the pod's uid. */
  readonly #amendments = new Map<string, Amendment>();
  /** Recorded resourceVersions → those of this run. */
  readonly #revisions = new Map<string, string>();
  /** Emits `change`. */
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #sleeps = new Set<() => void>();

  constructor({ scenario, clock, attachDelayMs, namespace, firstRevision }: ClusterOptions) {
    this.clock = clock;
    this.story = prepareStory(scenario, namespace);
    this.director = new Director(this.story, clock, attachDelayMs, (cue) => this.#play(cue));
    this.#mover = createMover(this.story, this.director.moments);
    this.log = createLog(firstRevision ?? this.story.revision, firstObjects(this.story, this.#mover));
    for (const { pod, container, status, refusal, past, ended } of this.story.logs) {
      const lines = past.map(({ stamp, text }) => ({ stamp: this.#mover.time(stamp), text }));
      Object.assign(this.logs.of(pod, container), { status, refusal, lines, ended });
    }
  }

  write(written: Parameters<typeof append>[1]): Change {
    const change = append(this.log, written);
    const { changes } = this.log;
    if (changes.length > maxKeptChanges) compact(this.log, changes[maxKeptChanges / 2]?.revision ?? 0);
    if (change.resource === 'pods' && change.type === 'DELETED') this.#forgetLogs(change.object);
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

  get(resource: string, namespace: string | undefined, name: string): KubeObject | undefined {
    const state = stateAt(this.log, Math.min(this.horizon, this.log.revision));
    return (state === 'expired' ? this.log.current : state).get(key(resource, namespace, name))?.object;
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
    this.director.stop();
    this.#sleeps.forEach((cancel) => cancel());
    this.#changes.removeAllListeners();
  }

  /** Open streams survive a forced deletion (SIGNALS.md §5): recorded ones end when they ended in the recording. */
  #forgetLogs({ metadata: { name } }: KubeObject): void {
    if (!this.story.logs.some((track) => track.pod === name)) this.logs.endAll(name);
  }

  #play(cue: Cue): void {
    if (cue.kind === 'change') this.#playChange(cue);
    else if (cue.kind === 'log')
      this.logs.write(cue.pod, cue.container, this.#mover.time(cue.line.stamp), cue.line.text);
    else this.logs.end(cue.pod, cue.container);
  }

  #playChange({ type, object: recorded, at, resource, revision }: Extract<Cue, { kind: 'change' }>): void {
    const object = this.#mover.object(recorded, at);
    const { uid = '' } = object.metadata;
    const change = amended({ type, object }, this.#amendments.get(uid));
    if (change === undefined) return;
    const written = this.write({ ...change, resource, revision });
    this.#revisions.set(recorded.metadata.resourceVersion ?? '', String(written.revision));
    if (change.type === 'DELETED') this.#amendments.set(uid, { gone: true });
  }
}

function firstObjects(story: Story, mover: Mover): Stored[] {
  const recorded = story.objects.map(({ resource, object, seenAt }) => ({
    resource,
    object: mover.object(object, seenAt),
  }));
  return [...recorded, ...namespaceObjects(story, recorded)];
}

/**
 * What clients of this run changed in a pod, beyond the recording. It is applied to later recorded changes of the pod,
 * so that playing them does not undo what a client wrote.
 */
interface Amendment {
  /** A grace period that a client shortened, and the resulting deletionTimestamp. */
  deadline?: { deletionTimestamp: string; deletionGracePeriodSeconds: number };
  finalizers?: string[];
  /** The pod is removed: later recorded changes are dropped. */
  gone?: boolean;
}

type PodChange = Pick<Extract<Cue, { kind: 'change' }>, 'type'> & { object: KubeObject };

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

/** The namespaces, which every cluster has but no recording lists. */
function namespaceObjects(story: Story, recorded: readonly Stored[]): Stored[] {
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
    creationTimestamp: createdAt,
    labels: { 'kubernetes.io/metadata.name': name },
  },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
});
