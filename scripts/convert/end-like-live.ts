/** Ends the traces of a converted recording when a live run would have ended them. */
import { observe } from '../../src/model/observe.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { endOf, type End } from '../../src/run/ending/trace-end.ts';
import { sharedStreamDelayMs } from '../../src/run/ending/tracks.ts';
import { onePod, tracesOfLog } from '../../src/run/traces/traces.ts';

/** Ends each trace when a live run would have ended it, in the recording's own time, with its timer. */
export function* endedLikeLive(rawObservations: Iterable<RawObservation>): Generator<RawObservation> {
  const traces = tracesOfLog();
  const due = new Map<string, End>();
  let isOver = false;
  let seq = 0;
  const endTraces = function* (until: number): Generator<RawObservation> {
    for (const [pod, { at, name }] of [...due].filter(([, end]) => end.at < until)) {
      due.delete(pod);
      isOver = pod === onePod;
      if (!isOver) yield { at, kind: 'timer', name, pod };
      else if (name === 'settled') yield { at, kind: 'timer', name };
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
