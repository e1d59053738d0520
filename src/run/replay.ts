/** A recording as a source: our own format unchanged, raw recordings narrowed and ended like a live run. */
import { rawObservationOf, readHeader, readLines, type ParsedLine } from '../recording/reader.ts';
import { rowOf, type Row } from '../recording/rows.ts';
import { PodexitError } from '../errors.ts';
import { observe } from '../model/observe.ts';
import type { RawObservation, StreamName } from '../model/observation.ts';
import { emptyTrace, type Trace } from '../model/trace.ts';
import { onePod, sharedStreamDelayMs, type Traces } from './traces/traces.ts';
import { tracesOfLog } from './traces/traces-of-log.ts';
import { endOf, reconnectTimeoutMs, type End } from './ending/trace-end.ts';
import { neededStreams } from './streams/stream-health.ts';
import { narrowToPod, narrowToAll } from './raw-replay.ts';
import { coversSeveralPods, subjectOf, type Subject } from './raw-subject.ts';

interface Replay {
  rawObservations: AsyncIterable<RawObservation> | Iterable<RawObservation>;
  /** The recording holds log text. */
  logText: boolean;
  /** Keeps the traces of the chosen pods. */
  traces: Traces;
  /** The target of a run over several pods: `deployment/checkout`. */
  target: string | undefined;
}

/**
 * Opens a recording; `pod`: only this pod. `warn` reports a cut-off line. Throws PodexitError if it is no recording.
 */
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
  const header = readHeader(first.value.value, file);
  const traces = tracesOfLog(pod === undefined ? undefined : ({ metadata }) => metadata.name === pod);
  if (header) {
    const { head, rawObservations } = await readOwnRecording(lines, file);
    const target = pod === undefined ? targetOf(head) : undefined;
    return { rawObservations, logText: header.logText, traces, target };
  }
  // A raw recording contains the logs of the containers.
  const rows = await rowsOf(first.value, lines);
  const isOverSeveral = pod === undefined && coversSeveralPods(rows);
  const rawObservations = [
    ...(isOverSeveral ? endedLikeLive(narrowToAll(rows)) : replayOf(rows, subjectOf(rows, pod))),
  ];
  return { rawObservations, logText: true, traces, target: targetOf(rawObservations[0]) };
}

/** `head`: the first observation. */
async function readOwnRecording(lines: AsyncGenerator<ParsedLine>, file: string) {
  const rawObservations = observationsOf(lines, file);
  const first = await rawObservations.next();
  const head = first.done ? undefined : first.value;
  async function* all(): AsyncGenerator<RawObservation> {
    if (head) yield head;
    yield* rawObservations;
  }
  return { head, rawObservations: all() };
}

/** A run's clock never goes back, but a `Date` header is recorded up to 0.1 s after it arrived. */
const maxStepBackMs = 10_000;

/** Throws `recording.broken` at a line that is no observation, or that is earlier than those before it. */
async function* observationsOf(lines: AsyncGenerator<ParsedLine>, file: string): AsyncGenerator<RawObservation> {
  let latest = -Infinity;
  for await (const line of lines) {
    const rawObservation = rawObservationOf(line, file);
    if (rawObservation.at < latest - maxStepBackMs) throw outOfOrder(file, line.number);
    latest = Math.max(latest, rawObservation.at);
    yield rawObservation;
  }
}

const outOfOrder = (file: string, line: number): PodexitError =>
  new PodexitError(
    'recording.broken',
    `line ${line} of ${file} is earlier than the lines before it`,
    'Lines were moved or edited, or several recordings were joined: replay each recording as it was written.',
  );

const targetOf = (head: RawObservation | undefined): string | undefined =>
  head?.kind === 'began' && !head.next ? head.target : undefined;

async function rowsOf(first: ParsedLine, lines: AsyncIterable<ParsedLine>): Promise<Row[]> {
  const rows = [rowOf(first)];
  for await (const line of lines) rows.push(rowOf(line));
  return rows.flatMap((row) => row ?? []).sort((a, b) => a.at - b.at);
}

