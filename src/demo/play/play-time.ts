import type { Truth } from '../scenario.ts';
import { formatStamp, fromMs, parseStamp, type Nanoseconds } from './nanoseconds.ts';
import type { Story } from './story.ts';

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
