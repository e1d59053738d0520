/** The traces of one run, updated as its log grows. */
import { emptyTrace, type ProbeFacts, type Trace } from '../model/trace.ts';
import type { Observation } from '../model/observation.ts';
import { reduce } from '../model/reduce.ts';

export interface Traces {
  /** Adds one observation of the log. Returns the keys of the traces that it concerns. */
  add(observation: Observation): readonly string[];
  /** The trace by the pod's uid, or by `onePod`. */
  get(key: string): Trace | undefined;
  /** The keys of the open traces, in the order in which they began. */
  keys(): readonly string[];
  /** The probes of the run, by number. */
  probes(): ReadonlyMap<number, ProbeFacts>;
  /** Closes a reported trace: it takes no more observations, and `replacement` can replace no other pod. */
  close(key: string, replacement?: string): void;
}

/** The key of the trace in a run about one pod, whose uid may not be known yet. */
export const onePod = '';

/** The trace of the one pod, or of several pods the open trace that began first. */
export const firstTrace = (traces: Traces): Trace | undefined => traces.get(traces.keys()[0] ?? onePod);

/** Everything that a run about one pod observes is about this pod, or about the other pods of its workload. */
export function tracesOfOne(): Traces {
  let trace = emptyTrace;
  return {
    add(observation) {
      trace = reduce(trace, ofOnePod(observation));
      return [onePod];
    },
    get: (key) => (key === onePod ? trace : undefined),
    keys: () => [onePod],
    probes: () => trace.probes,
    close: () => {},
  };
}

const ofOnePod = (o: Observation): Observation =>
  'stream' in o && o.stream === 'pods' ? { ...o, stream: 'siblings' } : o;
