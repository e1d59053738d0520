import { fromMs, type Nanoseconds } from './nanoseconds.ts';
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
