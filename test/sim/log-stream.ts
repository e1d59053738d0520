/** `log?follow=true`: served by the kubelet, so it ends when the kubelet dies (SIGNALS.md §5, trap 36). */
import type { Container } from './container.ts';
import { sleep, until, type Process } from './virtual-time.ts';
import { draw, type World } from './world.ts';

export class LogStream {
  readonly #world: World;
  readonly #container: Container;
  #open = true;

  constructor(world: World, container: Container) {
    this.#world = world;
    this.#container = container;
    container.onLine = (text) => this.#read(text);
    world.kubelet.spawn(this.#waitForEnd());
  }

  /** Ends the stream, for example because the kubelet or the connection died. */
  cut(): void {
    if (!this.#open) return;
    this.#open = false;
    const { name } = this.#container.story;
    this.#send({ type: 'log-end', pod: this.#world.story.pod.name, container: name });
  }

  #read(text: string): void {
    const stamp = this.#world.clocks.node.nanoseconds(this.#world.time.now);
    this.#world.kubelet.spawn(this.#deliver(`${stamp} ${text}`));
  }

  *#deliver(line: string): Process {
    yield sleep(0);
    if (!this.#open) return;
    this.#send({ type: 'log', pod: this.#world.story.pod.name, container: this.#container.story.name, line });
  }

  /** The kubelet checks once a second whether the container still runs. */
  *#waitForEnd(): Process {
    yield until(this.#container.exited);
    yield sleep(this.#world.random.between(20, 1000));
    this.cut();
  }

  #send(row: Parameters<World['recorder']['send']>[2]): void {
    const stream = `log/${this.#container.story.name}`;
    this.#world.recorder.send(stream, draw(this.#world, this.#world.story.network.logMs), row);
  }
}
