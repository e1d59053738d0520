/**
 * Stories reduced from failing seeds: every interval contains the truth, and every outcome is right.
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
  'an application exits 137 by itself after a hook used up the grace period, before any kill': alone({
    preStop: { kind: 'sleep', seconds: 12 },
    app: chooses(137, 900),
  }),
  'a sidecar exits 137 by itself right after its turn': {
    containers: [plainContainer({ app: drains(9000) }), sidecar({ app: chooses(137, 5) })],
  },
  'a grace period is lowered before the kubelet reacts; the API server’s clock is 80 s ahead': {
    ...alone({ app: ignoresSignal }, kubelet({ noticeMs: [1900, 1900] })),
    clocks: { api: { offsetMs: 80_000, driftPpm: 0 }, node: still, controller: still, client: still },
    later: [{ kind: 'delete', atMs: 1000, graceSeconds: 3 }],
  },
  'a kill fails, and the second attempt uses the grace period that was lowered meanwhile': {
    ...alone({ app: ignoresSignal }, kubelet({ failedKills: 1 })),
    later: [{ kind: 'delete', atMs: 2500, graceSeconds: 3 }],
  },
  'a sleep hook outlives its container': alone({
    preStop: { kind: 'sleep', seconds: 8 },
    app: { ...drains(1000), ownExit: { atMs: 3900, code: 1 } },
  }),
  'a sidecar’s own hook stops it long before the application exits': {
    containers: [
      plainContainer({ app: drains(6000) }),
      sidecar({ preStop: { kind: 'exec', takesMs: 900, fails: false, stopsAppMs: 160 }, app: dies }),
    ],
  },
  'a hook stops the application': alone({
    preStop: { kind: 'exec', takesMs: 5000, fails: false, stopsAppMs: 30 },
    app: { ...dies, onSignal: { kind: 'exits', afterMs: 700, code: 143 } },
  }),
  'a kubelet freezes right after it reacts, and no Event arrives': {
    ...alone({ app: ignoresSignal, logged: false }),
    trigger: { kind: 'namespace-deletion', atMs: 1240 },
    faults: [{ kind: 'freeze', atMs: 100, forMs: 30_000 }],
  },
  'a kubelet freezes with the first Killing in its queue, and podexit cannot read its Lease': {
    ...alone({ app: { ...dies, onSignal: { kind: 'exits', afterMs: 715, code: 0 } } }),
    faults: [{ kind: 'freeze', atMs: 170, forMs: 15_000 }],
    events: { queueMs: [400, 400], dropped: [] },
    readsLeases: false,
  },
  'a kubelet freezes with the first Killing in its queue, and podexit can read its Lease': {
    ...alone({ app: { ...dies, onSignal: { kind: 'exits', afterMs: 715, code: 0 } } }),
    faults: [{ kind: 'freeze', atMs: 170, forMs: 15_000 }],
    events: { queueMs: [400, 400], dropped: [] },
  },
  'a kubelet restarts with the first Killing in its queue': {
    ...alone({ app: drains(3000) }),
    faults: [{ kind: 'kubelet-restart', atMs: 8, downMs: 2800 }],
  },
  'a kubelet restarts before it reacts, and the application exits 137 by itself': {
    ...alone({ app: chooses(137, 900) }, kubelet({ noticeMs: [4000, 4000] })),
    faults: [{ kind: 'kubelet-restart', atMs: 1000, downMs: 1900 }],
  },
  'Events wait for each other in the kubelet’s queue': {
    containers: [
      plainContainer({ app: ignoresSignal }),
      plainContainer({ name: 'two' }),
      sidecar({}),
      sidecar({ name: 'logs' }),
    ],
    events: { queueMs: [480, 500], dropped: [] },
    network: { ...plainStory().network, watchMs: { events: [1900, 2000] } },
  },
  'a sidecar exits by itself before its hook is cut off': {
    containers: [
      plainContainer({ app: ignoresSignal }),
      sidecar({ preStop: { kind: 'sleep', seconds: 2 }, app: { ...dies, ownExit: { atMs: 560, code: 1 } } }),
    ],
    ...pod({ graceSeconds: 0 }),
  },
  'a rollout removes a crashed pod before the controller’s Event arrives': {
    ...alone({ state: { kind: 'crashed', code: 1 } }, pod({ graceSeconds: 0, name: 'checkout-mh6j2qkqg2-h4f7r' })),
    owner: { kind: 'deployment', name: 'checkout', replicas: 3, readyAfterMs: 300 },
    services: [],
    trigger: { kind: 'rollout', atMs: 2680 },
    network: { ...plainStory().network, watchMs: { events: [60, 80], replicasets: [60, 80] } },
  },
  'an application exits 137 by itself just before a preemption, with a short grace period': {
    ...alone({ app: { ...dies, ownExit: { atMs: 394, code: 137 } } }, pod({ graceSeconds: 1 })),
    trigger: { kind: 'preemption', atMs: 1350 },
    network: { ...plainStory().network, requestMs: [300, 400] },
    faults: [{ kind: 'log-break', atMs: 480 }],
  },
  'an application exits 137 by itself just before its kill, and a replacement starts on the same node': {
    ...alone({ app: { ...dies, onSignal: { kind: 'ignores' }, ownExit: { atMs: 1300, code: 137 } } }),
    ...pod({ name: 'db-0', graceSeconds: 1 }),
    owner: { kind: 'statefulset', name: 'db', readyAfterMs: 3 },
    trigger: { kind: 'unknown', atMs: 1590, graceSeconds: null },
    readsLeases: false,
  },
  'a sidecar exits 137 by itself just before its kill; another one, whose hook fails, waits for it': {
    containers: [
      sidecar({ preStop: { kind: 'httpGet', takesMs: 2941, fails: true }, app: chooses(0, 17) }),
      sidecar({ name: 'logs', preStop: { kind: 'sleep', seconds: 1 }, app: chooses(137, 900) }),
      plainContainer({ app: chooses(0, 2858) }),
    ],
    ...pod({ graceSeconds: 4 }),
    trigger: { kind: 'unknown', atMs: 1566, graceSeconds: null },
  },
  'a probe’s status update acknowledges the deletion before the kubelet reacts; no Event is accepted': {
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
  'a sidecar exits 137 by itself while its kubelet freezes for so long that the clock is in doubt': {
    containers: [
      sidecar({ app: { ...ignoresSignal, ownExit: { atMs: 5050, code: 137 } } }),
      sidecar({ name: 'logs', app: ignoresSignal }),
    ],
    ...pod({ graceSeconds: 5 }),
    faults: [{ kind: 'freeze', atMs: 4020, forMs: 49_732 }],
  },
  'a container exits and ends its hook just before both would be cut off': alone({
    preStop: { kind: 'exec', takesMs: null, fails: false },
    app: { ...dies, ownExit: { atMs: 10_003, code: 1 } },
  }),
  'a forced deletion removes a pod whose container would have been killed': {
    ...alone({ app: ignoresSignal }),
    ...asked(0),
  },
};

const standsStill: Partial<Story> = {
  ...alone({ app: ignoresSignal }, pod({ graceSeconds: 0, finalizers: ['example.com/audit'] })),
  faults: [{ kind: 'freeze', atMs: 1500, forMs: null }],
  later: [{ kind: 'remove-finalizers', atMs: 45_000 }],
};
stories['logs end because the kubelet freezes, before its node is NotReady'] = standsStill;
stories['logs end because the kubelet freezes, and podexit cannot read its Lease'] = {
  ...standsStill,
  readsLeases: false,
};

it.each(Object.entries(stories))('%s', (_what, story) => {
  expect(judgeStory(plainStory(story)).wrong).toEqual([]);
});
