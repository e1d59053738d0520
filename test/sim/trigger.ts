/** What deletes the pod, and the traces that it leaves (SIGNALS.md §4). */
import { podPath, send, status, type Answer } from './client.ts';
import { createRecorder } from './event-recorder.ts';
import { managedBy, withCondition, type Condition, type Pod } from './objects.ts';
import type { Owner } from './owner.ts';
import { createdPod, nodeName } from './pod-object.ts';
import { bound } from './pod-start.ts';
import type { Json } from './rows.ts';
import type { LaterStory, TriggerStory } from './story.ts';
import { sleep, until, type Process } from './virtual-time.ts';
import { fromTrigger, type World } from './world.ts';

type TriggerAction = (world: World, owner: Owner) => Process;

/** Runs the story's trigger at its time. */
export function* pullTrigger(world: World, owner: Owner): Process {
  yield sleep(world.story.trigger.atMs);
  yield* triggerActions[world.story.trigger.kind](world, owner);
}

/** What the recorder does after the trigger. */
export function* doLater(world: World, later: LaterStory): Process {
  yield sleep(fromTrigger(world, later.atMs));
  if (later.kind === 'delete') return yield* sendDelete(world, later.graceSeconds);
  const name = world.story.pod.name;
  yield* send(world, 'PATCH', podPath(world), { metadata: { finalizers: null } }, () =>
    podAnswer(world, world.api.removeFinalizers(name)),
  );
}

function* sendDelete(world: World, graceSeconds: number | null, uid?: string): Process {
  const { name } = world.story.pod;
  const body: Json = {
    ...(graceSeconds === null ? {} : { gracePeriodSeconds: graceSeconds }),
    ...(uid === undefined ? {} : { preconditions: { uid } }),
  };
  yield* send(world, 'DELETE', podPath(world), body, () =>
    podAnswer(world, world.api.deletePod(name, graceSeconds, uid)),
  );
}

const podAnswer = (world: World, pod: Pod | undefined): Answer =>
  pod
    ? { status: 200, body: world.api.full('pods', pod) }
    : status(404, {
        status: 'Failure',
        reason: 'NotFound',
        message: `pods "${world.story.pod.name}" not found`,
        code: 404,
      });

const triggerActions: Record<TriggerStory['kind'], TriggerAction> = {
  'this-command': function* (world, { pod }) {
    const { trigger } = world.story;
    if (trigger.kind !== 'this-command') return;
    yield* sendDelete(world, trigger.graceSeconds, trigger.uid ? pod.metadata.uid : undefined);
  },
  unknown: function* (world) {
    const { trigger, pod } = world.story;
    world.api.deletePod(pod.name, trigger.kind === 'unknown' ? trigger.graceSeconds : null);
    yield sleep(0);
  },
  'eviction-api': function* (world) {
    const { name } = world.story.pod;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    yield* send(world, 'POST', `${podPath(world)}/eviction`, body, () => {
      disrupt(world, 'EvictionByEvictionAPI');
      world.api.deletePod(name, null);
      return status(201, { code: 201 });
    });
  },
  preemption: preempt,
  taint: function* (world, { pod }) {
    const events = createRecorder(world, world.cluster, world.clocks.controller, 'taint-eviction-controller');
    const spec = { taints: [{ key: 'maintenance', value: 'disk', effect: 'NoExecute' }] };
    yield* send(world, 'PATCH', `/api/v1/nodes/${nodeName}`, { spec }, () => {
      const node = world.api.get('nodes', nodeName);
      if (node) world.api.put('nodes', { ...node, spec });
      return { status: 200, body: { kind: 'Node' } };
    });
    yield sleep(world.random.between(4, 12));
    const { namespace, name } = pod.metadata;
    const message = `Marking for deletion Pod ${namespace}/${name}`;
    events.emit('Pod', pod, 'TaintManagerEviction', message, { withoutUid: true });
    yield* disruptThenDelete(world, 'DeletionByTaintManager');
  },
  'device-taint': function* (world, { pod }) {
    const events = createRecorder(world, world.cluster, world.clocks.controller, 'device-taint-eviction-controller');
    events.emit('Pod', pod, 'DeviceTaintManagerEviction', 'Marking for deletion');
    yield* disruptThenDelete(world, 'DeletionByDeviceTaintManager');
  },
  'pod-gc': function* (world) {
    // The machine is gone with everything that ran on it.
    for (const host of [world.kubelet, world.runtime, world.node, world.starter]) host.freeze(Infinity);
    world.api.remove('nodes', nodeName);
    yield sleep(world.random.between(5, 30));
    disrupt(world, 'DeletionByPodGC', 'kube-controller-manager', 'Failed');
    yield sleep(world.random.between(2, 8));
    world.api.deletePod(world.story.pod.name, 0);
  },
  rollout: function* (world, { deployment }) {
    const path = `/apis/apps/v1/namespaces/${world.story.name}/deployments/${world.story.pod.name.split('-')[0]}`;
    yield* send(world, 'PATCH', path, { spec: { template: { metadata: { annotations: { rev: '2' } } } } }, () => {
      if (deployment) world.cluster.spawn(deployment.rollOut());
      return { status: 200, body: { kind: 'Deployment' } };
    });
  },
  'scale-down': function* (_world, { deployment }) {
    if (deployment) yield* deployment.scaleDown();
  },
  'owner-deleted': function* (world, { deployment }) {
    const path = `/apis/apps/v1/namespaces/${world.story.name}/deployments/${world.story.pod.name.split('-')[0]}`;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
    yield* send(world, 'DELETE', path, body, () => {
      if (deployment) world.cluster.spawn(deployment.deleteAll());
      return status(200);
    });
  },
  job: function* (_world, { stopJob }) {
    if (stopJob) yield* stopJob();
  },
  /** From now on new Events are refused (SIGNALS.md §2.1). */
  'namespace-deletion': function* (world) {
    world.api.namespaceTerminating = true;
    yield sleep(world.random.between(20, 200));
    for (const pod of world.api.all('pods')) world.api.deletePod(pod.metadata.name, null);
  },
};

