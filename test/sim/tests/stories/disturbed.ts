/** Recordings in which the node or another client interferes. */
import { drains, plainContainer, plainStory } from '../../plain-story.ts';
import type { Story } from '../../story.ts';

const plain = plainStory();
const pod = { ...plain.pod, graceSeconds: 8 };
const atMs = 1240;

export const disturbed: Record<string, Story> = {
  'kubelet-restart': plainStory({
    pod: { ...pod, graceSeconds: 20 },
    containers: [plainContainer({ preStop: { kind: 'exec', takesMs: 1000, fails: false }, app: { ...drains(9000) } })],
    faults: [{ kind: 'kubelet-restart', atMs: 1800, downMs: 1750 }],
  }),
  'node-down': plainStory({
    pod: { ...pod, name: 'checkout-754699c75f-m4tw7', graceSeconds: 10 },
    containers: [
      plainContainer({ app: drains(3000), readiness: { periodMs: 1000, failureThreshold: 3, phaseMs: 9e5 } }),
    ],
    owner: { kind: 'deployment', name: 'checkout', replicas: 2, readyAfterMs: 5 },
    services: [{ ...plain.services[0]!, name: 'checkout' }],
    faults: [{ kind: 'freeze', atMs: -600, forMs: 62_700 }],
    tailMs: 12_000,
  }),
  'taint-evicted': plainStory({ pod, trigger: { kind: 'taint', atMs } }),
  preempted: plainStory({
    pod: { ...pod, name: 'batch-0' },
    containers: [plainContainer({ app: drains(2000) })],
    services: [{ ...plain.services[0]!, name: 'batch' }],
    trigger: { kind: 'preemption', atMs },
  }),
};
