/** The pod's owner, if any: its controller acts on what the API server reports. */
import { createDeployment, type Deployment } from './deployment.ts';
import { createRecorder } from './event-recorder.ts';
import { isTerminal, type Pod } from './objects.ts';
import type { PodTemplate } from './pod-object.ts';
import { readyPod, startPod, type Recorders, firstPod } from './pod-start.ts';
import type { OwnerStory } from './story.ts';
import { sleep, type Process } from './virtual-time.ts';
import { reference, report, statefulSetStatus, workload } from './workload-objects.ts';
import type { World } from './world.ts';

export interface Owner {
  deployment?: Deployment;
  /** The story's pod, as stored. */
  pod: Pod;
  recorders: Recorders;
  /** Ends the owner's work on the pod: a Job that is suspended or done. */
  stopJob?: () => Process;
}

export function createOwner(world: World, created: string): Owner {
  const { owner, pod, containers } = world.story;
  const { cluster, kubelet, clocks } = world;
  const recorders = {
    scheduler: createRecorder(world, cluster, clocks.controller, 'default-scheduler'),
    kubelet: createRecorder(world, kubelet, clocks.node, 'kubelet'),
  };
  const template: PodTemplate = {
    name: pod.name,
    labels: { app: pod.name.split('-')[0] ?? pod.name },
    graceSeconds: pod.graceSeconds,
    containers,
  };
  const store = (one: PodTemplate): Pod => world.api.put('pods', firstPod(world, one, created));
  if (owner.kind === 'none') return { pod: store(template), recorders };
  if (owner.kind === 'deployment') return ownedByDeployment(world, owner, template, recorders, created);
  if (owner.kind === 'job') return ownedByJob(world, owner.name, template, recorders, store);
  const set = world.api.put('statefulsets', workload(world, owner.name, { replicas: 1 }, template.labels));
  const owned = {
    ...template,
    ownerReferences: [reference('StatefulSet', set)],
  };
  const stored = store(owned);
  runStatefulSet(world, owner.name, owned, owner.readyAfterMs, recorders);
  return { pod: stored, recorders };
}

function ownedByDeployment(
  world: World,
  owner: Extract<OwnerStory, { kind: 'deployment' }>,
  template: PodTemplate,
  recorders: Recorders,
  created: string,
): Owner {
  const deployment = createDeployment(world, owner, template, recorders);
  const mine = deployment.templateOf(deployment.first, template.name);
  const pod = world.api.put('pods', firstPod(world, mine, created));
  for (let other = 1; other < owner.replicas; other++)
    world.api.put('pods', readyPod(world, deployment.templateOf(deployment.first), created));
  deployment.begin();
  return { deployment, pod, recorders };
}

/** A Job's pod object stays until the Job has counted it (SIGNALS.md §4, trap 29). */
function ownedByJob(
  world: World,
  name: string,
  template: PodTemplate,
  recorders: Recorders,
  store: (one: PodTemplate) => Pod,
): Owner {
  const job = world.api.put('jobs', workload(world, name, { completions: 1, parallelism: 1 }, template.labels));
  const events = createRecorder(world, world.cluster, world.clocks.controller, 'job-controller');
  const pod = store({ ...template, ownerReferences: [reference('Job', job)] });
  function* release(): Process {
    yield sleep(world.random.between(20, 200));
    world.api.removeFinalizers(pod.metadata.name);
  }
  world.api.on('pods', (_change, object) => {
    if (object.metadata.uid !== pod.metadata.uid || !isTerminal(object as Pod)) return;
    if (object.metadata.finalizers?.includes('batch.kubernetes.io/job-tracking')) world.cluster.spawn(release());
  });
  function* stopJob(): Process {
    const current = world.api.get('jobs', name);
    if (current) world.api.put('jobs', { ...current, spec: { ...current.spec, suspend: true } });
    yield sleep(world.random.between(3, 10));
    world.api.deletePod(pod.metadata.name, null);
    events.emit('Job', job, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
  }
  return { pod, recorders, stopJob };
}

/** The successor has the same name but another uid, and is created only when the old object is gone. */
function runStatefulSet(
  world: World,
  name: string,
  template: PodTemplate,
  readyAfterMs: number,
  recorders: Recorders,
): void {
  const events = createRecorder(world, world.cluster, world.clocks.controller, 'statefulset-controller');
  const revision = `${name}-${world.random.suffix(10)}`;
  function* reconcile(create: boolean): Process {
    yield sleep(world.random.between(1, 8));
    const set = world.api.get('statefulsets', name);
    if (!set) return;
    if (create) {
      startPod(world, template, readyAfterMs, recorders);
      const message = `create Pod ${template.name} in StatefulSet ${name} successful`;
      events.emit('StatefulSet', set, 'SuccessfulCreate', message);
    }
    const pods = (world.api.all('pods') as unknown as Pod[]).filter((pod) => pod.metadata.name === template.name);
    const living = pods.filter((pod) => !isTerminal(pod) || pod.metadata.deletionTimestamp !== undefined);
    report(world, 'statefulsets', name, statefulSetStatus(living, revision, set.metadata.generation));
  }
  world.controllers.spawn(reconcile(false));
  world.api.on('pods', (change, object) => {
    if (object.metadata.name === template.name) world.controllers.spawn(reconcile(change === 'DELETED'));
  });
}
