import { fromMs, formatStamp, parseStamp, type Clock, type Nanoseconds } from '../clock.ts';
import type { Cue, Story } from './story.ts';
import type { Truth } from '../scenario.ts';

/** Decides when each recorded cue happens in this run; the `play` callback then makes it happen. */
export class Director {
  readonly moments: Moments;
  /** Resolves when every cue has been played. */
  readonly played: Promise<void>;
  readonly #story: Story;
  readonly #clock: Clock;
  readonly #attachDelayMs: number;
  readonly #play: (cue: Cue) => void;
  readonly #beginListeners: (() => void)[] = [];
  #next = 0;
  #cancel = (): void => {};
  #cancelAttach: (() => void) | undefined;
  #finish = (): void => {};

  /** `attachDelayMs`: if no client's DELETE triggers the story, how long after the first watch of pods it begins. */
  constructor(story: Story, clock: Clock, attachDelayMs: number, play: (cue: Cue) => void) {
    this.moments = { startedAt: clock.now(), origin: story.trigger.at };
    this.played = new Promise<void>((resolve) => (this.#finish = resolve));
    this.#story = story;
    this.#clock = clock;
    this.#attachDelayMs = attachDelayMs;
    this.#play = play;
  }

  /** Calls back when the pod's end begins; at once if it has begun. */
  whenBegun(listener: () => void): void {
    if (this.moments.begunAt === undefined) this.#beginListeners.push(listener);
    else listener();
  }

  /** To call when a client opens a watch: what was recorded before the trigger starts to play. */
  watched(resource: string): void {
    if (this.moments.watchedAt === undefined) {
      this.moments.watchedAt = this.#clock.now();
      this.catchUp();
    }
    if (this.#story.trigger.kind === 'other' && resource === 'pods' && this.moments.begunAt === undefined)
      this.#cancelAttach ??= this.#clock.setTimeout(() => this.begin(), this.#attachDelayMs);
  }

  /** Starts the pod's end now, at the recorded time `origin` (default: the trigger's). Later calls change nothing. */
  begin(origin = this.#story.trigger.at): void {
    if (this.moments.begunAt !== undefined) return;
    this.#cancelAttach?.();
    this.moments.begunAt = this.#clock.now();
    this.moments.origin = origin;
    this.catchUp();
    for (const listener of this.#beginListeners) listener();
  }

  /** Milliseconds from now until a recorded time; 0 if it has passed. */
  untilRecorded(at: number): number {
    return Math.max(0, Number(toRunTime(this.#story, this.moments, fromMs(at)) / 1_000n) / 1_000 - this.#clock.now());
  }

  /** Plays all cues that are due, then waits for the next one. */
  catchUp(): void {
    this.#cancel();
    const { cues, trigger } = this.#story;
    const hasBegun = this.moments.begunAt !== undefined;
    for (let cue = cues[this.#next]; cue && (hasBegun || cue.at < trigger.at); cue = cues[this.#next]) {
      const wait = isOverdue(cue, this.moments) ? 0 : this.untilRecorded(cue.at);
      if (wait > 0) {
        this.#cancel = this.#clock.setTimeout(() => this.catchUp(), wait);
        return;
      }
      this.#next += 1;
      this.#play(cue);
    }
    if (hasBegun && this.#next === cues.length) this.#finish();
  }

  stop(): void {
    this.#cancel();
    this.#cancelAttach?.();
  }
}

/** Cues before the story's origin must have happened when a client's request takes effect. */
const isOverdue = (cue: Cue, { begunAt, origin }: Moments): boolean => begunAt !== undefined && cue.at < origin;

/** When the turning points of the story come in this run, in milliseconds of the server's clock. */
export interface Moments {
  /** The server began to listen. */
  startedAt: number;
  /** A client opened its first watch. */
  watchedAt?: number;
  /** The recorded time from which the end is played: the trigger's, unless a client starts later in the story. */
  origin: number;
  /** A client's DELETE arrived, or the story began on its own. */
  begunAt?: number;
}

/**
 * Converts a recorded time to this run. Times before `ready` count from the server's start, times up to the trigger
 * from the first watch, later ones from the DELETE's arrival. The order of recorded times is kept.
 */
export function toRunTime(story: Pick<Story, 'readyAt'>, moments: Moments, recorded: Nanoseconds): Nanoseconds {
  const ready = fromMs(story.readyAt);
  const origin = fromMs(moments.origin);
  const begun = moments.begunAt === undefined ? undefined : fromMs(moments.begunAt);
  if (recorded <= ready) return recorded + fromMs(moments.startedAt) - ready;
  if (recorded >= origin && begun !== undefined) return recorded + begun - origin;
  const moved = recorded + fromMs(moments.watchedAt ?? moments.startedAt) - ready;
  return begun !== undefined && moved > begun ? begun : moved;
}

const truthTimes = ['stop_requested', 'stop_signal_sent', 'sigkill_sent', 'exited'] as const;

/** What really happened to the containers, with times of this run on the client's clock. */
export function truthsInRunTime(story: Story, moments: Moments): Truth[] {
  return story.truths.map((truth) => ({ ...truth, ...Object.fromEntries(truthTimes.flatMap(moved(truth))) }));

  function moved(truth: Truth): (name: (typeof truthTimes)[number]) => [string, string][] {
    return (name) => {
      const stamp = parseStamp(truth[name] ?? '');
      return stamp === undefined ? [] : [[name, formatStamp(toRunTime(story, moments, stamp.at), 9)]];
    };
  }
}
