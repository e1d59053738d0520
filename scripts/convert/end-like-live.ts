/** Ends the traces of a converted recording when a live run would have ended them. */
import { observe } from '../../src/model/observe.ts';
import type { RawObservation, StreamName } from '../../src/model/observation.ts';
import { emptyTrace, type Trace } from '../../src/model/trace.ts';
import { neededStreams } from '../../src/run/streams/stream-health.ts';
import { endOf, reconnectTimeoutMs, type End } from '../../src/run/ending/trace-end.ts';
import { onePod, sharedStreamDelayMs } from '../../src/run/traces/traces.ts';
import { tracesOfLog } from '../../src/run/traces/traces-of-log.ts';

/** A stream was interrupted from `from` until a list at `to` restored it (client ms). */
interface Absence {
  stream: StreamName;
  from: number;
  to: number;
}

/** A gap is known only when it ends, so a run that ends earlier has to report it itself. */
export const absenceOf = (one: RawObservation): Absence[] =>
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
