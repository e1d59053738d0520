/** The simplest exit, to build others from: a bare pod, no hook, true clocks, an idle node. */
import type { AppStory, ContainerStory, Story } from './story.ts';

export function plainStory(change: Partial<Story> = {}): Story {
  const still = { offsetMs: 0, driftPpm: 0 };
  return {
    seed: 1,
    name: 'story',
    about: 'A pod is deleted.',
    beganAt: Date.UTC(2026, 10, 20, 23, 4, 28, 375),
    clocks: { api: still, node: still, controller: still, client: still },
    pod: { name: 'api-0', graceSeconds: 10, state: 'running', finalizers: [] },
    containers: [plainContainer()],
    services: [{ name: 'api', families: ['IPv4'], publishNotReadyAddresses: false, headless: false, others: 0 }],
    owner: { kind: 'none' },
    trigger: { kind: 'this-command', atMs: 1240, graceSeconds: null, uid: false },
    later: [],
    faults: [],
    kubelet: {
      noticeMs: [3, 8],
      ackMs: [4, 40],
      sandboxMs: [80, 110],
      cleanupMs: [300, 1000],
      patchesResources: false,
      failedKills: 0,
    },
    runtime: { signalLagMs: [0.3, 3], killLagMs: [8, 20], returnMs: [2, 12] },
    network: { requestMs: [1.5, 4], watchMs: {}, logMs: [0.5, 2] },
    events: { queueMs: [2, 6], dropped: [] },
    readsLeases: true,
    tailMs: 2000,
    limitMs: 120_000,
    ...change,
  };
}

export const plainContainer = (change: Partial<ContainerStory> = {}): ContainerStory => ({
  name: 'app',
  kind: 'container',
  state: { kind: 'running' },
  stopSignal: 'SIGTERM',
  app: drains(1000),
  logged: true,
  ...change,
});

/** Traps the signal, logs that, drains, and exits. */
export const drains = (forMs: number, code = 0): AppStory => ({
  onSignal: { kind: 'exits', afterMs: forMs + 100, code },
  lost: false,
  bootLine: 'serving on :8080',
  lines: [],
  saysOnSignal: { afterMs: 100, text: 'SIGTERM received, draining' },
  saysBeforeExit: { beforeMs: 2, text: `drained, exiting ${code}` },
});
