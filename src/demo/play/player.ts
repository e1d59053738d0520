import { fromMs, formatStamp, parseStamp, type DemoClock, type Nanoseconds } from '../clock.ts';
import type { PreparedScenario, RecordedStep } from './prepare.ts';
import type { Truth } from '../scenario.ts';

/** Decides when each recorded step happens in this run; the `play` callback then makes it happen. */
export class Player {
  readonly moments: Moments;
  /** Resolves when the pod's end begins. */
  readonly begun: Promise<void>;
  /** Resolves when every step has been played. */
  readonly played: Promise<void>;
  #next = 0;
  #cancel = (): void => {};
  #cancelAttach: (() => void) | undefined;
  #begin = (): void => {};
  #finish = (): void => {};

  /** `attachDelayMs`: how long after the first watch of pods the pod's end begins, if no client's DELETE triggers it. */
  constructor(
    private readonly scenario: PreparedScenario,
    private readonly clock: DemoClock,
    private readonly attachDelayMs: number,
    private readonly play: (step: RecordedStep) => void,
  ) {
    this.moments = { startedAt: clock.now(), origin: scenario.trigger.at };
    this.begun = new Promise((resolve) => (this.#begin = resolve));
    this.played = new Promise((resolve) => (this.#finish = resolve));
  }

  /** To call when a client opens a watch: what was recorded before the trigger starts to play. */
  watched(resource: string): void {
    if (this.moments.watchedAt === undefined) {
      this.moments.watchedAt = this.clock.now();
      this.catchUp();
    }
    if (this.scenario.trigger.kind === 'other' && resource === 'pods' && this.moments.begunAt === undefined)
      this.#cancelAttach ??= this.clock.setTimeout(() => this.begin(), this.attachDelayMs);
  }

  /** Starts the pod's end now, at the recorded time `origin` (default: the trigger's). Later calls change nothing. */
  begin(origin = this.scenario.trigger.at): void {
    if (this.moments.begunAt !== undefined) return;
    this.#cancelAttach?.();
    this.moments.begunAt = this.clock.now();
    this.moments.origin = origin;
    this.catchUp();
    this.#begin();
  }

  /** Milliseconds from now until a recorded time; 0 if it has passed. */
  untilRecorded(at: number): number {
    return Math.max(0, Number(toRunTime(this.scenario, this.moments, fromMs(at)) / 1_000n) / 1_000 - this.clock.now());
  }

  /** Plays all steps that are due, then waits for the next one. */
  catchUp(): void {
    this.#cancel();
    const { steps, trigger } = this.scenario;
    const hasBegun = this.moments.begunAt !== undefined;
    for (let step = steps[this.#next]; step && (hasBegun || step.at < trigger.at); step = steps[this.#next]) {
      // Steps before the origin must have happened when a client's request takes effect.
      const wait = hasBegun && step.at < this.moments.origin ? 0 : this.untilRecorded(step.at);
      if (wait > 0) {
        this.#cancel = this.clock.setTimeout(() => this.catchUp(), wait);
        return;
      }
      this.#next += 1;
      this.play(step);
    }
    if (hasBegun && this.#next === steps.length) this.#finish();
  }

  stop(): void {
    this.#cancel();
    this.#cancelAttach?.();
  }
}

/** When the turning points of the recording come in this run, in milliseconds of the server's clock. */
export interface Moments {
  /** The server began to listen. */
  startedAt: number;
  /** A client opened its first watch. */
  watchedAt?: number;
  /** The recorded time from which the end is played: the trigger's, unless a client starts at a later time. */
  origin: number;
  /** A client's DELETE arrived, or the pod's end began on its own. */
  begunAt?: number;
}

/**
 * Converts a recorded time to this run. Times before `ready` count from the server's start, times up to the trigger
 * from the first watch, later ones from the DELETE's arrival. The order of recorded times is kept.
 */
export function toRunTime({ readyAt }: PreparedScenario, moments: Moments, recorded: Nanoseconds): Nanoseconds {
  const ready = fromMs(readyAt);
  const origin = fromMs(moments.origin);
  const begun = moments.begunAt === undefined ? undefined : fromMs(moments.begunAt);
  if (recorded <= ready) return recorded + fromMs(moments.startedAt) - ready;
  if (recorded >= origin && begun !== undefined) return recorded + begun - origin;
  const moved = recorded + fromMs(moments.watchedAt ?? moments.startedAt) - ready;
  return begun !== undefined && moved > begun ? begun : moved;
}

const truthTimes = ['stop_requested', 'stop_signal_sent', 'sigkill_sent', 'exited'] as const;

/** What really happened to the containers, with times of this run on the client's clock. */
export function truthsInRunTime(scenario: PreparedScenario, moments: Moments): Truth[] {
  return scenario.truths.map((truth) => {
    const moved = { ...truth };
    for (const name of truthTimes) {
      const stamp = parseStamp(truth[name] ?? '');
      if (stamp) moved[name] = formatStamp(toRunTime(scenario, moments, stamp.at), 9);
    }
    return moved;
  });
}
