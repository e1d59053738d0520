/** The probes of a run over several pods, once for all of them: what each exit says of requests. */
import { probeReportOf, probeResultsOf } from '../infer/probes.ts';
import { emptyTrace } from '../model/empty-trace.ts';
import type { Observation } from '../model/observation.ts';
import type { ExitReport, MarkName, ProbeReport } from '../model/report.ts';
import { reduce } from '../model/reduce.ts';
import type { ProbeFacts, Trace } from '../model/trace.ts';
import { gateFailed } from '../verdict/exit-code.ts';
import { lostWithin, withImpliedLoss } from '../verdict/gates.ts';
import type { Policy } from '../verdict/policy.ts';

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

/** One for each --probe: what `pod` measured is one list for all pods. */
function merged(probes: ReadonlyMap<number, ProbeFacts>): Map<number, ProbeFacts> {
  const all = new Map<string, ProbeFacts>();
  for (const [probe, facts] of [...probes].sort(([one], [other]) => one - other)) {
    const { target, pod } = facts.started.value;
    const key = pod === undefined ? `${probe}` : target;
    const known = all.get(key);
    const slices = known && [...known.slices, ...facts.slices].sort((one, other) => one.at - other.at);
    all.set(key, slices ? { ...known, slices } : facts);
  }
  return new Map([...all.values()].map((facts) => [facts.started.value.probe, facts]));
}

/** What the probes of a whole run measured: before its first deletion, until its last pod was gone, and after that. */
export function probeReportsOf(traces: { probes: SharedProbes['all'] }, reports: readonly ExitReport[]): ProbeReport[] {
  const timesOf = (name: MarkName): number[] =>
    reports.flatMap(({ marks }) => marks.filter((mark) => mark.name === name).map(({ at }) => Date.parse(at.earliest)));
  const moments = {
    requested: Math.min(...timesOf('requested'), ...timesOf('accepted')),
    removed: Math.max(-Infinity, ...timesOf('removed')),
  };
  return probeResultsOf(merged(traces.probes()), moments).map(probeReportOf);
}

/** Also what was lost when no pod was terminating: the exit code of the gate `--max-lost` over the whole run, where it fails. */
export function lossCodes(traces: { probes: SharedProbes['all'] }, { gates, warnOnly }: Policy): number[] {
  const trace = { ...emptyTrace, probes: traces.probes() };
  const limits = gates.flatMap((gate) => (gate.kind === 'max-lost' ? [lostWithin(trace, gate)] : []));
  const isLost = withImpliedLoss(trace, limits).some(({ passed }) => !passed);
  return isLost && !warnOnly ? [gateFailed] : [];
}
