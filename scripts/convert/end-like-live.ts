/** Ends the traces of a converted recording when a live run would have ended them. */
import { observe } from '../../src/model/observe.ts';
import type { Observation, RawObservation } from '../../src/model/observation.ts';
import { endOf, type End } from '../../src/run/ending/trace-end.ts';
import { sharedStreamDelayMs } from '../../src/run/ending/tracks.ts';
import { onePod, tracesOfLog } from '../../src/run/traces/traces.ts';

export interface Lived {
  readonly raw: RawObservation;
  readonly observation: Observation;
}

/** Ends each trace when a live run would have ended it, in the recording's own time, with its timer. */
export function* endedLikeLive(rawObservations: Iterable<RawObservation>): Generator<RawObservation> {
  for (const { raw } of livedThrough(rawObservations)) yield raw;
}

/** The same, with what a live run makes of each. */
export function* livedThrough(rawObservations: Iterable<RawObservation>): Generator<Lived> {
  const traces = tracesOfLog();
  const due = new Map<string, End>();
  let isOver = false;
  let seq = 0;
  const lived = (raw: RawObservation): Lived => ({ raw, observation: observe(raw, ++seq, { logText: false }) });
  const endTraces = function* (until: number): Generator<Lived> {
    for (const [pod, { at, name }] of [...due].filter(([, end]) => end.at < until)) {
      due.delete(pod);
      isOver = pod === onePod;
      if (!isOver) yield lived({ at, kind: 'timer', name, pod });
      else if (name === 'settled') yield lived({ at, kind: 'timer', name });
      traces.close(pod);
    }
  };
  for (const rawObservation of rawObservations) {
    yield* endTraces(rawObservation.at);
    if (isOver) return;
    const one = lived(rawObservation);
    yield one;
    for (const key of traces.add(one.observation)) {
      const trace = traces.get(key);
      // What is awaited after the pod's removal, when all streams are complete.
      const end =
        trace && endOf(trace, { areComplete: true, isComingBack: false }, key === onePod ? 0 : sharedStreamDelayMs);
      if (end) due.set(key, { ...end, at: Math.max(trace.now, end.at) });
      else due.delete(key);
      if (end?.name === 'over' && key === onePod) yield* endTraces(Infinity);
    }
    if (isOver) return;
  }
  yield* endTraces(Infinity);
}
