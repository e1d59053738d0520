/** The probes of a run over several pods, once for all of them: what each exit says of requests. */
import { probeReportOf, probeResultsOf } from '../infer/probes.ts';
import { emptyTrace } from '../model/empty-trace.ts';
import type { Observation } from '../model/observation.ts';
import type { ExitReport, MarkName, ProbeReport } from '../model/report.ts';
import { reduce } from '../model/reduce.ts';
import type { ProbeFacts, Trace } from '../model/trace.ts';

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
      const own = [...probes].filter(([, { started }]) => [undefined, uid].includes(started.value.pod));
      return { ...trace, probes: new Map(own) };
    },
  };
}

/** What the probes of a whole run measured: before its first deletion, until its last pod was gone, and after that. */
export function probeReportsOf(traces: { probes: SharedProbes['all'] }, reports: readonly ExitReport[]): ProbeReport[] {
  const timesOf = (name: MarkName): number[] =>
    reports.flatMap(({ marks }) => marks.filter((mark) => mark.name === name).map(({ at }) => Date.parse(at.earliest)));
  const moments = {
    requested: Math.min(...timesOf('requested'), ...timesOf('accepted')),
    removed: Math.max(-Infinity, ...timesOf('removed')),
  };
  return probeResultsOf(traces.probes(), moments).map(probeReportOf);
}
