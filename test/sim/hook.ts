/** preStop (SIGNALS.md §2 S6): runs for at most the grace; only a failure is ever reported. */
import type { Container } from './container.ts';
import type { HookStory } from './story.ts';
import { until, sleep, type Process } from './virtual-time.ts';
import type { World } from './world.ts';

export interface HookTruth {
  startAt: number;
  endAt?: number;
  outcome?: 'completed' | 'failed' | 'cut-off';
}

/** `failed` posts FailedPreStopHook: late or never if the hook outlives the grace period. */
export function* runHook(
  world: World,
  container: Container,
  hook: HookStory,
  graceSeconds: number,
  truth: HookTruth,
  failed: () => void,
): Process {
  const grace = graceSeconds * 1000;
  const end = (outcome: HookTruth['outcome']): void => {
    truth.endAt = world.time.now;
    truth.outcome = outcome;
    if (outcome === 'failed') failed();
  };
  if (hook.kind === 'tcpSocket') return end('failed');
  if (hook.kind === 'sleep') {
    yield sleep(Math.min(hook.seconds * 1000, grace));
    return end(hook.seconds * 1000 > grace ? 'cut-off' : 'completed');
  }
  // An exec dies with its container, and an HTTP request loses its connection: both count as failures.
  const takes = hook.takesMs ?? Infinity;
  if (hook.stopsAppMs !== undefined) world.node.spawn(stopApp(container, hook.stopsAppMs));
  yield until(container.exited, Math.min(takes, grace));
  if (!container.running) return end('failed');
  if (takes <= grace) return end(hook.fails ? 'failed' : 'completed');
  end('cut-off');
  world.kubelet.spawn(endLater(world, container, takes - grace, hook.fails, failed));
}

function* stopApp(container: Container, afterMs: number): Process {
  yield sleep(afterMs);
  if (container.running) container.askToStop();
}

/** A hook that is cut off runs on: its failure is reported when it ends or dies with the container. */
function* endLater(world: World, container: Container, leftMs: number, fails: boolean, failed: () => void): Process {
  yield until(container.exited, leftMs);
  if (container.running && !fails) return;
  yield sleep(world.random.between(1, 8));
  failed();
}
