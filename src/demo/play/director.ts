import { fromMs, formatStamp, parseStamp, type Clock, type Nanoseconds } from '../clock.ts';
import type { Cue, Story } from './story.ts';
import type { Truth } from '../scenario.ts';

/** Decides when each recorded change happens in this run; what then happens is the stage's affair. */
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

  /** `attachDelayMs`: how long after the first watch of pods a story begins that no client's DELETE triggers. */
  constructor(story: Story, clock: Clock, attachDelayMs: number, play: (cue: Cue) => void) {
    this.moments = { startedAt: clock.now(), origin: story.trigger.at };
    this.played = new Promise<void>((resolve) => (this.#finish = resolve));
    this.#story = story;
    this.#clock = clock;
    this.#attachDelayMs = attachDelayMs;
    this.#play = play;
  }

  /** Calls back when the pod's end begins, at once if it has. */
  whenBegun(listener: () => void): void {
    if (this.moments.begunAt === undefined) this.#beginListeners.push(listener);
    else listener();
  }

  /** A client opened a watch: what was recorded before the trigger starts to happen. */
  watched(resource: string): void {
    if (this.moments.watchedAt === undefined) {
      this.moments.watchedAt = this.#clock.now();
      this.catchUp();
    }
    if (this.#story.trigger.kind === 'other' && resource === 'pods' && this.moments.begunAt === undefined)
      this.#cancelAttach ??= this.#clock.setTimeout(() => this.begin(), this.#attachDelayMs);
  }

  /** The pod's end begins now, at the recorded time `origin` (default: the trigger's). Later calls change nothing. */
  begin(origin = this.#story.trigger.at): void {
    if (this.moments.begunAt !== undefined) return;
    this.#cancelAttach?.();
    this.moments.begunAt = this.#clock.now();
    this.moments.origin = origin;
    this.catchUp();
    for (const listener of this.#beginListeners) listener();
  }

  /** Milliseconds from now until a recorded time; 0 where it has passed. */
  untilRecorded(at: number): number {
    return Math.max(0, Number(toRunTime(this.#story, this.moments, fromMs(at)) / 1_000n) / 1_000 - this.#clock.now());
  }

  /** Plays at once what is due by now, then sleeps until the next cue. */
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

/** Whatever came before the story's origin has happened by the time a client's request takes effect. */
const isOverdue = (cue: Cue, { begunAt, origin }: Moments): boolean => begunAt !== undefined && cue.at < origin;

/** When the story's turning points really came, in milliseconds of the server's clock. */
export interface Moments {
  /** The server began to listen. */
  startedAt: number;
  /** A client opened its first watch. */
  watchedAt?: number;
  /** The recorded time from which the end is played; the trigger's, unless a client came in later in the story. */
  origin: number;
  /** A client's DELETE arrived, or the story began on its own. */
  begunAt?: number;
}

/**
 * When something recorded happens in this run. Time before `ready` hangs on the server's start, time up to the trigger
 * on the first watch, time after it on the DELETE's arrival; no instant is moved past one that was recorded after it.
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

const instants = ['stop_requested', 'stop_signal_sent', 'sigkill_sent', 'exited'] as const;

/** The containers' fates with their instants moved to this run, on the client's clock. */
export function truthsInRunTime(story: Story, moments: Moments): Truth[] {
  return story.truths.map((truth) => ({ ...truth, ...Object.fromEntries(instants.flatMap(moved(truth))) }));

  function moved(truth: Truth): (name: (typeof instants)[number]) => [string, string][] {
    return (name) => {
      const stamp = parseStamp(truth[name] ?? '');
      return stamp === undefined ? [] : [[name, formatStamp(toRunTime(story, moments, stamp.at), 9)]];
    };
  }
}
