/** client-go's legacy Event recorder: nanoseconds in the name, repeats counted, one queue (SIGNALS.md §2.1). */
import type { Clock } from './clock.ts';
import type { KubeObject } from './objects.ts';
import type { Json, Resource } from './rows.ts';
import type { Host } from './virtual-time.ts';
import { sleep } from './virtual-time.ts';
import type { World } from './world.ts';
import { draw } from './world.ts';

interface Emission {
  about: { kind: string; apiVersion: string; object: KubeObject; fieldPath?: string; withoutUid?: boolean };
  reason: string;
  message: string;
  type?: 'Normal' | 'Warning';
}

export class EventRecorder {
  readonly #world: World;
  readonly #host: Host;
  readonly #clock: Clock;
  readonly #component: string;
  readonly #instance: string;
  readonly #known = new Map<string, string>();
  #lastName = 0n;
  #freeAt = 0;

  constructor(world: World, host: Host, clock: Clock, component: string, instance = '') {
    this.#world = world;
    this.#host = host;
    this.#clock = clock;
    this.#component = component;
    this.#instance = instance;
  }

  /** Takes the timestamp now, and posts the Event when it is at the head of the queue. */
  emit(emission: Emission): void {
    const at = this.#world.time.now;
    if (this.#world.story.events.dropped.includes(emission.reason)) return;
    this.#freeAt = Math.max(this.#freeAt, at) + draw(this.#world, this.#world.story.events.queueMs) * 1e6;
    this.#freeAt = Math.max(this.#freeAt, this.#world.eventsRefusedUntil);
    const [delay, name] = [(this.#freeAt - at) / 1e6, this.#nameOf(emission, at)];
    this.#host.spawn(this.#post(emission, at, name, delay));
  }

  *#post(emission: Emission, at: number, name: string, delayMs: number) {
    yield sleep(delayMs);
    const { api } = this.#world;
    const resource: Resource = emission.about.kind === 'Node' ? 'node-events' : 'events';
    const old = api.get(resource, name);
    const lastTimestamp = this.#clock.seconds(at);
    if (old) api.put(resource, { ...old, count: Number(old.count) + 1, lastTimestamp });
    else if (!api.namespaceTerminating) api.put(resource, this.#event(emission, at, name));
  }

  #nameOf(emission: Emission, at: number): string {
    const { about, reason, message } = emission;
    const key = [about.object.metadata.uid, about.fieldPath, reason, message].join('\n');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const stamp = this.#clock.read(at);
    this.#lastName = stamp > this.#lastName ? stamp : this.#lastName + 1n;
    const name = `${about.object.metadata.name}.${this.#lastName.toString(16)}`;
    this.#known.set(key, name);
    return name;
  }

  #event({ about, reason, message, type }: Emission, at: number, name: string): KubeObject {
    const { metadata } = about.object;
    const namespace = metadata.namespace ?? 'default';
    const stamp = this.#clock.seconds(at);
    const involvedObject: Json = {
      kind: about.kind,
      ...(metadata.namespace === undefined ? {} : { namespace }),
      name: metadata.name,
      ...(about.withoutUid ? {} : { uid: metadata.uid }),
      apiVersion: about.apiVersion,
      ...(about.withoutUid ? {} : { resourceVersion: metadata.resourceVersion }),
      ...(about.fieldPath === undefined ? {} : { fieldPath: about.fieldPath }),
    };
    return {
      metadata: { name, namespace, uid: this.#world.random.uuid(), creationTimestamp: this.#world.api.stamp() },
      involvedObject,
      reason,
      message,
      source: { component: this.#component, ...(this.#instance === '' ? {} : { host: this.#instance }) },
      firstTimestamp: stamp,
      lastTimestamp: stamp,
      count: 1,
      type: type ?? 'Normal',
      eventTime: null,
      reportingComponent: this.#component,
      reportingInstance: this.#instance,
    };
  }
}
