/** The node's Lease: the kubelet renews it every ten seconds, whatever its pods do, unless it is frozen. */
import { nodeName } from './pod-object.ts';
import { nanoseconds, sleep, type Process } from './virtual-time.ts';
import type { World } from './world.ts';

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
