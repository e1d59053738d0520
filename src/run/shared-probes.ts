/** The probes of a run over several pods, once for all of them: what each exit says of requests. */
import { emptyTrace, type ProbeFacts, type Trace } from '../model/trace.ts';
import type { Observation } from '../model/observation.ts';
import { reduce } from '../model/reduce.ts';

export interface SharedProbes {
  /** Whether it was about a probe. */
  take(observation: Observation): boolean;
  /** All of them, by their number. */
  all(): ReadonlyMap<number, ProbeFacts>;
  /** The trace of the pod `uid`, with the probes that ask it, or none of the pods. */
  in(trace: Trace, uid: string): Trace;
}

export function createSharedProbes(): SharedProbes {
  let { probes } = emptyTrace;
  return {
    take(o) {
      const isAbout = o.kind === 'probe-started' || o.kind === 'probe-counts' || o.kind === 'probe-ended';
      if (isAbout) ({ probes } = reduce({ ...emptyTrace, probes }, o));
      return isAbout;
    },
    all: () => probes,
    in(trace, uid) {
      if (probes.size === 0) return trace;
      const since = trace.deletion?.seenAt ?? -Infinity;
      const own = [...probes].filter(([, { started }]) => [undefined, uid].includes(started.value.pod));
      return {
        ...trace,
        probes: new Map(own.map(([probe, facts]) => [probe, { ...facts, slices: sliceSince(facts, since) }])),
      };
    },
  };
}

/** What failed before this pod was deleted is another's loss. */
const sliceSince = ({ slices, started }: ProbeFacts, since: number): ProbeFacts['slices'] =>
  started.value.pod === undefined ? slices.filter(({ at }) => at >= since) : slices;
