/** Which line of a watch a mark comes from, and when it arrived: by the recording of the run, and what a relay passed on. */
import type { Passed } from './relay.ts';

/** A mark's line of `-o ndjson`, and when it was read: of `monotonic`, ms. */
export interface ReadMark {
  mark: { at: { evidence: readonly number[] } };
  readAt: number;
}

interface Recorded {
  seq?: number;
  kind?: string;
  stream?: string;
  time?: string;
  object?: { metadata?: { name?: string; resourceVersion?: string } };
}

/**
 * ms from the arrival of the line to the mark at its reader, of a trace of `pod`; undefined where it comes from no line of a
 * watch. The line is the newest of the mark's evidence: without it the mark was not known.
 */
export function latencyOf(
  { mark, readAt }: ReadMark,
  { pod, recording, passed }: { pod: string; recording: string; passed: readonly Passed[] },
): number | undefined {
  const newest = observedAs(Math.max(...mark.at.evidence), recording);
  if (!newest || !mayCause(newest, pod)) return undefined;
  const arrived = passed.find(({ bytes }) => bytes.includes(keyOf(newest)));
  return arrived && readAt - arrived.at;
}

const observedAs = (seq: number, recording: string): Recorded | undefined =>
  recording
    .split('\n')
    .filter((line) => line.includes('"kind"'))
    .map((line) => JSON.parse(line) as Recorded)
    .find((one) => one.seq === seq);

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
