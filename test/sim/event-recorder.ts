/** client-go's legacy Event recorder: nanoseconds in the name, repeats counted, one queue (SIGNALS.md §2.1). */
import type { Clock } from './clock.ts';
import type { KubeObject } from './objects.ts';
import type { Resource } from './rows.ts';
import { sleep, type Host } from './virtual-time.ts';
import { draw, type World } from './world.ts';

interface Emission {
  kind: string;
  object: KubeObject;
  reason: string;
  message: string;
  type: 'Normal' | 'Warning';
  fieldPath?: string | undefined;
  withoutUid: boolean;
}

type Details = Partial<Pick<Emission, 'type' | 'fieldPath' | 'withoutUid'>>;

export class EventRecorder {
  readonly #world: World;
  readonly #host: Host;
  readonly #clock: Clock;
  readonly #component: string;
  readonly #known = new Map<string, string>();
  #lastName = 0n;
  #freeAt = 0;

  constructor(world: World, host: Host, clock: Clock, component: string) {
    this.#world = world;
    this.#host = host;
    this.#clock = clock;
    this.#component = component;
  }

  /** Takes the timestamp now, and posts the Event when it is at the head of the queue. */
  emit(kind: string, object: KubeObject, reason: string, message: string, details: Details = {}): void {
    const emission = { kind, object, reason, message, type: 'Normal', withoutUid: false, ...details } as const;
    const at = this.#world.time.now;
    if (this.#world.story.events.dropped.includes(reason)) return;
    this.#freeAt = Math.max(this.#freeAt, at) + draw(this.#world, this.#world.story.events.queueMs) * 1e6;
    this.#freeAt = Math.max(this.#freeAt, this.#world.eventsRefusedUntil);
    const [delay, name] = [(this.#freeAt - at) / 1e6, this.#nameOf(emission, at)];
    this.#host.spawn(this.#post(emission, at, name, delay));
  }

  *#post(emission: Emission, at: number, name: string, delayMs: number) {
    yield sleep(delayMs);
    const { api } = this.#world;
    const resource: Resource = emission.kind === 'Node' ? 'node-events' : 'events';
    const old = api.get(resource, name);
    const lastTimestamp = this.#clock.seconds(at);
    if (old) api.put(resource, { ...old, count: Number(old.count) + 1, lastTimestamp });
    else if (!api.namespaceTerminating) api.put(resource, this.#event(emission, at, name));
  }

  #nameOf(emission: Emission, at: number): string {
    const { object, fieldPath, reason, message } = emission;
    const key = [object.metadata.uid, fieldPath, reason, message].join('\n');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const stamp = this.#clock.read(at);
    this.#lastName = stamp > this.#lastName ? stamp : this.#lastName + 1n;
    const name = `${object.metadata.name}.${this.#lastName.toString(16)}`;
    this.#known.set(key, name);
    return name;
  }

  #event({ kind, object, fieldPath, withoutUid, ...emission }: Emission, at: number, name: string): KubeObject {
    const { metadata } = object;
    const stamp = this.#clock.seconds(at);
    const uid = this.#world.random.uuid();
    return {
      metadata: { name, namespace: metadata.namespace ?? 'default', uid, creationTimestamp: this.#world.api.stamp() },
      involvedObject: {
        kind,
        name: metadata.name,
        ...(withoutUid ? {} : { uid: metadata.uid }),
        ...(fieldPath === undefined ? {} : { fieldPath }),
      },
      ...emission,
      source: { component: this.#component },
      firstTimestamp: stamp,
      lastTimestamp: stamp,
      count: 1,
      reportingComponent: this.#component,
    };
  }
}
