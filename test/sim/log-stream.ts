/** `log?follow=true`: served by the kubelet, so it ends when the kubelet dies (SIGNALS.md §5, trap 36). */
import type { Container } from './container.ts';
import { sleep, until, type Process } from './virtual-time.ts';
import { draw, type World } from './world.ts';

/** Returns what ends the stream, for example because the kubelet or the connection died. */
export function followLog(world: World, container: Container): () => void {
  const about = { pod: world.story.pod.name, container: container.story.name };
  let isOpen = true;
  const send = (row: Parameters<World['recorder']['send']>[2]): number =>
    world.recorder.send(`log/${about.container}`, draw(world, world.story.network.logMs), row);
  const cut = (): void => {
    if (isOpen) send({ type: 'log-end', ...about });
    isOpen = false;
  };
  container.onLine = (text) => {
    world.kubelet.spawn(deliver(`${world.clocks.node.nanoseconds(world.time.now)} ${text}`));
  };
  world.kubelet.spawn(waitForEnd());
  return cut;

  function* deliver(line: string): Process {
    yield sleep(0);
    if (isOpen) send({ type: 'log', ...about, line });
  }

  /** The kubelet checks once a second whether the container still runs. */
  function* waitForEnd(): Process {
    yield until(container.exited);
    yield sleep(world.random.between(20, 1000));
    cut();
  }
}
