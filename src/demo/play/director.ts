import { fromMs, formatStamp, parseStamp, type Clock, type Nanoseconds } from '../clock.ts';
import type { Cue, Story } from './story.ts';
import type { Truth } from '../scenario.ts';

/** Decides when each recorded change happens in this run; what then happens is the stage's affair. */
export interface Director {
  readonly moments: Moments;
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
    untilRecorded: (at) => Math.max(0, runTime(at) - clock.now()),
  };
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
