/** preStop (SIGNALS.md §2 S6): runs for at most the grace; only a failure is ever reported. */
import type { Container } from './container.ts';
import type { HookStory } from './story.ts';
import type { Process } from './virtual-time.ts';
import { until, sleep } from './virtual-time.ts';
import type { World } from './world.ts';

export interface HookTruth {
  startAt: number;
  endAt?: number;
  outcome?: 'completed' | 'failed' | 'cut-off';
}

/** `failed` posts FailedPreStopHook; it comes late, or never, where the hook outlives its grace. */
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
  // An exec dies with its container, a request to it loses its connection: both count as failures.
  const takes = hook.takesMs ?? Infinity;
  if (hook.stopsAppMs !== undefined) world.node.spawn(stopApp(container, hook.stopsAppMs));
  yield until(container.exited, Math.min(takes, grace));
  if (!container.running) return end('failed');
  if (takes <= grace) return end(hook.fails ? 'failed' : 'completed');
  end('cut-off');
  world.kubelet.spawn(endAfterAll(world, container, takes - grace, hook.fails, failed));
}

function* stopApp(container: Container, afterMs: number): Process {
  yield sleep(afterMs);
  if (container.running) container.askToStop();
}

/** Cut off, the hook lives on: its failure is reported when it ends, or when it dies with the container. */
function* endAfterAll(world: World, container: Container, leftMs: number, fails: boolean, failed: () => void): Process {
  yield until(container.exited, leftMs);
  if (container.running && !fails) return;
  yield sleep(world.random.between(1, 8));
  failed();
}
