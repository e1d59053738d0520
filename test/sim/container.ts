/** A container as the runtime has it: PID 1, what it does with its signal, what it writes, how it ends. */
import type { AppStory, ContainerStory, StopSignal } from './story.ts';
import type { Process } from './virtual-time.ts';
import { Moment, sleep } from './virtual-time.ts';
import type { World } from './world.ts';
import { fromTrigger } from './world.ts';

export const signalNumbers: Record<StopSignal, number> = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGUSR1: 10, SIGTERM: 15 };

/** What the runtime's own log would say; ns. */
export interface StopTruth {
  requestedAt?: number;
  timeoutSeconds?: number;
  signalAt?: number;
  killAt?: number;
  exitAt?: number;
  exitCode?: number;
}

export class Container {
  readonly story: ContainerStory;
  readonly exited = new Moment();
  readonly truth: StopTruth = {};
  /** Stamped lines, as the runtime reads them. */
  onLine: (text: string) => void = () => undefined;
  running: boolean;
  listening: boolean;
  reason = 'Completed';
  readonly #world: World;

  constructor(world: World, story: ContainerStory, running: boolean) {
    this.#world = world;
    this.story = story;
    this.running = running;
    this.listening = running;
  }

  /** What it does without being asked. */
  begin(): void {
    const { app } = this.story;
    for (const line of app.lines) this.#soon(this.#say(fromTrigger(this.#world, line.atMs), line.text));
    if (app.ownExit) this.#soon(this.#end(fromTrigger(this.#world, app.ownExit.atMs), app.ownExit.code));
  }

  /** The stop signal arrives; the runtime sends it once in a container's life (SIGNALS.md §2 "Kubelet restart"). */
  signal(): void {
    this.truth.signalAt = this.#world.time.now;
    const { app, stopSignal } = this.story;
    if (app.saysOnSignal) this.#soon(this.#say(app.saysOnSignal.afterMs, app.saysOnSignal.text));
    if (app.closesAfterMs !== undefined) this.#soon(this.#close(app.closesAfterMs));
    this.#soon(this.#react(app, signalNumbers[stopSignal]));
  }

  /** A hook makes it stop, as its signal would. */
  askToStop(): void {
    this.#soon(this.#react(this.story.app, signalNumbers[this.story.stopSignal]));
  }

  /** SIGKILL. */
  kill(): void {
    this.truth.killAt = this.#world.time.now;
    this.#soon(this.#end(this.#world.random.between(4, 9), 137));
  }

  #soon(process: Process): void {
    this.#world.node.spawn(process);
  }

  *#react(app: AppStory, signal: number): Process {
    const reaction = app.onSignal;
    if (reaction.kind === 'exits') yield* this.#end(reaction.afterMs, reaction.code);
    else if (reaction.kind === 'dies') yield* this.#end(this.#world.random.between(1, 60), 128 + signal);
    else if (reaction.kind === 'oom') yield* this.#end(reaction.afterMs, 137, 'OOMKilled');
    else if (reaction.kind === 'child-oom') yield* this.#end(reaction.afterMs, reaction.code, 'OOMKilled');
  }

  *#end(afterMs: number, code: number, reason?: string): Process {
    const last = this.story.app.saysBeforeExit;
    const lead = last && code !== 137 ? Math.min(last.beforeMs, afterMs) : 0;
    yield sleep(afterMs - lead);
    if (last && lead > 0 && this.running) this.onLine(last.text);
    yield sleep(lead);
    if (!this.running) return;
    this.running = false;
    this.listening = false;
    this.reason = reason ?? (code === 0 ? 'Completed' : 'Error');
    this.truth.exitAt = this.#world.time.now;
    this.truth.exitCode = code;
    this.exited.come(this.#world.time.now);
  }

  *#say(afterMs: number, text: string): Process {
    yield sleep(afterMs);
    if (this.running) this.onLine(text);
  }

  *#close(afterMs: number): Process {
    yield sleep(afterMs);
    this.listening = false;
  }
}
