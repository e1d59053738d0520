/**
 * The one loop: source → recorder → traces → audience. Live runs, replays, the demo and tests all go through here and
 * differ only in their source.
 */
import { emptyTrace, type Trace } from '../model/trace.ts';
import { observe } from '../model/observe.ts';
import type { Observation, RawObservation } from '../model/observation.ts';
import { createTraces, onePod, type Traces } from './traces.ts';
import type { Report } from '../verdict/report.ts';

/** Sees each step: a renderer that streams. It only reads. */
export interface Audience {
  /** `key`: of the trace (traces.ts); in a run about one pod it has no meaning. */
  step(trace: Trace, observation: Observation, key?: string): void;
}

export interface RunOptions {
  source: AsyncIterable<RawObservation> | Iterable<RawObservation>;
  /** Keep the text of log lines: a recorder leaves it out unless `--logs` was given. */
  logText: boolean;
  /** Which traces are kept; absent: as the log's beginning says. */
  traces?: Traces;
  /** Takes each observation before anything is concluded from it. */
  record?: (observation: Observation) => void;
  audience?: Audience;
  /** The source looks at the traces to decide what to do next (what to watch, when to end). */
  onTrace?: (trace: Trace, key: string) => void;
}

/** The trace of the one pod, or of the first, when the source ends: `traces` has them all. Errors of the source pass through. */
export async function run(options: RunOptions): Promise<Trace> {
  const { source, logText, traces = createTraces(), record, audience, onTrace } = options;
  let seq = 0;
  for await (const rawObservation of source) {
    seq += 1;
    const observation = observe(rawObservation, seq, { logText });
    record?.(observation);
    for (const key of traces.add(observation)) {
      const trace = traces.get(key);
      if (!trace) continue;
      audience?.step(trace, observation, key);
      onTrace?.(trace, key);
    }
  }
  return traces.get(traces.keys()[0] ?? onePod) ?? emptyTrace;
}

export interface LookOptions {
  color: 'auto' | 'always' | 'never';
  ascii: boolean;
  timestamps: 'relative' | 'local' | 'utc';
  /** Show the containers' log lines. */
  logs: boolean;
  /** Evidence, phases, assumptions and gaps with the card: `-v`. */
  verbose?: boolean;
  /** The connection flags behind a command that is advised, each with a blank before it (kube/connect-options.ts). */
  reach?: string;
}

export interface Stage extends Audience {
  /** The final report. */
  end(trace: Trace, report: Report): Promise<void>;
  /** A message for the person, where it must not tear the picture; false: it goes to stderr as it is. */
  say(text: string): boolean;
  /** Gives the terminal back, whatever happened. */
  close(): void;
}
