/** A Deployment with its ReplicaSets: replaces pods, scales and rolls out (SIGNALS.md §4). */
import { EventRecorder } from './event-recorder.ts';
import { isReady, type KubeObject, type Pod } from './objects.ts';
import type { PodTemplate } from './pod-object.ts';
import { startPod, type Recorders } from './pod-start.ts';
import { sleep, type Process } from './virtual-time.ts';
import { count, reference, report, workload } from './workload-objects.ts';
import type { World } from './world.ts';

interface ReplicaSet {
  name: string;
  labels: Record<string, string>;
  uid: string;
  owner: KubeObject;
}

export class Deployment {
  readonly first: ReplicaSet;
  readonly #world: World;
  readonly #name: string;
  readonly #readyAfterMs: number;
  readonly #template: PodTemplate;
  readonly #recorders: Recorders;
  readonly #events: EventRecorder;
  readonly #setEvents: EventRecorder;
  readonly #sets: ReplicaSet[] = [];
  #gone = false;

  constructor(
    world: World,
    name: string,
    replicas: number,
    readyAfterMs: number,
    template: PodTemplate,
    recorders: Recorders,
  ) {
    this.#world = world;
    this.#name = name;
    this.#readyAfterMs = readyAfterMs;
    this.#template = template;
    this.#recorders = recorders;
    const { cluster, clocks } = world;
    this.#events = new EventRecorder(world, cluster, clocks.controller, 'deployment-controller');
    this.#setEvents = new EventRecorder(world, cluster, clocks.controller, 'replicaset-controller');
    const spec = { replicas, strategy: { type: 'RollingUpdate' } };
    world.api.put('deployments', workload(world, name, spec, template.labels));
    this.first = this.#createSet(replicas, template.name.split('-').at(-2));
  }

  /** To call when its pods exist. */
  begin(): void {
    this.#report();
    this.#world.api.on('pods', () => this.#scheduleReconcile());
  }

  templateOf(set: ReplicaSet, name?: string): PodTemplate {
    return {
      ...this.#template,
      name: name ?? `${set.name}-${this.#world.random.suffix()}`,
      labels: set.labels,
      ownerReferences: [reference('ReplicaSet', set.owner)],
    };
  }

  /** Rolls out another template: creates a new set, and scales the old one down when the new pods are ready. */
  *rollOut(): Process {
    const object = this.#world.api.get('deployments', this.#name);
    if (!object) return;
    const { metadata, spec } = object;
    this.#world.api.put('deployments', {
      ...object,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
    });
    const replicas = Number(spec?.replicas);
    yield sleep(this.#world.random.between(3, 6));
    const next = this.#createSet(replicas);
    this.#scaled('up', next.name, 0, replicas);
    this.#scheduleReconcile();
    while (this.#podsOf(next).filter(isReady).length < replicas) yield sleep(10);
    yield* this.scale(this.first, replicas, 0);
  }

  /** What `kubectl scale` to fewer replicas causes. The story's pod is deleted first. */
  *scale(set: ReplicaSet, from: number, to: number): Process {
    yield sleep(this.#world.random.between(1, 4));
    const object = this.#world.api.get('replicasets', set.name);
    if (!object) return;
    const { metadata } = object;
    this.#world.api.put('replicasets', {
      ...object,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: { ...object.spec, replicas: to },
    });
    this.#scaled('down', set.name, from, to);
    this.#scheduleReconcile();
  }

  *scaleDown(): Process {
    const object = this.#world.api.get('deployments', this.#name);
    if (!object) return;
    const replicas = Number(object.spec?.replicas);
    const metadata = { ...object.metadata, generation: (object.metadata.generation ?? 0) + 1 };
    this.#world.api.put('deployments', { ...object, metadata, spec: { ...object.spec, replicas: replicas - 1 } });
    yield* this.scale(this.first, replicas, replicas - 1);
  }

  /** Background deletion: owners first, pods last (SIGNALS.md trap 38). */
  *deleteAll(): Process {
    this.#gone = true;
    this.#world.api.remove('deployments', this.#name);
    yield sleep(this.#world.random.between(2, 5));
    for (const set of this.#sets) this.#world.api.remove('replicasets', set.name);
    yield sleep(this.#world.random.between(2, 5));
    for (const set of this.#sets)
      for (const pod of this.#podsOf(set)) this.#world.api.deletePod(pod.metadata.name, null);
  }

  #createSet(replicas: number, suffix?: string): ReplicaSet {
    const hash = suffix ?? this.#world.random.suffix(10);
    const labels = { ...this.#template.labels, 'pod-template-hash': hash };
    const deployment = this.#world.api.get('deployments', this.#name);
    const owner = deployment ? reference('Deployment', deployment) : undefined;
    const object = this.#world.api.put(
      'replicasets',
      workload(this.#world, `${this.#name}-${hash}`, { replicas }, labels, owner),
    );
    const set = { name: object.metadata.name, labels, uid: object.metadata.uid, owner: object };
    this.#sets.push(set);
    return set;
  }

  #scheduleReconcile(): void {
    this.#world.controllers.spawn(this.#reconcile());
  }

  *#reconcile(): Process {
    yield sleep(this.#world.random.between(2, 8));
    if (this.#gone) return;
    for (const set of this.#sets) this.#reconcileSet(set);
    this.#report();
    yield sleep(this.#world.random.between(2, 6));
    if (!this.#gone) this.#reportDeployment();
  }

  #reconcileSet(set: ReplicaSet): void {
    const desired = Number(this.#world.api.get('replicasets', set.name)?.spec?.replicas ?? 0);
    const living = this.#podsOf(set).filter((pod) => pod.metadata.deletionTimestamp === undefined);
    for (let missing = desired - living.length; missing > 0; missing--) this.#create(set);
    const story = this.#world.story.pod.name;
    const surplus = living.sort((a, b) => Number(b.metadata.name === story) - Number(a.metadata.name === story));
    for (const pod of surplus.slice(0, Math.max(0, living.length - desired))) this.#delete(set, pod);
  }

  #create(set: ReplicaSet): void {
    const template = this.templateOf(set);
    startPod(this.#world, template, this.#readyAfterMs, this.#recorders);
    this.#setEvents.emit('ReplicaSet', set.owner, 'SuccessfulCreate', `Created pod: ${template.name}`);
  }

  #delete(set: ReplicaSet, pod: Pod): void {
    this.#world.api.deletePod(pod.metadata.name, null);
    this.#setEvents.emit('ReplicaSet', set.owner, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
  }

  #report(): void {
    for (const set of this.#sets) {
      const generation = this.#world.api.get('replicasets', set.name)?.metadata.generation;
      report(this.#world, 'replicasets', set.name, { ...count(this.#podsOf(set)), generation });
    }
    this.#reportDeployment();
  }

  #reportDeployment(): void {
    const object = this.#world.api.get('deployments', this.#name);
    const counts = count(this.#sets.flatMap((set) => this.#podsOf(set)));
    report(this.#world, 'deployments', this.#name, { ...counts, generation: object?.metadata.generation });
  }

  #podsOf(set: ReplicaSet): Pod[] {
    const pods = this.#world.api.all('pods') as unknown as Pod[];
    return pods.filter((pod) => pod.metadata.ownerReferences?.[0]?.uid === set.uid);
  }

  #scaled(way: 'up' | 'down', set: string, from: number, to: number): void {
    const object = this.#world.api.get('deployments', this.#name);
    if (!object) return;
    const message = `Scaled ${way} replica set ${set} from ${from} to ${to}`;
    this.#events.emit('Deployment', object, 'ScalingReplicaSet', message);
  }
}
