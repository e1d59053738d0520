/** The API server: objects, resource versions, watches, and what DELETE does (SIGNALS.md §1). */
import type { RowOf } from '../../src/demo/scenarios.ts';
import type { Clock } from './clock.ts';
import { isTerminal, type KubeObject, type Pod } from './objects.ts';
import type { Random } from './random.ts';
import type { Change, Recorder, Resource } from './rows.ts';
import type { Span } from './story.ts';
import type { VirtualTime } from './virtual-time.ts';

/** apiVersion and kind, which objects have in a watch but not in a list. */
const kinds: Record<Resource, { kind: string; apiVersion: string }> = {
  pods: { kind: 'Pod', apiVersion: 'v1' },
  services: { kind: 'Service', apiVersion: 'v1' },
  endpointslices: { kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1' },
  events: { kind: 'Event', apiVersion: 'v1' },
  nodes: { kind: 'Node', apiVersion: 'v1' },
  'node-events': { kind: 'Event', apiVersion: 'v1' },
  replicasets: { kind: 'ReplicaSet', apiVersion: 'apps/v1' },
  deployments: { kind: 'Deployment', apiVersion: 'apps/v1' },
  statefulsets: { kind: 'StatefulSet', apiVersion: 'apps/v1' },
  jobs: { kind: 'Job', apiVersion: 'batch/v1' },
};

export interface Parts {
  time: VirtualTime;
  clock: Clock;
  random: Random;
  recorder: Recorder;
  watchMs: Partial<Record<Resource, Span>>;
}

type Listener = (change: Change, object: KubeObject) => void;

const defaultDeliveryMs: Span = [0.3, 2.5];

export class ApiServer {
  readonly clock: Clock;
  /** A namespace that is being deleted accepts no new Events (SIGNALS.md §2.1). */
  namespaceTerminating = false;
  /** If set, the server is busy: watches deliver changes this much later, ms. */
  busyMs: Span | undefined;
  readonly #parts: Parts;
  readonly #objects = new Map<Resource, Map<string, KubeObject>>();
  readonly #listeners = new Map<Resource, Listener[]>();
  #version: number;
  #watched = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.#version = parts.random.whole(900, 5000);
  }

  /** The current time on the API server's clock, in whole seconds. */
  stamp(): string {
    return this.clock.seconds(this.#parts.time.now);
  }

  get<O extends KubeObject = KubeObject>(resource: Resource, name: string): O | undefined {
    return this.#of(resource).get(name) as O | undefined;
  }

  pod(name: string, uid?: string): Pod | undefined {
    const pod = this.#of('pods').get(name) as Pod | undefined;
    return uid === undefined || pod?.metadata.uid === uid ? pod : undefined;
  }

  all<O extends KubeObject = KubeObject>(resource: Resource): O[] {
    return [...this.#of(resource).values()] as O[];
  }

  /** Creates or replaces an object. The result has the new resourceVersion. */
  put<O extends KubeObject>(resource: Resource, object: O): O {
    const stored = this.#versioned(object);
    const exists = this.#of(resource).has(object.metadata.name);
    this.#of(resource).set(object.metadata.name, stored);
    this.#notify(resource, exists ? 'MODIFIED' : 'ADDED', stored);
    return stored;
  }

  /** The DELETED change carries the last stored object with the version of the delete. */
  remove(resource: Resource, name: string): void {
    const object = this.#of(resource).get(name);
    if (!object) return;
    this.#of(resource).delete(name);
    this.#notify(resource, 'DELETED', this.#versioned(object));
  }

  on(resource: Resource, listener: Listener): void {
    this.#listeners.set(resource, [...(this.#listeners.get(resource) ?? []), listener]);
  }

  list(resource: Resource): RowOf<'list'>['list'] {
    return {
      kind: `${kinds[resource].kind}List`,
      apiVersion: kinds[resource].apiVersion,
      metadata: { resourceVersion: String(this.#version) },
      items: this.all(resource),
    };
  }

  /** From now on the recorder gets every change. */
  startWatches(): void {
    this.#watched = true;
  }

  /** The object as in a response, with kind and apiVersion. */
  full(resource: Resource, object: KubeObject): KubeObject {
    return { ...kinds[resource], ...object };
  }

  /** DELETE of a pod. Returns the resulting Pod; undefined without a pod. `asked` null: the spec's grace period. */
  deletePod(name: string, asked: number | null, uid?: string): Pod | undefined {
    const pod = this.pod(name, uid);
    if (!pod) return undefined;
    return pod.metadata.deletionTimestamp === undefined
      ? this.#firstDelete(pod, asked)
      : this.#repeatDelete(pod, asked);
  }

  /** Removing the last finalizer after the grace period deletes the pod; the update is not stored (§1 "Finalizers"). */
  removeFinalizers(name: string): Pod | undefined {
    const pod = this.pod(name);
    if (!pod) return undefined;
    const { finalizers: _dropped, ...metadata } = pod.metadata;
    const bare: Pod = { ...pod, metadata };
    if (metadata.deletionGracePeriodSeconds !== 0) return this.put('pods', bare);
    this.remove('pods', name);
    return bare;
  }

  /** CheckGracefulDelete: pods without a node and finished pods get grace 0. */
  #firstDelete(pod: Pod, asked: number | null): Pod {
    const whole = asked ?? pod.spec.terminationGracePeriodSeconds;
    const grace = pod.spec.nodeName === undefined || isTerminal(pod) ? 0 : Math.max(whole, whole < 0 ? 1 : 0);
    const marked = this.#mark(pod, grace, grace, (pod.metadata.generation ?? 0) + 1);
    return this.#afterMark(marked, grace);
  }

  /** BeforeDelete for a pod that is already terminating: only a shorter grace period has an effect. */
  #repeatDelete(pod: Pod, asked: number | null): Pod {
    const current = pod.metadata.deletionGracePeriodSeconds ?? 0;
    if (current === 0) {
      if (!pod.metadata.finalizers?.length) this.remove('pods', pod.metadata.name);
      return pod;
    }
    if (asked === null || asked >= current) return pod;
    const deadline = Date.parse(pod.metadata.deletionTimestamp ?? '') / 1000 - current + asked;
    const left = deadline - Date.parse(this.stamp()) / 1000;
    const late = asked > 0 && left <= 0;
    const marked = this.#mark(pod, late ? 1 : asked, asked === 0 || late ? 0 : left);
    return this.#afterMark(marked, late ? 1 : asked);
  }

  /** deletionTimestamp is now + `seconds`, cut to whole seconds; it is not the time of the request. */
  #mark(pod: Pod, grace: number, seconds: number, generation = pod.metadata.generation): Pod {
    const deadline = Date.parse(this.stamp()) + seconds * 1000;
    const deletionTimestamp = `${new Date(deadline).toISOString().slice(0, 19)}Z`;
    const metadata = { ...pod.metadata, generation, deletionTimestamp, deletionGracePeriodSeconds: grace };
    return this.put('pods', { ...pod, metadata });
  }

  /** Grace 0 causes two changes, MODIFIED and up to 7 ms later DELETED, unless finalizers keep the object. */
  #afterMark(pod: Pod, grace: number): Pod {
    if (grace > 0 || pod.metadata.finalizers?.length) return pod;
    const { time, random } = this.#parts;
    time.schedule(time.now + random.between(0.1, 6) * 1e6, () => {
      if (this.pod(pod.metadata.name, pod.metadata.uid)) this.remove('pods', pod.metadata.name);
    });
    return pod;
  }

  #versioned<O extends KubeObject>(object: O): O {
    this.#version += this.#parts.random.chance(0.8) ? 1 : this.#parts.random.whole(2, 9);
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
  }

  #notify(resource: Resource, change: Change, object: KubeObject): void {
    const [low, high] = this.busyMs ?? this.#parts.watchMs[resource] ?? defaultDeliveryMs;
    if (this.#watched) {
      const event = { type: change, object: this.full(resource, object) };
      this.#parts.recorder.send(resource, this.#parts.random.between(low, high), { type: 'watch', resource, event });
    }
    this.#listeners.get(resource)?.forEach((listener) => listener(change, object));
  }

  #of(resource: Resource): Map<string, KubeObject> {
    const known = this.#objects.get(resource);
    if (known) return known;
    const fresh = new Map<string, KubeObject>();
    this.#objects.set(resource, fresh);
    return fresh;
  }
}
