/** A recording as a source: our own format as it is, raw ones narrowed and ended like a live run. */
import { readHeader } from '../recording/header.ts';
import { sightingOf } from '../recording/observations.ts';
import type { ParsedLine } from '../recording/read-lines.ts';
import { readLines } from '../recording/read-lines.ts';
import type { Row } from '../recording/rows.ts';
import { rowOf } from '../recording/rows.ts';
import { PodexitError } from '../errors.ts';
import { observe } from '../trace/observe.ts';
import type { Sighting } from '../trace/observation.ts';
import { reduce } from '../trace/reduce.ts';
import { emptyTrace } from '../trace/empty-trace.ts';
import { endingOf } from './ending.ts';
import { rawSightings } from './raw-replay.ts';

export interface Replay {
  sightings: AsyncIterable<Sighting> | Iterable<Sighting>;
  /** The recording holds log text. */
  logText: boolean;
}

/** Opens a recording. `warn` is told what was forgiven. Throws a PodexitError for what is no recording. */
export async function openReplay(file: string, warn: (message: string) => void): Promise<Replay> {
  const lines = readLines(file, (line) =>
    warn(`${file} was cut in line ${line}: the report covers what was recorded until then`),
  );
  const first = await lines.next();
  if (first.done)
    throw new PodexitError(
      'recording.invalid',
      `${file} is empty`,
      'Record one with: kubectl podexit POD --record FILE',
    );
  const kind = readHeader(first.value.value, file);
  if (kind.kind === 'podexit') return { sightings: recorded(lines, file), logText: kind.header.logText };
  // Whoever recorded a namespace kept what its containers said.
  return { sightings: endedLikeLive(rawSightings(await rowsOf(first.value, lines))), logText: true };
}

async function* recorded(lines: AsyncIterable<ParsedLine>, file: string): AsyncGenerator<Sighting> {
  for await (const line of lines) yield sightingOf(line, file);
}

async function rowsOf(first: ParsedLine, lines: AsyncIterable<ParsedLine>): Promise<Row[]> {
  const rows = [rowOf(first)];
  for await (const line of lines) rows.push(rowOf(line));
  return rows.flatMap((row) => row ?? []).sort((a, b) => a.at - b.at);
}

/** Ends where a live run would have ended: its timer is an observation, here in the recording's own time. */
export function* endedLikeLive(sightings: Iterable<Sighting>): Generator<Sighting> {
  let trace = emptyTrace;
  let seq = 0;
  for (const sighting of sightings) {
    const ending = endingOf(trace);
    if (ending.kind === 'settling' && sighting.at > ending.until) {
      yield { at: ending.until, kind: 'timer', name: 'settled' };
      return;
    }
    yield sighting;
    seq += 1;
    trace = reduce(trace, observe(sighting, seq, { logText: false }));
    if (endingOf(trace).kind === 'done') return;
  }
  // Whoever recorded it stopped before a live run would have.
  const ending = endingOf(trace);
  if (ending.kind === 'settling') yield { at: ending.until, kind: 'timer', name: 'settled' };
}