/** A raw recording, with its rows in order of arrival. `subject`: the pod to replay, if there are several. */
export function replayOf(rows: readonly Row[], subject?: Subject): Iterable<RawObservation> {
  const all = [...narrowToPod(rows, subject)];
  return endedLikeLive(all, all.flatMap(absenceOf));
}

/** A stream was interrupted from `from` until a list at `to` restored it (client ms). */
interface Absence {
  stream: StreamName;
  from: number;
  to: number;
}

/** A gap is known only when it ends, so a run that ends earlier has to report it itself. */
const absenceOf = (one: RawObservation): Absence[] =>
  one.kind === 'gap' && one.to !== undefined ? [{ stream: one.stream, from: one.from, to: one.to }] : [];

/** How a live run would have ended a trace. `isNow`: nothing more is awaited. */
type ReplayEnd = End & { isNow: boolean };

/**
 * Ends each trace when a live run would have ended it, in the recording's own time: with its timer and, in a run about
 * one pod, with a gap for each stream that is interrupted then.
 */
export function* endedLikeLive(
  rawObservations: Iterable<RawObservation>,
  absences: readonly Absence[] = [],
): Generator<RawObservation> {
  const traces = tracesOfLog();
  const due = new Map<string, ReplayEnd>();
  let isOver = false;
  let seq = 0;
  const endTraces = function* (until: number): Generator<RawObservation> {
    for (const [pod, end] of [...due].filter(([, { at }]) => at < until)) {
      due.delete(pod);
      isOver = pod === onePod;
      if (isOver) yield* endOfRun(traces.get(pod) ?? emptyTrace, end, absences);
      else yield { at: end.at, kind: 'timer', name: end.name, pod };
      traces.close(pod);
    }
  };
  for (const rawObservation of rawObservations) {
    yield* endTraces(rawObservation.at);
    if (isOver) return;
    yield rawObservation;
    seq += 1;
    for (const key of traces.add(observe(rawObservation, seq, { logText: false }))) {
      const trace = traces.get(key);
      const end = trace && replayEndOf(trace, absences, key === onePod ? 0 : sharedStreamDelayMs);
      if (end) due.set(key, end);
      else due.delete(key);
      if (end?.isNow && key === onePod) yield* endTraces(Infinity);
    }
    if (isOver) return;
  }
  yield* endTraces(Infinity);
}

/** `quietMs`: how long to wait after the pod's removal. */
function replayEndOf(trace: Trace, absences: readonly Absence[], quietMs: number): ReplayEnd | undefined {
  const end = endOf(trace, { areComplete: true, isComingBack: false }, quietMs);
  if (!end) return undefined;
  const at = Math.max(trace.now, end.at);
  const back = streamsBackAt(trace, at, absences);
  return { at: back ?? at, name: end.name, isNow: end.name === 'over' && back === undefined };
}

/** When the streams have returned that are interrupted at `at` and that a live run waits for; undefined: none is. */
function streamsBackAt(trace: Trace, at: number, absences: readonly Absence[]): number | undefined {
  const latest = (trace.gone?.at ?? at) + reconnectTimeoutMs;
  const awaited = absences.filter(
    ({ stream, from, to }) => neededStreams.has(stream) && from <= at && at <= to && to <= latest,
  );
  return awaited.length > 0 ? Math.max(...awaited.map(({ to }) => to)) : undefined;
}

function* endOfRun(trace: Trace, { at, name }: End, absences: readonly Absence[]): Generator<RawObservation> {
  const isStated = ({ stream, from }: Absence): boolean =>
    trace.gaps.some(({ value }) => value.stream === stream && value.from === from);
  for (const absence of absences.filter((one) => one.from <= at && !isStated(one)))
    yield { at, kind: 'gap', stream: absence.stream, from: absence.from, cause: 'disconnected' };
  if (name === 'settled') yield { at, kind: 'timer', name };
}
