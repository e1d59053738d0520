/** Finds the watch line that caused a mark and its arrival, from the run's recording and what a relay forwarded. */
import type { Passed } from './proxy.ts';

/** A mark's line in `-o ndjson`, and when it was read (`monotonic`, ms). */
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
 * The time from the arrival of a watch line to the reading of its mark, in ms, in a trace of `pod`; undefined if no
 * watch line caused the mark. The line is the newest of the mark's evidence: without it the mark was not known.
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

/** Lines of the siblings' stream about the pod itself or its neighbours do not count. */
function mayCause({ kind, stream, object }: Recorded, pod: string): boolean {
  const name = object?.metadata?.name ?? '';
  const isNews = stream !== 'siblings' || !(name === pod || name.startsWith('neighbour-'));
  return kind === 'line' || (kind === 'changed' && streams.includes(stream) && isNews);
}

/** A text that is in this line, and in no earlier one. */
const keyOf = ({ kind, time, object }: Recorded): string =>
  kind === 'line' ? (time ?? '') : `"resourceVersion":"${object?.metadata?.resourceVersion}"`;
