/** Recordings of pods with a controller: replaced, rolled out, drained, garbage-collected. */
import { drains, plainContainer, plainStory } from '../../plain-story.ts';
import type { AppStory, OwnerStory, Story, TriggerStory } from '../../story.ts';

const atMs = 1240;
const plain = plainStory();
const services = [{ ...plain.services[0]!, name: 'checkout' }];
const ours: TriggerStory = { kind: 'this-command', atMs, graceSeconds: null, uid: false };

/** With the probe, replacements become ready in a separate step; it never fails here. */
const readiness = { periodMs: 1000, failureThreshold: 3, phaseMs: 900_000 };

function kept(
  hash: string,
  graceSeconds: number,
  replicas: number,
  app: AppStory,
  trigger: TriggerStory = ours,
): Story {
  const owner: OwnerStory = { kind: 'deployment', name: 'checkout', replicas, readyAfterMs: 6 };
  const pod = { ...plain.pod, name: `checkout-${hash}`, graceSeconds };
  return plainStory({ pod, owner, services, trigger, containers: [plainContainer({ app, readiness })] });
}

export const keptPods: Record<string, Story> = {
  'graceful-exit': {
    ...kept('754699c75f-5qlrp', 10, 2, drains(3000)),
    kubelet: { ...plain.kubelet, cleanupMs: [880, 900], patchesResources: true },
  },
  'sigkill-after-grace': kept('6677656c54-258qr', 6, 2, {
    onSignal: { kind: 'ignores' },
    lost: false,
    bootLine: 'serving on :8080',
    lines: [],
  }),
  evicted: kept('58dcbd945d-52x7k', 8, 2, drains(1000), { kind: 'eviction-api', atMs }),
  'rolling-update': kept('66c9944d87-8dthq', 8, 1, drains(2000), { kind: 'rollout', atMs }),
  'owner-deleted': kept('66c9944d87-s6k8b', 8, 1, drains(2000), { kind: 'owner-deleted', atMs }),
  statefulset: plainStory({
    pod: { ...plain.pod, name: 'db-0', graceSeconds: 8 },
    owner: { kind: 'statefulset', name: 'db', readyAfterMs: 6 },
    services: [{ ...plain.services[0]!, name: 'db' }],
    containers: [
      plainContainer({
        app: { ...drains(2000), closesAfterMs: 2050 },
        readiness: { periodMs: 1000, failureThreshold: 3, phaseMs: 385 },
      }),
    ],
  }),
};
