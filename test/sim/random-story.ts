/** Random stories: everything is drawn from the seed, within what SIGNALS.md says can happen. */
import { plainStory } from './plain-story.ts';
import { randomContainers } from './random-containers.ts';
import { Random } from './random.ts';
import { resources } from './rows.ts';
import {
  clockNames,
  type ClockName,
  type FaultStory,
  type LaterStory,
  type NetworkStory,
  type OwnerStory,
  type PodStory,
  type ServiceStory,
  type Span,
  type Story,
  type TriggerStory,
} from './story.ts';

/** The largest clock errors, as in a fleet without NTP. */
const maxOffsetMs = 90_000;
const maxDriftPpm = 100;

export function randomStory(seed: number): Story {
  const random = new Random(seed);
  const owner = randomOwner(random);
  const trigger = randomTrigger(random, owner);
  const pod = randomPod(random, owner);
  const notice = noticeSpan(random);
  const containers = randomContainers(random, pod, notice[1]);
  const faults = pod.state === 'running' && trigger.kind !== 'pod-gc' ? randomFaults(random, pod.graceSeconds) : [];
  return plainStory({
    seed,
    name: `story-${seed}`,
    about: `Drawn from seed ${seed}.`,
    beganAt: Date.UTC(2026, 10, 20, 23, 0, 0) + random.whole(0, 3_600_000),
    clocks: randomClocks(random),
    pod,
    containers,
    services: randomServices(random, pod),
    owner,
    trigger,
    later: randomLater(random, pod, faults, trigger),
    faults,
    kubelet: {
      noticeMs: notice,
      ackMs: [1, random.pick([10, 40, 200])],
      sandboxMs: random.weighted([8, [60, 150]], [1, [500, 4000]]),
      cleanupMs: random.weighted([8, [250, 1000]], [1, [1000, 12_000]]),
      patchesResources: random.chance(0.3),
      failedKills: random.chance(0.04) ? 1 : 0,
    },
    runtime: randomRuntime(random),
    network: randomNetwork(random),
    events: {
      queueMs: random.weighted([8, [1, 8]], [1, [20, 500]]),
      dropped: random.chance(0.06) ? [random.pick(['Killing', 'FailedPreStopHook', 'Unhealthy'])] : [],
    },
    // Not drawn, so that the rest of each seed's story stays as it was before Leases were simulated.
    readsLeases: seed % 8 !== 0,
    tailMs: 3000,
    limitMs: 240_000,
  });
}

function randomOwner(random: Random): OwnerStory {
  const readyAfterMs = random.pick([3, 300, 4000]);
  return random.weighted<OwnerStory>(
    [4, { kind: 'none' }],
    [4, { kind: 'deployment', name: 'checkout', replicas: random.whole(1, 3), readyAfterMs }],
    [1, { kind: 'statefulset', name: 'db', readyAfterMs }],
    [0.5, { kind: 'job', name: 'batch' }],
  );
}

function randomPod(random: Random, owner: OwnerStory): PodStory {
  const names: Record<OwnerStory['kind'], () => string> = {
    none: () => 'api-0',
    deployment: () => `checkout-${random.suffix(10)}-${random.suffix()}`,
    statefulset: () => 'db-0',
    job: () => `batch-${random.suffix()}`,
  };
  const state = random.weighted<PodStory['state']>(
    [30, 'running'],
    [1, 'unscheduled'],
    [1, 'never-started'],
    [1, 'finished'],
  );
  const finalizers =
    owner.kind === 'job' ? ['batch.kubernetes.io/job-tracking'] : random.chance(0.08) ? ['example.com/audit'] : [];
  return {
    name: names[owner.kind](),
    graceSeconds: random.weighted([6, random.whole(2, 12)], [2, 30], [1, 1], [0.5, 0]),
    state,
    finalizers,
  };
}

