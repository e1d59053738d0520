/**
 * Stories that failing seeds found, reduced to their point: every interval contains the truth, every outcome is right.
 */
import { expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../sim/plain-story.ts';
import type { AppStory, Story } from '../sim/story.ts';
import { alone, ignoresSignal } from '../helpers/cases.ts';
import { judgeStory } from '../helpers/simulated.ts';
import { asked, dies, kubelet, pod } from '../helpers/story-changes.ts';

const chooses = (code: number, afterMs: number): AppStory => ({ ...dies, onSignal: { kind: 'exits', afterMs, code } });
const sidecar = (change: Parameters<typeof plainContainer>[0]) =>
  plainContainer({ name: 'proxy', kind: 'sidecar', ...change });
const still = { offsetMs: 0, driftPpm: 0 };

const stories: Record<string, Partial<Story>> = {
  'a 137 of its own, after the grace and before any kill: a hook had eaten the grace': alone({
    preStop: { kind: 'sleep', seconds: 12 },
    app: chooses(137, 900),
  }),
  'a sidecar that chose 137 right after its turn': {
    containers: [plainContainer({ app: drains(9000) }), sidecar({ app: chooses(137, 5) })],
  },
  'a grace lowered before the kubelet began, by an API server 80 s ahead': {
    ...alone({ app: ignoresSignal }, kubelet({ noticeMs: [1900, 1900] })),
    clocks: { api: { offsetMs: 80_000, driftPpm: 0 }, node: still, controller: still, client: still },
    later: [{ kind: 'delete', atMs: 1000, graceSeconds: 3 }],
  },
  'a grace lowered meanwhile, and a kill that failed: the second round has the short one': {
    ...alone({ app: ignoresSignal }, kubelet({ failedKills: 1 })),
    later: [{ kind: 'delete', atMs: 2500, graceSeconds: 3 }],
  },
  'a sleep hook that outlives its container': alone({
    preStop: { kind: 'sleep', seconds: 8 },
    app: { ...drains(1000), ownExit: { atMs: 3900, code: 1 } },
  }),
  'a sidecar that its own hook ended, long before the application': {
    containers: [
      plainContainer({ app: drains(6000) }),
      sidecar({ preStop: { kind: 'exec', takesMs: 900, fails: false, stopsAppMs: 160 }, app: dies }),
    ],
  },
  'a hook that stops the application by itself': alone({
    preStop: { kind: 'exec', takesMs: 5000, fails: false, stopsAppMs: 30 },
    app: { ...dies, onSignal: { kind: 'exits', afterMs: 700, code: 143 } },
  }),
  'a kubelet that froze right after it began, where no Event is received': {
    ...alone({ app: ignoresSignal, logged: false }),
    trigger: { kind: 'namespace-deletion', atMs: 1240 },
    faults: [{ kind: 'freeze', atMs: 100, forMs: 30_000 }],
  },
  'a kubelet that stood still with the first Killing in its queue, on a node of which nothing was known': {
    ...alone({ app: { ...dies, onSignal: { kind: 'exits', afterMs: 715, code: 0 } } }),
    faults: [{ kind: 'freeze', atMs: 170, forMs: 15_000 }],
    events: { queueMs: [400, 400], dropped: [] },
    readsLeases: false,
  },
  'the same on a node whose Lease was renewed before': {
    ...alone({ app: { ...dies, onSignal: { kind: 'exits', afterMs: 715, code: 0 } } }),
    faults: [{ kind: 'freeze', atMs: 170, forMs: 15_000 }],
    events: { queueMs: [400, 400], dropped: [] },
  },
  'a kubelet that died with the first Killing in its queue': {
    ...alone({ app: drains(3000) }),
    faults: [{ kind: 'kubelet-restart', atMs: 8, downMs: 2800 }],
  },
  'a kubelet that restarted before it began, and a 137 of the application’s own': {
    ...alone({ app: chooses(137, 900) }, kubelet({ noticeMs: [4000, 4000] })),
    faults: [{ kind: 'kubelet-restart', atMs: 1000, downMs: 1900 }],
  },
  'Events that wait for one another in the kubelet’s queue': {
    containers: [
      plainContainer({ app: ignoresSignal }),
      plainContainer({ name: 'two' }),
      sidecar({}),
      sidecar({ name: 'logs' }),
    ],
    events: { queueMs: [480, 500], dropped: [] },
    network: { ...plainStory().network, watchMs: { events: [1900, 2000] } },
  },
  'a sidecar that ended by itself before its hook was cut off, and its log after it': {
    containers: [
      plainContainer({ app: ignoresSignal }),
      sidecar({ preStop: { kind: 'sleep', seconds: 2 }, app: { ...dies, ownExit: { atMs: 560, code: 1 } } }),
    ],
    ...pod({ graceSeconds: 0 }),
  },
  'a crashed pod of a rollout, gone before its controller’s Event': {
    ...alone({ state: { kind: 'crashed', code: 1 } }, pod({ graceSeconds: 0, name: 'checkout-mh6j2qkqg2-h4f7r' })),
    owner: { kind: 'deployment', name: 'checkout', replicas: 3, readyAfterMs: 300 },
    services: [],
    trigger: { kind: 'rollout', atMs: 2680 },
    network: { ...plainStory().network, watchMs: { events: [60, 80], replicasets: [60, 80] } },
  },
  'a 137 of its own just before it was preempted, with a grace so short that it may have been a kill': {
    ...alone({ app: { ...dies, ownExit: { atMs: 394, code: 137 } } }, pod({ graceSeconds: 1 })),
    trigger: { kind: 'preemption', atMs: 1350 },
    network: { ...plainStory().network, requestMs: [300, 400] },
    faults: [{ kind: 'log-break', atMs: 480 }],
  },
  'a 137 of its own just before its kill, which must not set the node’s clock for the replacement': {
    ...alone({ app: { ...dies, onSignal: { kind: 'ignores' }, ownExit: { atMs: 1300, code: 137 } } }),
    ...pod({ name: 'db-0', graceSeconds: 1 }),
    owner: { kind: 'statefulset', name: 'db', readyAfterMs: 3 },
    trigger: { kind: 'unknown', atMs: 1590, graceSeconds: null },
    readsLeases: false,
  },
  'a sidecar with a 137 of its own just before its kill, and one that waited for it with a hook that failed': {
    containers: [
      sidecar({ preStop: { kind: 'httpGet', takesMs: 2941, fails: true }, app: chooses(0, 17) }),
      sidecar({ name: 'logs', preStop: { kind: 'sleep', seconds: 1 }, app: chooses(137, 900) }),
      plainContainer({ app: chooses(0, 2858) }),
    ],
    ...pod({ graceSeconds: 4 }),
    trigger: { kind: 'unknown', atMs: 1566, graceSeconds: null },
  },
  'a probe that acknowledged the deletion before the kubelet began, where no Event can be posted': {
    containers: [
      plainContainer({ preStop: { kind: 'exec', takesMs: 1491, fails: false }, app: chooses(0, 175) }),
      plainContainer({
        name: 'side',
        readiness: { periodMs: 1000, failureThreshold: 1, phaseMs: 1586 },
        app: { ...chooses(0, 390), ownExit: { atMs: 5425, code: 1 } },
      }),
    ],
    ...pod({ graceSeconds: 2 }),
    trigger: { kind: 'namespace-deletion', atMs: 2229 },
    faults: [{ kind: 'freeze', atMs: -356, forMs: 47_007 }],
  },
  'a 137 of a sidecar’s own, under a kubelet that stood still until its clock was in doubt': {
    containers: [
      sidecar({ app: { ...ignoresSignal, ownExit: { atMs: 5050, code: 137 } } }),
      sidecar({ name: 'logs', app: ignoresSignal }),
    ],
    ...pod({ graceSeconds: 5 }),
    faults: [{ kind: 'freeze', atMs: 4020, forMs: 49_732 }],
  },
  'a hook that its container took with it, just before both were cut off': alone({
    preStop: { kind: 'exec', takesMs: null, fails: false },
    app: { ...dies, ownExit: { atMs: 10_003, code: 1 } },
  }),
  'a forced deletion of what would have been killed': { ...alone({ app: ignoresSignal }), ...asked(0) },
};

const standsStill: Partial<Story> = {
  ...alone({ app: ignoresSignal }, pod({ graceSeconds: 0, finalizers: ['example.com/audit'] })),
  faults: [{ kind: 'freeze', atMs: 1500, forMs: null }],
  later: [{ kind: 'remove-finalizers', atMs: 45_000 }],
};
stories['logs that end with a kubelet that stands still, before its node is NotReady'] = standsStill;
stories['the same where no Lease can be read'] = { ...standsStill, readsLeases: false };

it.each(Object.entries(stories))('%s', (_what, story) => {
  expect(judgeStory(plainStory(story)).wrong).toEqual([]);
});
