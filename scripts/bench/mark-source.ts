/** Which line of a watch a mark comes from, and when it arrived: by the recording of the run, and what a relay passed on. */
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
  stream?: string;
  time?: string;
  object?: { metadata?: { name?: string; resourceVersion?: string } };
}

/**
 * ms from the arrival of the line to the mark at its reader, of a trace of `pod`; undefined where it comes from no line of a
 * watch. Of several candidates that were read in the same millisecond the first counts: a mark is never reported as faster
 * than it was.
 */
export function latencyOf(
  mark: ReadMark,
  { pod, recording, passed }: { pod: string; recording: string; passed: readonly Passed[] },
): number | undefined {
  const arrivals = observedAt(Date.parse(mark.at), recording)
    .filter((one) => mayCause(one, pod))
    .flatMap((one) => passed.find(({ bytes }) => bytes.includes(keyOf(one))) ?? []);
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

const streams: readonly unknown[] = ['pod', 'events', 'endpointslices', 'siblings', 'node'];

/** What the siblings' stream says of the pod itself, or of its neighbours, does not count. */
function mayCause({ kind, stream, object }: Recorded, pod: string): boolean {
  const name = object?.metadata?.name ?? '';
  const isNews = stream !== 'siblings' || !(name === pod || name.startsWith('neighbour-'));
  return kind === 'line' || (kind === 'changed' && streams.includes(stream) && isNews);
}

/** What stands in the line, and in no earlier one. */
const keyOf = ({ kind, time, object }: Recorded): string =>
  kind === 'line' ? (time ?? '') : `"resourceVersion":"${object?.metadata?.resourceVersion}"`;
