import type { Clock } from '../clock.ts';
import { fromMs } from './nanoseconds.ts';
import { toRunTime, type Moments } from './play-time.ts';
import type { Cue, Story } from './story.ts';

/** Decides when each recorded change happens in this run; what then happens is the stage's affair. */
export interface Director {
  readonly moments: Moments;
  /** Whether the pod's end has begun. */
  begun(): boolean;
  /** Calls back when the pod's end begins, at once if it has. */
  whenBegun(listener: () => void): void;
  /** A client opened a watch: what was recorded before the trigger starts to happen. */
  watched(resource: string): void;
  /** The pod's end begins now, at the recorded time `origin` (default: the trigger's). Later calls change nothing. */
  begin(origin?: number): void;
  /** Milliseconds from now until a recorded time; 0 where it has passed. */
  untilRecorded(at: number): number;
  /** Plays at once what is due by now. */
  catchUp(): void;
  /** Resolves when every cue has been played. */
  readonly played: Promise<void>;
  stop(): void;
}

/** `attachDelayMs`: how long after the first watch of pods a story begins that no client's DELETE triggers. */
export function createDirector(story: Story, clock: Clock, attachDelayMs: number, play: (cue: Cue) => void): Director {
  const moments: Moments = { startedAt: clock.now(), origin: story.trigger.at };
  const opening = story.cues.filter((cue) => cue.at < story.trigger.at);
  const beginListeners: (() => void)[] = [];
  let next = 0;
  let cancel: (() => void) | undefined;
  let cancelAttach: (() => void) | undefined;
  let finish = () => {};
  const played = new Promise<void>((resolve) => (finish = resolve));

  function runTime(at: number): number {
    return Number(toRunTime(story, moments, fromMs(at)) / 1_000n) / 1_000;
  }

  /** Plays what is due, then sleeps until the next cue. */
  function advance(): void {
    cancel?.();
    const last = moments.begunAt === undefined ? opening.length : story.cues.length;
    for (let cue = story.cues[next]; next < last && cue !== undefined; cue = story.cues[next]) {
      const wait = isOverdue(cue, moments) ? 0 : runTime(cue.at) - clock.now();
      if (wait > 0) {
        cancel = clock.setTimeout(advance, wait);
        return;
      }
      next += 1;
      play(cue);
    }
    if (next === story.cues.length && moments.begunAt !== undefined) finish();
  }

  function begin(origin = story.trigger.at): void {
    if (moments.begunAt !== undefined) return;
    cancelAttach?.();
    moments.begunAt = clock.now();
    moments.origin = origin;
    advance();
    for (const listener of beginListeners) listener();
  }

  function watched(resource: string): void {
    if (moments.watchedAt === undefined) {
      moments.watchedAt = clock.now();
      advance();
    }
    if (story.trigger.kind === 'other' && resource === 'pods' && moments.begunAt === undefined) {
      cancelAttach ??= clock.setTimeout(() => begin(), attachDelayMs);
    }
  }

  return {
    moments,
    played,
    begin,
    watched,
    stop() {
      cancel?.();
      cancelAttach?.();
    },
    catchUp: advance,
    whenBegun: (listener) => (moments.begunAt === undefined ? void beginListeners.push(listener) : listener()),
    begun: () => moments.begunAt !== undefined,
    untilRecorded: (at) => Math.max(0, runTime(at) - clock.now()),
  };
}

/** Whatever came before the story's origin has happened by the time a client's request takes effect. */
function isOverdue(cue: Cue, { begunAt, origin }: Moments): boolean {
  return begunAt !== undefined && cue.at < origin;
}
