/** A recording as a source: our own format as it is, raw ones narrowed and ended like a live run. */
import { readHeader } from '../recording/header.ts';
import { sightingOf } from '../recording/observations.ts';
import type { ParsedLine } from '../recording/read-lines.ts';
import { readLines } from '../recording/read-lines.ts';
import type { Row } from '../recording/rows.ts';
import { rowOf } from '../recording/rows.ts';
import { PodexitError } from '../errors.ts';
import { observe } from '../model/observe.ts';
import type { Sighting } from '../model/observation.ts';
import { reduce } from '../model/reduce.ts';
import { emptyTrace } from '../model/empty-trace.ts';
import type { Trace } from '../model/trace.ts';
import { endingOf } from './ending.ts';
import { needed } from './lanes.ts';
import { lostPatience } from './next-step.ts';
import type { Absence } from './raw-cuts.ts';
import { absencesIn } from './raw-cuts.ts';
import { rawSightings } from './raw-replay.ts';
import type { Subject } from './raw-subject.ts';

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
  return { sightings: replayOf(await rowsOf(first.value, lines)), logText: true };
}

async function* recorded(lines: AsyncIterable<ParsedLine>, file: string): AsyncGenerator<Sighting> {
  for await (const line of lines) yield sightingOf(line, file);
}

async function rowsOf(first: ParsedLine, lines: AsyncIterable<ParsedLine>): Promise<Row[]> {
  const rows = [rowOf(first)];
  for await (const line of lines) rows.push(rowOf(line));
  return rows.flatMap((row) => row ?? []).sort((a, b) => a.at - b.at);
}

/** A raw recording, whose rows are in the order of their arrival. `subject`: one of several pods that it is of. */
export const replayOf = (rows: readonly Row[], subject?: Subject): Iterable<Sighting> =>
  endedLikeLive(rawSightings(rows, subject), absencesIn(rows));

/**
 * Ends where a live run would have ended: its timer is an observation, here in the recording's own time. What is still away by
 * then is told as the gap that a live run would have stated.
 */
export function* endedLikeLive(sightings: Iterable<Sighting>, absences: readonly Absence[] = []): Generator<Sighting> {
  let trace = emptyTrace;
  let seq = 0;
  for (const sighting of sightings) {
    const end = endOf(trace, absences);
    if (end && sighting.at > end.at) {
      yield* lastWords(trace, end, absences);
      return;
    }
    yield sighting;
    seq += 1;
    trace = reduce(trace, observe(sighting, seq, { logText: false }));
    const next = endOf(trace, absences);
    if (!next?.isNow) continue;
    yield* lastWords(trace, next, absences);
    return;
  }
  // Whoever recorded it stopped before a live run would have.
  const end = endOf(trace, absences);
  if (end) yield* lastWords(trace, end, absences);
}

interface End {
  /** Client ms. */
  at: number;
  /** Nothing more is waited for. */
  isNow: boolean;
  /** By a timer: something that was waited for did not come. */
  settled: boolean;
}

function endOf(trace: Trace, absences: readonly Absence[]): End | undefined {
  const ending = endingOf(trace);
  if (ending.kind === 'open') return undefined;
  const settled = ending.kind === 'settling';
  const at = settled ? Math.max(ending.until, trace.now) : trace.now;
  const back = backAt(trace, at, absences);
  return { at: back ?? at, isNow: !settled && back === undefined, settled };
}

/** When the streams are back that are away at `at` and that a live run waits for; undefined: there is none. */
function backAt(trace: Trace, at: number, absences: readonly Absence[]): number | undefined {
  const latest = (trace.gone?.at ?? at) + lostPatience;
  const awaited = absences.filter(
    ({ stream, from, to }) => needed.has(stream) && from <= at && at <= to && to <= latest,
  );
  return awaited.length > 0 ? Math.max(...awaited.map(({ to }) => to)) : undefined;
}

function* lastWords(trace: Trace, { at, settled }: End, absences: readonly Absence[]): Generator<Sighting> {
  const isTold = ({ stream, from }: Absence): boolean =>
    trace.gaps.some(({ value }) => value.stream === stream && value.from === from);
  for (const absence of absences.filter((one) => one.from <= at && !isTold(one)))
    yield { at, kind: 'gap', stream: absence.stream, from: absence.from, cause: 'disconnected' };
  if (settled) yield { at, kind: 'timer', name: 'settled' };
}
