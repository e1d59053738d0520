/** A recording as a source: our own format as it is, raw ones narrowed and ended like a live run. */
import { readHeader } from '../recording/header.ts';
import { sightingOf } from '../recording/observations.ts';
import { readLines, type ParsedLine } from '../recording/read-lines.ts';
import { rowOf, type Row } from '../recording/rows.ts';
import { PodexitError } from '../errors.ts';
import { observe } from '../model/observe.ts';
import type { Sighting } from '../model/observation.ts';
import { reduce } from '../model/reduce.ts';
import { emptyTrace, type Trace } from '../model/trace.ts';
import { createTraces, type Traces } from './traces.ts';
import { endingOf, lastNewsMs, lostPatience } from './ending.ts';
import { needed } from './stream-health.ts';
import { absencesIn, type Absence } from './raw-targets.ts';
import { rawSightings } from './raw-replay.ts';
import { isOfSeveral, severalSightings } from './raw-several.ts';
import { subjectOf, type Subject } from './raw-subject.ts';

export interface Replay {
  sightings: AsyncIterable<Sighting> | Iterable<Sighting>;
  /** The recording holds log text. */
  logText: boolean;
  /** Of which pods traces are kept, where it is of several. */
  traces: Traces;
}

/** Opens a recording; of one of its pods alone where `pod` names it. `warn` gets what was forgiven. Throws a PodexitError for what is no recording. */
export async function openReplay(file: string, warn: (message: string) => void, pod?: string): Promise<Replay> {
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
  const traces = createTraces(pod === undefined ? undefined : ({ metadata }) => metadata.name === pod);
  if (kind.kind === 'podexit') return { sightings: recorded(lines, file), logText: kind.header.logText, traces };
  // A recording of a namespace holds its containers' logs.
  const rows = await rowsOf(first.value, lines);
  const sightings =
    pod === undefined && isOfSeveral(rows) ? replayOfSeveral(rows) : replayOf(rows, subjectOf(rows, pod));
  return { sightings, logText: true, traces };
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
  endedLikeLive(rawSightings(rows, subject), absencesIn(rows, subject));

/** The same of all its pods that terminate. */
const replayOfSeveral = (rows: readonly Row[]): Iterable<Sighting> => endedOneByOne(severalSightings(rows));

/** Ends each trace where a live run would have ended it. */
function* endedOneByOne(sightings: Iterable<Sighting>): Generator<Sighting> {
  const traces = createTraces();
  const due = new Map<string, { at: number; name: 'over' | 'settled' }>();
  let seq = 0;
  const end = function* (until: number): Generator<Sighting> {
    for (const [pod, { at, name }] of [...due].filter((one) => one[1].at < until)) {
      due.delete(pod);
      traces.close(pod);
      yield { at, kind: 'timer', name, pod };
    }
  };
  for (const sighting of sightings) {
    yield* end(sighting.at);
    yield sighting;
    seq += 1;
    for (const key of traces.add(observe(sighting, seq, { logText: false }))) {
      const trace = traces.get(key);
      const ending = trace && endingOf(trace);
      if (!trace || !ending || ending.kind === 'open') continue;
      const soonest = (trace.gone?.at ?? trace.now) + lastNewsMs;
      const isDone = ending.kind === 'done';
      due.set(key, { at: isDone ? Math.max(soonest, trace.now) : ending.until, name: isDone ? 'over' : 'settled' });
    }
  }
  yield* end(Infinity);
}

/**
 * Ends where a live run would have ended: its timer is an observation, here in the recording's own time. What is still away by
 * then becomes the gap that a live run would have stated.
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
  // The recording stopped before a live run would have.
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
  const isStated = ({ stream, from }: Absence): boolean =>
    trace.gaps.some(({ value }) => value.stream === stream && value.from === from);
  for (const absence of absences.filter((one) => one.from <= at && !isStated(one)))
    yield { at, kind: 'gap', stream: absence.stream, from: absence.from, cause: 'disconnected' };
  if (settled) yield { at, kind: 'timer', name: 'settled' };
}