/** The condition is written just before deletionTimestamp, the victim's Event after it (SIGNALS.md trap 37). */
function* preempt(world: World, { pod, recorders }: Owner): Process {
  const urgent = { name: 'urgent-0', labels: {}, graceSeconds: 30, containers: world.story.containers };
  const preemptor = createdPod(world, urgent);
  const path = `/api/v1/namespaces/${world.story.name}/pods`;
  yield* send(world, 'POST', path, { apiVersion: 'v1', kind: 'Pod', metadata: { name: urgent.name } }, () => ({
    status: 201,
    body: world.api.full('pods', world.api.put('pods', preemptor)),
  }));
  yield sleep(world.random.between(2, 4));
  recorders.scheduler.emit('Pod', preemptor, 'FailedScheduling', '0/1 nodes are available: 1 Insufficient cpu.');
  yield* disruptThenDelete(world, 'PreemptionByScheduler', 'kube-scheduler');
  world.api.put('pods', { ...preemptor, status: { ...preemptor.status, nominatedNodeName: nodeName } });
  const message = `Preempted by pod ${preemptor.metadata.uid} on node ${nodeName}`;
  recorders.scheduler.emit('Pod', pod, 'Preempted', message);
  yield until(world.removed);
  yield sleep(world.random.between(2, 20));
  const waiting = world.api.pod(preemptor.metadata.name);
  if (waiting) world.api.put('pods', bound(waiting, world.api.stamp()));
}

function* disruptThenDelete(world: World, reason: string, manager = 'kube-controller-manager'): Process {
  disrupt(world, reason, manager);
  yield sleep(world.random.between(2, 20));
  world.api.deletePod(world.story.pod.name, null);
}

/** Sets the DisruptionTarget condition. It has no manager if the eviction API writes it. */
function disrupt(world: World, reason: string, manager?: string, phase?: string): void {
  const pod = world.api.pod(world.story.pod.name);
  if (!pod) return;
  const clock = manager === undefined ? world.clocks.api : world.clocks.controller;
  const condition: Condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastTransitionTime: clock.seconds(world.time.now),
    reason,
  };
  const conditions = withCondition(pod.status.conditions ?? [], condition);
  const next = { ...pod, status: { ...pod.status, ...(phase === undefined ? {} : { phase }), conditions } };
  world.api.put('pods', manager === undefined ? next : managedBy(next, manager, world.api.stamp(), 'status'));
}
