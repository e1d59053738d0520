/** SIGNALS.md §2 S5 to S9: stops all running containers in parallel: Killing, preStop, waiting for its turn, stop. */
import type { Container } from './container.ts';
import { runHook } from './hook.ts';
import type { HookTruth } from './hook.ts';
import type { Kubelet } from './kubelet.ts';
import { stopContainer } from './runtime.ts';
import type { Moment, Process } from './virtual-time.ts';
import { sleep, until } from './virtual-time.ts';
import type { World } from './world.ts';

/** S8: the shortest timeout that the kubelet gives the runtime. */
const minimumStopSeconds = 2;

/** `fails`: the runtime returns an error before anything has stopped (S11). */
export function* killPod(world: World, kubelet: Kubelet, grace: number, fails: boolean): Process {
  const running = kubelet.containers.filter((container) => container.running);
  const turns = new Map<Container, Moment>();
  for (const container of running) {
    turns.set(container, world.kubelet.spawn(killContainer(world, kubelet, container, grace, turns, fails)));
    yield sleep(world.random.between(0.01, 0.1));
  }
  for (const ended of turns.values()) yield until(ended);
}

function* killContainer(
  world: World,
  kubelet: Kubelet,
  container: Container,
  grace: number,
  turns: ReadonlyMap<Container, Moment>,
  fails: boolean,
): Process {
  kubelet.emit(container, 'Killing', `Stopping container ${container.story.name}`);
  const hookSeconds = yield* preStop(world, kubelet, container, grace);
  const left = grace - hookSeconds;
  const waitedSeconds = yield* waitForTurn(world, container, left, turns);
  if (fails) return yield sleep(world.random.between(5, 50));
  const timeout = Math.max(minimumStopSeconds, left - waitedSeconds);
  yield until(world.runtime.spawn(stopContainer(world, container, timeout)));
}

/** Returns the whole seconds that the hook took; the fraction is not counted (S6). */
function* preStop(
  world: World,
  kubelet: Kubelet,
  container: Container,
  grace: number,
): Generator<ReturnType<typeof sleep>, number, void> {
  const hook = container.story.preStop;
  if (!hook) return 0;
  const startAt = world.time.now;
  const truth: HookTruth = { startAt };
  if (!kubelet.hooks.has(container.story.name)) kubelet.hooks.set(container.story.name, truth);
  const failed = (): void => kubelet.emit(container, 'FailedPreStopHook', 'PreStopHook failed', 'Warning');
  yield* runHook(world, container, hook, grace, truth, failed);
  return Math.floor((world.time.now - startAt) / 1e9);
}

/** S7: a sidecar waits for all main containers and for the sidecars after it, while its grace period lasts. */
function* waitForTurn(
  world: World,
  container: Container,
  left: number,
  turns: ReadonlyMap<Container, Moment>,
): Generator<ReturnType<typeof sleep>, number, void> {
  if (container.story.kind !== 'sidecar' || left <= 0) return 0;
  const startAt = world.time.now;
  yield sleep(2); // by then every container has its entry in `turns`
  const order = [...turns.keys()];
  const before = order.filter((one) => one.story.kind === 'container' || order.indexOf(one) > order.indexOf(container));
  for (const one of before) {
    const ended = turns.get(one);
    if (ended) yield until(ended, left * 1000 - (world.time.now - startAt) / 1e6);
  }
  return Math.floor((world.time.now - startAt) / 1e9);
}
