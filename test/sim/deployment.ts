/** A Deployment with its ReplicaSets: replaces pods, scales and rolls out (SIGNALS.md §4). */
import { createRecorder } from './event-recorder.ts';
import { isReady, type KubeObject, type Pod } from './objects.ts';
import type { PodTemplate } from './pod-object.ts';
import { startPod, type Recorders } from './pod-start.ts';
import type { OwnerStory } from './story.ts';
import { sleep, type Process } from './virtual-time.ts';
import { count, reference, report, workload } from './workload-objects.ts';
import type { World } from './world.ts';

interface ReplicaSet {
  name: string;
  labels: Record<string, string>;
  owner: KubeObject;
}

export type Deployment = ReturnType<typeof createDeployment>;

export function createDeployment(
  world: World,
  { name, replicas, readyAfterMs }: Extract<OwnerStory, { kind: 'deployment' }>,
  template: PodTemplate,
  recorders: Recorders,
) {
  const { api, random, cluster, clocks, controllers } = world;
  const events = createRecorder(world, cluster, clocks.controller, 'deployment-controller');
  const setEvents = createRecorder(world, cluster, clocks.controller, 'replicaset-controller');
  const sets: ReplicaSet[] = [];
  let isGone = false;
  api.put('deployments', workload(world, name, { replicas, strategy: { type: 'RollingUpdate' } }, template.labels));
  const first = createSet(replicas, template.name.split('-').at(-2));

  function createSet(wanted: number, hash = random.suffix(10)): ReplicaSet {
    const labels = { ...template.labels, 'pod-template-hash': hash };
    const deployment = api.get('deployments', name);
    const owner = api.put(
      'replicasets',
      workload(
        world,
        `${name}-${hash}`,
        { replicas: wanted },
        labels,
        deployment && reference('Deployment', deployment),
      ),
    );
    const set = { name: owner.metadata.name, labels, owner };
    sets.push(set);
    return set;
  }

  const templateOf = (set: ReplicaSet, podName = `${set.name}-${random.suffix()}`): PodTemplate => ({
    ...template,
    name: podName,
    labels: set.labels,
    ownerReferences: [reference('ReplicaSet', set.owner)],
  });

  const podsOf = (set: ReplicaSet): Pod[] =>
    api.all<Pod>('pods').filter((pod) => pod.metadata.ownerReferences?.[0]?.uid === set.owner.metadata.uid);

  function* reconcile(): Process {
    yield sleep(random.between(2, 8));
    if (isGone) return;
    sets.forEach(reconcileSet);
    reportAll();
    yield sleep(random.between(2, 6));
    if (!isGone) reportDeployment();
  }

  function reconcileSet(set: ReplicaSet): void {
    const desired = Number(api.get('replicasets', set.name)?.spec?.replicas ?? 0);
    const living = podsOf(set).filter((pod) => pod.metadata.deletionTimestamp === undefined);
    for (let missing = desired - living.length; missing > 0; missing--) {
      const created = templateOf(set);
      startPod(world, created, readyAfterMs, recorders);
      setEvents.emit('ReplicaSet', set.owner, 'SuccessfulCreate', `Created pod: ${created.name}`);
    }
    const story = world.story.pod.name;
    const surplus = living.sort((a, b) => Number(b.metadata.name === story) - Number(a.metadata.name === story));
    for (const { metadata } of surplus.slice(0, Math.max(0, living.length - desired))) {
      api.deletePod(metadata.name, null);
      setEvents.emit('ReplicaSet', set.owner, 'SuccessfulDelete', `Deleted pod: ${metadata.name}`);
    }
  }

  function reportAll(): void {
    for (const set of sets) {
      const generation = api.get('replicasets', set.name)?.metadata.generation;
      report(world, 'replicasets', set.name, { ...count(podsOf(set)), generation });
    }
    reportDeployment();
  }

  function reportDeployment(): void {
    const generation = api.get('deployments', name)?.metadata.generation;
    report(world, 'deployments', name, { ...count(sets.flatMap(podsOf)), generation });
  }

  /** Writes the object with a new generation; undefined if it is gone. */
  function change(resource: 'deployments' | 'replicasets', which: string, spec: object): KubeObject | undefined {
    const object = api.get(resource, which);
    if (!object) return undefined;
    const metadata = { ...object.metadata, generation: (object.metadata.generation ?? 0) + 1 };
    return api.put(resource, { ...object, metadata, spec: { ...object.spec, ...spec } });
  }

  function emitScaled(way: 'up' | 'down', set: string, from: number, to: number): void {
    const object = api.get('deployments', name);
    const message = `Scaled ${way} replica set ${set} from ${from} to ${to}`;
    if (object) events.emit('Deployment', object, 'ScalingReplicaSet', message);
    controllers.spawn(reconcile());
  }

  /** What `kubectl scale` to fewer replicas causes. The story's pod is deleted first. */
  function* scale(from: number, to: number): Process {
    yield sleep(random.between(1, 4));
    if (change('replicasets', first.name, { replicas: to })) emitScaled('down', first.name, from, to);
  }

  return {
    first,
    templateOf,

    /** To call when its pods exist. */
    begin(): void {
      reportAll();
      api.on('pods', () => void controllers.spawn(reconcile()));
    },

    /** Rolls out another template: creates a new set, and scales the old one down when the new pods are ready. */
    *rollOut(): Process {
      if (!change('deployments', name, {})) return;
      yield sleep(random.between(3, 6));
      const next = createSet(replicas);
      emitScaled('up', next.name, 0, replicas);
      while (podsOf(next).filter(isReady).length < replicas) yield sleep(10);
      yield* scale(replicas, 0);
    },

    *scaleDown(): Process {
      if (change('deployments', name, { replicas: replicas - 1 })) yield* scale(replicas, replicas - 1);
    },

    /** Background deletion: owners first, pods last (SIGNALS.md trap 38). */
    *deleteAll(): Process {
      isGone = true;
      api.remove('deployments', name);
      yield sleep(random.between(2, 5));
      for (const set of sets) api.remove('replicasets', set.name);
      yield sleep(random.between(2, 5));
      for (const pod of sets.flatMap(podsOf)) api.deletePod(pod.metadata.name, null);
    },
  };
}
