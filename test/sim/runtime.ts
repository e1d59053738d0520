/** CRI StopContainer (SIGNALS.md §2 S8, S9): the signal once, the timeout in each call, then SIGKILL. */
import type { Container } from './container.ts';
import type { Process } from './virtual-time.ts';
import { sleep, until } from './virtual-time.ts';
import type { World } from './world.ts';
import { draw } from './world.ts';

export function* stopContainer(world: World, container: Container, timeoutSeconds: number): Process {
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
