/** Containers drawn from a seed: hooks, signals, what the app does with them, what it writes. */
import { signalNumbers } from './container.ts';
import type { Random } from './random.ts';
import type { AppStory, ContainerStory, HookStory, PodStory, Reaction, StopSignal } from './story.ts';

/** `noticeMs`: the latest start of the termination; an app exits by itself only later, or it would be restarted. */
export function randomContainers(random: Random, pod: PodStory, noticeMs: number): ContainerStory[] {
  const sidecars = random.weighted([6, 0], [1, 1], [1, 2]);
  const mains = random.weighted([6, 1], [2, 2], [1, 3]);
  const crashed = random.chance(0.05);
  return [
    ...Array.from({ length: sidecars }, (_, index) =>
      randomContainer(random, pod, noticeMs, `side-${index}`, 'sidecar'),
    ),
    ...Array.from({ length: mains }, (_, index) => {
      const container = randomContainer(random, pod, noticeMs, index === 0 ? 'app' : `app-${index}`, 'container');
      return crashed ? { ...container, state: downState(random) } : container;
    }),
  ];
}

const downState = (random: Random): ContainerStory['state'] =>
  random.chance(0.7)
    ? { kind: 'crashed', code: random.pick([1, 2, 137]) }
    : { kind: 'waiting', reason: 'ImagePullBackOff' };

function randomContainer(
  random: Random,
  pod: PodStory,
  noticeMs: number,
  name: string,
  kind: ContainerStory['kind'],
): ContainerStory {
  const stopSignal = random.weighted<StopSignal>([12, 'SIGTERM'], [1, 'SIGINT'], [1, 'SIGQUIT']);
  const preStop = random.chance(0.45) ? randomHook(random, pod.graceSeconds) : undefined;
  const readiness = {
    periodMs: random.pick([1000, 2000]),
    failureThreshold: random.whole(1, 3),
    phaseMs: random.between(0, 2000),
  };
  return {
    name,
    kind,
    state: { kind: 'running' },
    ...(preStop ? { preStop } : {}),
    stopSignal,
    ...(kind === 'container' && random.chance(0.5) ? { readiness } : {}),
    app: randomApp(random, pod.graceSeconds * 1000, noticeMs, stopSignal),
    logged: random.chance(0.85),
  };
}

function randomHook(random: Random, graceSeconds: number): HookStory {
  const grace = graceSeconds * 1000;
  const takesMs = random.weighted<number | null>(
    [5, random.between(20, Math.max(100, grace * 0.8))],
    [1, random.between(grace, grace + 10_000)],
    [1, null],
  );
  const fails = random.chance(0.25);
  const stops = random.chance(0.15) ? { stopsAppMs: random.between(5, Math.max(10, grace * 0.3)) } : {};
  return random.weighted<HookStory>(
    [4, { kind: 'exec', takesMs, fails, ...stops }],
    [2, { kind: 'httpGet', takesMs, fails, ...stops }],
    [3, { kind: 'sleep', seconds: random.whole(1, graceSeconds + 2) }],
    [1, { kind: 'tcpSocket' }],
  );
}

function randomApp(random: Random, graceMs: number, noticeMs: number, stopSignal: StopSignal): AppStory {
  const afterMs = random.weighted(
    [2, random.between(1, 60)],
    [4, random.between(60, graceMs * 0.9 + 100)],
    [1, random.between(graceMs, graceMs + 4000)],
  );
  const trapped = random.weighted([3, random.between(0.2, 5)], [2, random.between(5, 250)]);
  const says = random.weighted([4, 'SIGTERM received, draining'], [2, 'shutting down'], [1, 'closing 12 connections']);
  const ownExit = { atMs: noticeMs + random.between(100, graceMs + 2000), code: random.pick([0, 1, 3, 137]) };
  return {
    onSignal: randomReaction(random, afterMs, stopSignal),
    ...(random.chance(0.05) ? { ownExit } : {}),
    lost: random.chance(0.02),
    ...(random.chance(0.7) ? { bootLine: 'serving on :8080' } : {}),
    lines: randomLines(random, graceMs + noticeMs),
    ...(random.chance(0.6) ? { saysOnSignal: { afterMs: trapped, text: says } } : {}),
    ...(random.chance(0.5) ? { saysBeforeExit: { beforeMs: random.between(0.5, 300), text: 'bye' } } : {}),
    ...(random.chance(0.3) ? { closesAfterMs: random.between(1, 3000) } : {}),
  };
}

const randomReaction = (random: Random, afterMs: number, stopSignal: StopSignal): Reaction =>
  random.weighted<Reaction>(
    [8, { kind: 'exits', afterMs, code: 0 }],
    [2, { kind: 'dies' }],
    [1, { kind: 'exits', afterMs, code: 128 + signalNumbers[stopSignal] }],
    [1, { kind: 'exits', afterMs, code: random.pick([1, 2, 70]) }],
    [3, { kind: 'ignores' }],
    [0.6, { kind: 'oom', afterMs }],
    [0.4, { kind: 'child-oom', afterMs, code: random.pick([0, 143]) }],
    [0.3, { kind: 'exits', afterMs: Math.min(afterMs, 900), code: 137 }],
  );

/** Apps write at any time, also between Killing and the signal. */
function randomLines(random: Random, untilMs: number): AppStory['lines'] {
  const count = random.weighted([5, 0], [2, random.whole(1, 6)], [1, random.whole(10, 40)]);
  return Array.from({ length: count }, () => ({
    atMs: random.between(-900, untilMs + 2000),
    text: random.pick(['GET /healthz 200', 'worker idle', 'flushed 3 records']),
  })).sort((a, b) => a.atMs - b.atMs);
}
