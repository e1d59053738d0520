/** A container in the runtime: how PID 1 reacts to its signal, what it writes and how it exits. */
import type { AppStory, ContainerStory, StopSignal } from './story.ts';
import { Moment, sleep, type Process } from './virtual-time.ts';
import { fromTrigger, type World } from './world.ts';

export const signalNumbers: Record<StopSignal, number> = { SIGINT: 2, SIGQUIT: 3, SIGTERM: 15 };

/** What the runtime's own log would say; times in ns. */
interface StopTruth {
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
  /** Called for each line that the container writes. */
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

  /** Starts what the container does by itself. */
  begin(): void {
    const { app } = this.story;
    for (const line of app.lines) this.#spawn(this.#say(fromTrigger(this.#world, line.atMs), line.text));
    if (app.ownExit) this.#spawn(this.#end(fromTrigger(this.#world, app.ownExit.atMs), app.ownExit.code));
  }

  /** The stop signal arrives. The runtime sends it only once to a container (SIGNALS.md §2 "Kubelet restart"). */
  signal(): void {
    this.truth.signalAt = this.#world.time.now;
    const { app, stopSignal } = this.story;
    if (app.saysOnSignal) this.#spawn(this.#say(app.saysOnSignal.afterMs, app.saysOnSignal.text));
    if (app.closesAfterMs !== undefined) this.#spawn(this.#close(app.closesAfterMs));
    this.#spawn(this.#react(app, signalNumbers[stopSignal]));
  }

  /** A hook makes the application stop, like its stop signal would. */
  askToStop(): void {
    this.#spawn(this.#react(this.story.app, signalNumbers[this.story.stopSignal]));
  }

  /** SIGKILL. */
  kill(): void {
    this.truth.killAt = this.#world.time.now;
    this.#spawn(this.#end(this.#world.random.between(4, 9), 137));
  }

  #spawn(process: Process): void {
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
    this.exited.happen(this.#world.time.now);
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
