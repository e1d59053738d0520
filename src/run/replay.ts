/** A recording as a source: our own format unchanged, raw recordings narrowed and ended like a live run. */
import { readHeader } from '../recording/header.ts';
import { rawObservationOf } from '../recording/observations.ts';
import { readLines, type ParsedLine } from '../recording/read-lines.ts';
import { rowOf, type Row } from '../recording/rows.ts';
import { PodexitError } from '../errors.ts';
import { observe } from '../model/observe.ts';
import type { RawObservation } from '../model/observation.ts';
import { reduce } from '../model/reduce.ts';
import { emptyTrace, type Trace } from '../model/trace.ts';
import { createTraces, type Traces } from './traces.ts';
import { endingOf, sharedStreamDelayMs, reconnectTimeoutMs } from './ending.ts';
import { neededStreams } from './stream-health.ts';
import { absencesIn, type Absence } from './raw-targets.ts';
import { narrowToPod, narrowToAll } from './raw-replay.ts';
import { coversSeveralPods, subjectOf, type Subject } from './raw-subject.ts';
import type { Policy } from '../verdict/policy.ts';
import { run, type LookOptions, type RunOptions } from './run.ts';
import { openStage } from './audience.ts';
import { assertDistinct, assertWritable, type ReportFile } from './writable.ts';
import { finish } from './finish.ts';
import type { Format } from './formats.ts';
import type { Ports } from './ports.ts';
import type { Publish } from './documents.ts';

export interface Replay {
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
  const traces = createTraces(pod === undefined ? undefined : ({ metadata }) => metadata.name === pod);
  if (header) {
    const { head, rawObservations } = await readOwnRecording(lines, file);
    const target = pod === undefined ? targetOf(head) : undefined;
    return { rawObservations, logText: header.logText, traces, target };
  }
  // A raw recording contains the logs of the containers.
  const rows = await rowsOf(first.value, lines);
  const isOverSeveral = pod === undefined && coversSeveralPods(rows);
  const rawObservations = [...(isOverSeveral ? replayOfSeveral(rows) : replayOf(rows, subjectOf(rows, pod)))];
  return { rawObservations, logText: true, traces, target: isOverSeveral ? targetOf(rawObservations[0]) : undefined };
}

/** `head`: the first observation. */
async function readOwnRecording(lines: AsyncGenerator<ParsedLine>, file: string) {
  const first = await lines.next();
  const head = first.done ? undefined : rawObservationOf(first.value, file);
  async function* all(): AsyncGenerator<RawObservation> {
    if (head) yield head;
    for await (const line of lines) yield rawObservationOf(line, file);
  }
  return { head, rawObservations: all() };
}

const targetOf = (head: RawObservation | undefined): string | undefined =>
  head?.kind === 'began' && !head.next ? head.target : undefined;

async function rowsOf(first: ParsedLine, lines: AsyncIterable<ParsedLine>): Promise<Row[]> {
  const rows = [rowOf(first)];
  for await (const line of lines) rows.push(rowOf(line));
  return rows.flatMap((row) => row ?? []).sort((a, b) => a.at - b.at);
}

/** A raw recording, with its rows in order of arrival. `subject`: the pod to replay, if there are several. */
export const replayOf = (rows: readonly Row[], subject?: Subject): Iterable<RawObservation> =>
  endedLikeLive(narrowToPod(rows, subject), absencesIn(rows, subject));

/** The same for all terminating pods of the recording. */
const replayOfSeveral = (rows: readonly Row[]): Iterable<RawObservation> => endTracesLikeLive(narrowToAll(rows));

/** Ends each trace when a live run would have ended it. */
function* endTracesLikeLive(rawObservations: Iterable<RawObservation>): Generator<RawObservation> {
  const traces = createTraces();
  const due = new Map<string, { at: number; name: 'over' | 'settled' }>();
  let seq = 0;
  const end = function* (until: number): Generator<RawObservation> {
    for (const [pod, { at, name }] of [...due].filter((one) => one[1].at < until)) {
      due.delete(pod);
      traces.close(pod);
      yield { at, kind: 'timer', name, pod };
    }
  };
  for (const rawObservation of rawObservations) {
    yield* end(rawObservation.at);
    yield rawObservation;
    seq += 1;
    for (const key of traces.add(observe(rawObservation, seq, { logText: false }))) {
      const trace = traces.get(key);
      const ending = trace && endingOf(trace);
      if (!trace || !ending || ending.kind === 'open') continue;
      const soonest = (trace.gone?.at ?? trace.now) + sharedStreamDelayMs;
      const isDone = ending.kind === 'done';
      due.set(key, { at: isDone ? Math.max(soonest, trace.now) : ending.until, name: isDone ? 'over' : 'settled' });
    }
  }
  yield* end(Infinity);
}

