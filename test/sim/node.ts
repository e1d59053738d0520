/** The node: its object, its Lease, its faults, and the node controller that watches it (SIGNALS.md §2.2, trap 27). */
import { createRecorder, type EventRecorder } from './event-recorder.ts';
import type { Kubelet } from './kubelet.ts';
import { isTerminal, managedBy, withCondition, type KubeObject, type Pod } from './objects.ts';
import { nodeName } from './pod-object.ts';
import type { FaultStory } from './story.ts';
import { nanoseconds, sleep, type Process } from './virtual-time.ts';
import { fromTrigger, type World } from './world.ts';

/** The node controller marks a node Unknown after this long without a heartbeat (its default). ms. */
const nodeMonitorGraceMs = 50_000;
/** The API server gives up a log stream of a frozen kubelet after this long. ms. */
const streamTimeoutMs = 42_000;

export function createNode(world: World, created: string): KubeObject {
  return world.api.put('nodes', {
    metadata: { name: nodeName, uid: world.random.uuid(), creationTimestamp: created },
    spec: {},
    status: { conditions: [readyCondition('True', 'KubeletReady', created)] },
  });
}

/** Applies a fault when its time has come. */
export function* applyFault(world: World, kubelet: Kubelet, fault: FaultStory): Process {
  yield sleep(fromTrigger(world, fault.atMs));
  if (fault.kind === 'log-break') return kubelet.cutLogs();
  if (fault.kind === 'controllers-paused') return world.controllers.freeze(endOf(world, fault.forMs));
  if (fault.kind === 'events-refused') {
    world.eventsRefusedUntil = endOf(world, fault.forMs);
    return;
  }
  if (fault.kind === 'api-busy') {
    world.api.busyMs = fault.lagMs;
    yield sleep(fault.forMs);
    world.api.busyMs = undefined;
    return;
  }
  const controller = createRecorder(world, world.cluster, world.clocks.controller, 'node-controller');
  if (fault.kind === 'kubelet-restart') {
    kubelet.die();
    yield sleep(fault.downMs);
    const node = world.api.get('nodes', nodeName);
    if (node) kubelet.comeBack(node);
    return;
  }
  const forMs = fault.forMs ?? Infinity;
  for (const host of [world.kubelet, world.starter]) host.freeze(endOf(world, fault.forMs));
  yield sleep(Math.min(forMs, streamTimeoutMs));
  if (forMs <= streamTimeoutMs) return;
  kubelet.cutLogs();
  yield sleep(Math.min(forMs, nodeMonitorGraceMs) - streamTimeoutMs);
  if (forMs <= nodeMonitorGraceMs) return;
  setReady(world, 'Unknown', 'NodeStatusUnknown', controller);
  yield sleep(world.random.between(20, 80));
  markPods(world, controller);
  if (forMs === Infinity) return;
  yield sleep(forMs - nodeMonitorGraceMs + world.random.between(2000, 10_000));
  const posted = createRecorder(world, world.cluster, world.clocks.node, 'kubelet');
  setReady(world, 'True', 'KubeletReady', posted);
}

const endOf = (world: World, forMs: number | null): number =>
  forMs === null ? Infinity : world.time.now + nanoseconds(forMs);

function setReady(world: World, status: 'True' | 'Unknown', reason: string, recorder: EventRecorder): void {
  const node = world.api.get('nodes', nodeName);
  if (!node) return;
  const stamp = world.clocks.controller.seconds(world.time.now);
  const taint = (effect: string) => ({ key: 'node.kubernetes.io/unreachable', effect, timeAdded: stamp });
  const spec = status === 'True' ? {} : { taints: [taint('NoSchedule'), taint('NoExecute')] };
  const next = world.api.put('nodes', {
    ...node,
    spec,
    status: { ...node.status, conditions: [readyCondition(status, reason, stamp)] },
  });
  const reported = status === 'True' ? 'NodeReady' : 'NodeNotReady';
  recorder.emit('Node', next, reported, `Node ${nodeName} status is now: ${reported}`);
}

const readyCondition = (status: 'True' | 'Unknown', reason: string, lastTransitionTime: string) => ({
  type: 'Ready',
  status,
  lastTransitionTime,
  reason,
});

/** The node controller sets Ready=False itself: that says nothing about containers. */
function markPods(world: World, controller: EventRecorder): void {
  const now = world.clocks.controller.seconds(world.time.now);
  for (const pod of world.api.all('pods') as unknown as Pod[]) {
    if (pod.spec.nodeName === undefined || isTerminal(pod)) continue;
    const ready = { type: 'Ready', status: 'False', lastTransitionTime: now } as const;
    const conditions = withCondition(pod.status.conditions ?? [], ready);
    const marked = managedBy(
      { ...pod, status: { ...pod.status, conditions } },
      'kube-controller-manager',
      world.api.stamp(),
      'status',
    );
    world.api.put('pods', marked);
    controller.emit('Pod', pod, 'NodeNotReady', 'Node is not ready', { type: 'Warning' });
  }
}

const renewalMs = 10_000;
/** From a renewal to its arrival. */
const deliveryMs = 2;

/** By then the recorder has listed the Lease and watches it. */
const watchedFromMs = 200;

/** The age of the last renewal when the story begins; from the seed, like everything that varies. */
const ageMs = ({ story }: World): number => (story.seed * 7919) % renewalMs;

/** The recorder's list of Leases, if it may read them. */
export function listLease(world: World): void {
  if (!world.story.readsLeases) return;
  const passed = Math.max(0, world.time.now + nanoseconds(ageMs(world)));
  const renewedAt = Math.floor(passed / nanoseconds(renewalMs)) * nanoseconds(renewalMs) - nanoseconds(ageMs(world));
  const path = '/apis/coordination.k8s.io/v1/leases';
  const date = world.clocks.api.httpDate(world.time.now);
  const list = {
    kind: 'LeaseList',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { resourceVersion: versionAt(renewedAt) },
    items: [leaseAt(world, renewedAt)],
  };
  world.recorder.send('recorder', 0, { type: 'list', resource: 'leases', path, date, list });
}

/** Renewals from now on. */
export function* renewLease(world: World): Process {
  const rest = (): number => renewalMs - ((world.time.now / 1e6 + ageMs(world)) % renewalMs);
  while (world.story.readsLeases) {
    yield sleep(Math.max(1, rest()));
    if (world.time.now < nanoseconds(watchedFromMs)) continue;
    const type = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' };
    const object = { ...type, ...leaseAt(world, world.time.now) };
    world.recorder.send('leases', deliveryMs, {
      type: 'watch',
      resource: 'leases',
      event: { type: 'MODIFIED', object },
    });
  }
}

/** Leases are written far more often than other objects, and each write increases the revision. */
const versionAt = (at: number): string => String(500_000_000 + Math.round(at / 1e6));

const leaseAt = ({ clocks }: World, at: number) => ({
  metadata: {
    name: nodeName,
    namespace: 'kube-node-lease',
    uid: '00000000-0000-4000-8000-1ea5e0000000',
    resourceVersion: versionAt(at),
    managedFields: [{ manager: 'kubelet', time: clocks.api.seconds(at) }],
  },
  spec: { renewTime: clocks.node.nanoseconds(at) },
});
