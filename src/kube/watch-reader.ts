/** One watch response, line by line with patience, and what ends it. */
import type { Around } from './around.ts';
import type { Cluster } from './cluster.ts';
import type { Outcome } from './decide.ts';
import type { LineEvent, Lines } from './lines.ts';
import { within } from './surroundings.ts';
import type { WatchLine } from './watch-line.ts';
import type { Ending } from './watch-position.ts';

export interface Reader extends Pick<Around, 'cluster' | 'signal' | 'health'> {
  next: Pull;
}

/** The next line, or `undefined` when none came in time; a line that comes late is not lost. */
export type Pull = (cluster: Cluster, ms: number, signal: AbortSignal) => Promise<LineEvent | undefined>;

export const createPull =
  ({ left, more }: Lines): Pull =>
  async ({ surroundings }, ms, signal) => {
    const line = left();
    if (line !== undefined) return line;
    await within(surroundings, more(), ms, signal);
    return left();
  };

/** What an ERROR frame inside a stream says. */
export function refusedInside({ refusal }: Extract<WatchLine, { kind: 'error' }>): Ending {
  const { status, retryAfterMs } = refusal;
  return {
    outcome: { kind: 'refused', status, frame: true, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    refusal,
    verb: 'watch',
  };
}

/** Why there is no line. */
export function outcomeOf(event: Exclude<LineEvent, { kind: 'line' }>): Outcome {
  if (event.kind === 'oversized') return event;
  return { kind: event.clean ? 'ended' : 'cut' };
}

export function end(outcome: Outcome): Ending {
  return { outcome, verb: 'watch' };
}