/**
 * Ends when a live run would have ended, in the recording's own time: with its timer, and with a gap for each stream
 * that is interrupted then.
 */
export function* endedLikeLive(
  rawObservations: Iterable<RawObservation>,
  absences: readonly Absence[] = [],
): Generator<RawObservation> {
  let trace = emptyTrace;
  let seq = 0;
  let end: End | undefined;
  for (const rawObservation of rawObservations) {
    if (end && rawObservation.at > end.at) break;
    yield rawObservation;
    seq += 1;
    trace = reduce(trace, observe(rawObservation, seq, { logText: false }));
    end = endOf(trace, absences);
    if (end?.isNow) break;
  }
  if (end) yield* endReplay(trace, end, absences);
}

interface End {
  /** Client ms. */
  at: number;
  /** Nothing more is awaited. */
  isNow: boolean;
  /** A timer ends the run: something that was awaited did not arrive. */
  settled: boolean;
}

function endOf(trace: Trace, absences: readonly Absence[]): End | undefined {
  const ending = endingOf(trace);
  if (ending.kind === 'open') return undefined;
  const settled = ending.kind === 'settling';
  const at = settled ? Math.max(ending.until, trace.now) : trace.now;
  const back = streamsBackAt(trace, at, absences);
  return { at: back ?? at, isNow: !settled && back === undefined, settled };
}

/** When the streams have returned that are interrupted at `at` and that a live run waits for; undefined: none is. */
function streamsBackAt(trace: Trace, at: number, absences: readonly Absence[]): number | undefined {
  const latest = (trace.gone?.at ?? at) + reconnectTimeoutMs;
  const awaited = absences.filter(
    ({ stream, from, to }) => neededStreams.has(stream) && from <= at && at <= to && to <= latest,
  );
  return awaited.length > 0 ? Math.max(...awaited.map(({ to }) => to)) : undefined;
}

function* endReplay(trace: Trace, { at, settled }: End, absences: readonly Absence[]): Generator<RawObservation> {
  const isStated = ({ stream, from }: Absence): boolean =>
    trace.gaps.some(({ value }) => value.stream === stream && value.from === from);
  for (const absence of absences.filter((one) => one.from <= at && !isStated(one)))
    yield { at, kind: 'gap', stream: absence.stream, from: absence.from, cause: 'disconnected' };
  if (settled) yield { at, kind: 'timer', name: 'settled' };
}

interface ReplayOptions {
  file: string;
  /** The pod to replay, of several; absent: all. */
  pod?: string | undefined;
  format: Format;
  look: LookOptions;
  reports: readonly ReportFile[];
  policy: Policy;
  publish: Publish;
}

/** The exit code of the recorded run. Throws PodexitError if the file is not a recording. */
export async function replayFile(options: ReplayOptions, ports: Ports): Promise<number> {
  assertDistinct({ file: options.file, what: 'the recording' }, options.reports);
  await assertWritable(options.reports);
  const warn = (message: string): void => ports.stderr.write(`podexit: ${message}\n`);
  const replay = await openReplay(options.file, warn, options.pod);
  const { rawObservations: source, logText, traces, target } = replay;
  const shown = { ...options, look: { ...options.look, logs: options.look.logs && logText } };
  if (target !== undefined) return replaySeveral({ source, logText, traces }, target, shown, ports);
  const stage = await openStage(shown.format, shown.look, ports);
  try {
    const trace = await run({ source, logText, traces, audience: stage });
    if (options.pod !== undefined && trace.pod?.value.metadata.name !== options.pod) throw podNotInRecording(options);
    return await finish(trace, shown, stage, ports, false);
  } finally {
    stage.close();
  }
}

const podNotInRecording = ({ pod = '', file }: ReplayOptions): PodexitError =>
  new PodexitError(
    'recording.no-pod',
    `${file} has no pod "${pod}" that terminates`,
    `See all of them with: kubectl podexit replay ${file}`,
  );

/** Shows each report when its trace ends, then the summary, as the run did. */
async function replaySeveral(
  source: RunOptions & { traces: Traces },
  target: string,
  shown: ReplayOptions,
  ports: Ports,
): Promise<number> {
  const { createResults, rolloutOutput } = await import('../rollout/output.ts');
  const results = createResults(shown, source.traces, rolloutOutput(shown, ports), ports);
  await run({ ...source, audience: results.audience(target) });
  results.takeRest();
  await results.written();
  return results.end({ target });
}