function randomTrigger(random: Random, owner: OwnerStory): TriggerStory {
  const atMs = random.between(1000, 3000);
  const graceSeconds = random.chance(0.2) ? random.pick([0, 1, 3, 20]) : null;
  const ownDelete: TriggerStory = { atMs, kind: 'this-command', graceSeconds, uid: random.chance(0.8) };
  if (random.chance(0.6)) return ownDelete;
  const deployments = ['rollout', 'scale-down', 'owner-deleted'] as const;
  const kind = random.pick([
    ...(owner.kind === 'deployment' ? deployments : []),
    ...(owner.kind === 'job' ? (['job'] as const) : []),
    ...(['eviction-api', 'preemption', 'taint', 'device-taint', 'pod-gc', 'namespace-deletion', 'unknown'] as const),
  ]);
  return kind === 'unknown' ? { atMs, kind, graceSeconds: null } : { atMs, kind };
}

/** Milliseconds; up to 2 s if the pod has just been synced; longer behind a blocked SyncPod (SIGNALS.md §2 S2). */
const noticeSpan = (random: Random): Span => random.weighted<Span>([6, [2, 20]], [3, [500, 2000]], [1, [2000, 25_000]]);

function randomServices(random: Random, pod: PodStory): ServiceStory[] {
  const app = pod.name.split('-')[0] ?? pod.name;
  return Array.from(
    {
      length: random.weighted([1, 0], [5, 1], [2, 2]),
    },
    (_, index) => ({
      name: index === 0 ? app : `${app}-internal`,
      families: random.chance(0.15) ? ['IPv4', 'IPv6'] : ['IPv4'],
      publishNotReadyAddresses: random.chance(0.12),
      headless: random.chance(0.2),
      others: random.weighted([3, 0], [1, 2]),
    }),
  );
}

function randomFaults(random: Random, graceSeconds: number): FaultStory[] {
  const atMs = random.between(-500, Math.max(2, graceSeconds) * 1000);
  return random.weighted<FaultStory[]>(
    [12, []],
    [1, [{ kind: 'kubelet-restart', atMs, downMs: random.between(800, 5000) }]],
    [1, [{ kind: 'freeze', atMs, forMs: random.between(500, 80_000) }]],
    [0.3, [{ kind: 'freeze', atMs, forMs: null }]],
    [1, [{ kind: 'log-break', atMs }]],
  );
}

function randomLater(random: Random, pod: PodStory, faults: FaultStory[], trigger: TriggerStory): LaterStory[] {
  const later: LaterStory[] = [];
  if (pod.finalizers.includes('example.com/audit'))
    later.push({ kind: 'remove-finalizers', atMs: random.between(500, 60_000) });
  const isUndisturbed = trigger.kind === 'this-command' && faults.length === 0;
  if (!isUndisturbed || !random.chance(0.1)) return later;
  later.push({ kind: 'delete', atMs: random.between(1000, 6000), graceSeconds: random.pick([0, 1, 3, 60, null]) });
  return later;
}

const randomClocks = (random: Random): Story['clocks'] => {
  const skewed = random.chance(0.6);
  const clock = () =>
    skewed
      ? { offsetMs: random.between(-maxOffsetMs, maxOffsetMs), driftPpm: random.between(-maxDriftPpm, maxDriftPpm) }
      : { offsetMs: random.between(-20, 20), driftPpm: random.between(-10, 10) };
  return Object.fromEntries(clockNames.map((name) => [name, clock()])) as Record<ClockName, ReturnType<typeof clock>>;
};

const randomRuntime = (random: Random): Story['runtime'] => ({
  signalLagMs: random.weighted<Span>([6, [0.2, 4]], [1, [1, 500]]),
  killLagMs: random.weighted<Span>([6, [8, 20]], [1, [20, 300]]),
  returnMs: [2, random.pick([12, 100])],
});

function randomNetwork(random: Random): NetworkStory {
  const slow = random.chance(0.2);
  const watchMs: NetworkStory['watchMs'] = {};
  for (const resource of resources)
    watchMs[resource] = slow && random.chance(0.4) ? [1, 2000] : [0.3, random.pick([2.5, 30])];
  return {
    requestMs: random.weighted<Span>([6, [1, 5]], [1, [20, 400]]),
    watchMs,
    logMs: slow && random.chance(0.4) ? [1, 2000] : [0.5, 4],
  };
}
