/** SIGNALS.md §2 S5 to S9: stops all running containers in parallel: Killing, preStop, waiting for its turn, stop. */
import type { Container } from './container.ts';
import type { Kubelet } from './kubelet.ts';
import type { HookStory } from './story.ts';
import { sleep, until, type Moment, type Process, type Wait } from './virtual-time.ts';
import { draw, type World } from './world.ts';

export interface HookTruth {
  startAt: number;
  endAt?: number;
  outcome?: 'completed' | 'failed' | 'cut-off';
}

/** S8: the shortest timeout that the kubelet gives the runtime. */
const minimumStopSeconds = 2;

/** `fails`: the runtime returns an error before anything has stopped (S11). */
export function* killPod(world: World, kubelet: Kubelet, grace: number, fails: boolean): Process {
  const turns = new Map<Container, Moment>();
  for (const container of kubelet.containers.filter(({ running }) => running)) {
    turns.set(container, world.kubelet.spawn(killContainer(container)));
    yield sleep(world.random.between(0.01, 0.1));
  }
  for (const ended of turns.values()) yield until(ended);

  function* killContainer(container: Container): Process {
    kubelet.emit(container, 'Killing', `Stopping container ${container.story.name}`);
    const left = grace - (yield* preStop(container));
    const waitedSeconds = yield* waitForTurn(container, left);
    if (fails) return yield sleep(world.random.between(5, 50));
    const timeout = Math.max(minimumStopSeconds, left - waitedSeconds);
    yield until(world.runtime.spawn(stopContainer(world, container, timeout)));
  }

  /** Returns the whole seconds that the hook took; the fraction is not counted (S6). */
  function* preStop(container: Container): Generator<Wait, number, void> {
    const { name, preStop: hook } = container.story;
    if (!hook) return 0;
    const startAt = world.time.now;
    const truth: HookTruth = { startAt };
    if (!kubelet.hooks.has(name)) kubelet.hooks.set(name, truth);
    yield* runHook(container, hook, truth);
    return Math.floor((world.time.now - startAt) / 1e9);
  }

  /** S6: runs for at most the grace period; only a failure is ever reported. */
  function* runHook(container: Container, hook: HookStory, truth: HookTruth): Process {
    const end = (outcome: HookTruth['outcome']): void => {
      truth.endAt = world.time.now;
      truth.outcome = outcome;
      if (outcome === 'failed') hookFailed(container);
    };
    const graceMs = grace * 1000;
    if (hook.kind === 'tcpSocket') return end('failed');
    if (hook.kind === 'sleep') {
      yield sleep(Math.min(hook.seconds * 1000, graceMs));
      return end(hook.seconds * 1000 > graceMs ? 'cut-off' : 'completed');
    }
    // An exec dies with its container, and an HTTP request loses its connection: both count as failures.
    const takes = hook.takesMs ?? Infinity;
    if (hook.stopsAppMs !== undefined) world.node.spawn(stopApp(container, hook.stopsAppMs));
    yield until(container.exited, Math.min(takes, graceMs));
    if (!container.running) return end('failed');
    if (takes <= graceMs) return end(hook.fails ? 'failed' : 'completed');
    end('cut-off');
    world.kubelet.spawn(endLater(container, takes - graceMs, hook.fails));
  }

  /** A hook that is cut off runs on: its failure is reported when it ends or dies with the container. */
  function* endLater(container: Container, leftMs: number, fails: boolean): Process {
    yield until(container.exited, leftMs);
    if (container.running && !fails) return;
    yield sleep(world.random.between(1, 8));
    hookFailed(container);
  }

  /** Its Event comes late, or never if the hook outlives the grace period. */
  function hookFailed(container: Container): void {
    kubelet.emit(container, 'FailedPreStopHook', 'PreStopHook failed', 'Warning');
  }

  /** S7: a sidecar waits for all main containers and for the sidecars after it, while its grace period lasts. */
  function* waitForTurn(container: Container, left: number): Generator<Wait, number, void> {
    if (container.story.kind !== 'sidecar' || left <= 0) return 0;
    const startAt = world.time.now;
    yield sleep(2); // by then every container has its entry in `turns`
    const order = [...turns.keys()];
    const before = order.filter((one, index) => one.story.kind === 'container' || index > order.indexOf(container));
    for (const one of before) {
      const ended = turns.get(one);
      if (ended) yield until(ended, left * 1000 - (world.time.now - startAt) / 1e6);
    }
    return Math.floor((world.time.now - startAt) / 1e9);
  }
}

function* stopApp(container: Container, afterMs: number): Process {
  yield sleep(afterMs);
  if (container.running) container.askToStop();
}

/** CRI StopContainer (SIGNALS.md §2 S8, S9): the signal once, the timeout in each call, then SIGKILL. */
function* stopContainer(world: World, container: Container, timeoutSeconds: number): Process {
  const { truth } = container;
  truth.requestedAt ??= world.time.now;
  truth.timeoutSeconds ??= timeoutSeconds;
  if (truth.signalAt === undefined && container.running) {
    yield sleep(draw(world, world.story.runtime.signalLagMs));
    if (container.running) container.signal();
  }
  yield until(container.exited, timeoutSeconds * 1000);
  if (container.running) {
    yield sleep(draw(world, world.story.runtime.killLagMs));
    if (container.running) container.kill();
    yield until(container.exited);
  }
  yield sleep(draw(world, world.story.runtime.returnMs));
}
