/** client-go's legacy Event recorder: nanoseconds in the name, repeats counted, one queue (SIGNALS.md §2.1). */
import type { Clock } from './clock.ts';
import type { KubeObject } from './objects.ts';
import type { Resource } from './rows.ts';
import { sleep, type Host, type Process } from './virtual-time.ts';
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

export type EventRecorder = ReturnType<typeof createRecorder>;

export function createRecorder(world: World, host: Host, clock: Clock, component: string) {
  const { api, random, story, time } = world;
  const known = new Map<string, string>();
  let lastName = 0n;
  let freeAt = 0;

  function* post(emission: Emission, at: number, name: string, delayMs: number): Process {
    yield sleep(delayMs);
    const resource: Resource = emission.kind === 'Node' ? 'node-events' : 'events';
    const old = api.get(resource, name);
    if (old) api.put(resource, { ...old, count: Number(old.count) + 1, lastTimestamp: clock.seconds(at) });
    else if (!api.namespaceTerminating) api.put(resource, eventOf(emission, at, name));
  }

  function nameOf({ object, fieldPath, reason, message }: Emission, at: number): string {
    const key = [object.metadata.uid, fieldPath, reason, message].join('\n');
    const before = known.get(key);
    if (before !== undefined) return before;
    const stamp = clock.read(at);
    lastName = stamp > lastName ? stamp : lastName + 1n;
    const name = `${object.metadata.name}.${lastName.toString(16)}`;
    known.set(key, name);
    return name;
  }

  function eventOf(
    { kind, object, fieldPath, withoutUid, ...emission }: Emission,
    at: number,
    name: string,
  ): KubeObject {
    const { metadata } = object;
    const stamp = clock.seconds(at);
    const uid = random.uuid();
    return {
      metadata: { name, namespace: metadata.namespace ?? 'default', uid, creationTimestamp: api.stamp() },
      involvedObject: {
        kind,
        name: metadata.name,
        ...(withoutUid ? {} : { uid: metadata.uid }),
        ...(fieldPath === undefined ? {} : { fieldPath }),
      },
      ...emission,
      source: { component },
      firstTimestamp: stamp,
      lastTimestamp: stamp,
      count: 1,
      reportingComponent: component,
    };
  }

  return {
    /** Takes the timestamp now, and posts the Event when it is at the head of the queue. */
    emit(kind: string, object: KubeObject, reason: string, message: string, details: Details = {}): void {
      const emission = { kind, object, reason, message, type: 'Normal', withoutUid: false, ...details } as const;
      const at = time.now;
      if (story.events.dropped.includes(reason)) return;
      freeAt = Math.max(freeAt, at) + draw(world, story.events.queueMs) * 1e6;
      freeAt = Math.max(freeAt, world.eventsRefusedUntil);
      host.spawn(post(emission, at, nameOf(emission, at), (freeAt - at) / 1e6));
    },
  };
}
