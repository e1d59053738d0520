/**
 * The one loop: source → recorder → reduce → audience. Live runs, replays, the demo and tests all go through here and
 * differ only in their source.
 */
import { observe } from '../model/observe.ts';
import type { Observation, Sighting } from '../model/observation.ts';
import { reduce } from '../model/reduce.ts';
import type { Trace } from '../model/trace.ts';
import { emptyTrace } from '../model/empty-trace.ts';

/** Somebody who is told of each step: a renderer that streams. It only reads. */
export interface Audience {
  step(trace: Trace, observation: Observation): void;
}

export interface RunOptions {
  source: AsyncIterable<Sighting> | Iterable<Sighting>;
  /** Keep the text of log lines. */
  logText: boolean;
  /** Takes each observation before anything is concluded from it. */
  record?: (observation: Observation) => void;
  audience?: Audience;
  /** The source looks at the trace to decide what to do next (what to watch, when to end). */
  onTrace?: (trace: Trace) => void;
}

/** The trace when the source ends. Errors of the source pass through. */
export async function run({ source, logText, record, audience, onTrace }: RunOptions): Promise<Trace> {
  let trace = emptyTrace;
  let seq = 0;
  for await (const sighting of source) {
    seq += 1;
    const observation = observe(sighting, seq, { logText });
    record?.(observation);
    trace = reduce(trace, observation);
    audience?.step(trace, observation);
    onTrace?.(trace);
  }
  return trace;
}
