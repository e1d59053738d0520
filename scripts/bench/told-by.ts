/** Which line of a watch told a mark, and when it had arrived: by the recording of the run, and what a relay handed on. */
import type { Passed } from './relay.ts';

/** A mark's line of `-o ndjson`, and when it was read: of performance.now(), ms. */
export interface ReadMark {
  /** Client clock: of the newest observation. */
  at: string;
  readAt: number;
}

interface Recorded {
  at?: number;
  kind?: string;
  time?: string;
  object?: { metadata?: { name?: string; resourceVersion?: string } };
}

/**
 * ms from the arrival of the line to the mark at its reader; undefined where no line of a watch told it. Of several lines
 * that were read in the same millisecond the one that came first counts: a mark is never said to be faster than it was.
 */
export function latencyOf(mark: ReadMark, recording: string, passed: readonly Passed[]): number | undefined {
  const arrivals = observedAt(Date.parse(mark.at), recording)
    .map(keyOf)
    .flatMap((key) => passed.find(({ bytes }) => key !== undefined && bytes.includes(key)) ?? []);
  return arrivals.length === 0 ? undefined : mark.readAt - Math.min(...arrivals.map(({ at }) => at));
}

/** A mark's line bears the newest time of all that had been observed by then. */
function observedAt(at: number, recording: string): Recorded[] {
  let now = -Infinity;
  return recording
    .split('\n')
    .filter((line) => line.includes('"kind"'))
    .map((line) => JSON.parse(line) as Recorded)
    .filter((one) => (now = Math.max(now, one.at ?? -Infinity)) === at);
}

/** What stands in the line, and in no earlier one. */
function keyOf({ kind, time, object }: Recorded): string | undefined {
  if (kind === 'line') return time;
  const { name = '', resourceVersion } = object?.metadata ?? {};
  return kind === 'changed' && !name.startsWith('neighbour-') ? `"resourceVersion":"${resourceVersion}"` : undefined;
}
