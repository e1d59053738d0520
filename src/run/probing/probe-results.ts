/** What the probes of a run over several pods measured, for its summary and exit code. */
import { probeReportOf, probeResultsOf } from '../../infer/probes.ts';
import type { ProbeFacts } from '../../model/trace.ts';
import type { Gate, MarkName, ProbeReport } from '../../model/report.ts';
import { lostWithin, withImpliedLoss } from '../../verdict/gates.ts';
import type { Policy } from '../../verdict/policy.ts';
import type { Report } from '../../verdict/report.ts';

/** The probes of a run, by number. */
type Probes = ReadonlyMap<number, ProbeFacts>;

/** One entry for each --probe: the measurements of `--probe pod` are merged over all pods. */
function mergedByTarget(probes: Probes): Map<number, ProbeFacts> {
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

/** Measurements of the whole run: before its first deletion, until its last pod was gone, and after that. */
export function probeReportsOf(probes: Probes, reports: readonly Report[]): ProbeReport[] {
  const timesOf = (name: MarkName): number[] =>
    reports.flatMap(({ timeline }) => timeline.marks.filter((mark) => mark.name === name).map(({ at }) => at.earliest));
  const moments = {
    requested: Math.min(...timesOf('requested'), ...timesOf('accepted')),
    removed: Math.max(-Infinity, ...timesOf('removed')),
  };
  return probeResultsOf(mergedByTarget(probes), moments).map(probeReportOf);
}

/** `--max-lost` over the whole run, including losses while no pod was terminating; implied by a probe. */
export function lossGates(probes: Probes, { gates }: Pick<Policy, 'gates'>): Gate[] {
  const results = probeResultsOf(probes, {});
  const limits = gates.flatMap((gate) => (gate.kind === 'max-lost' ? [lostWithin(results, gate)] : []));
  return withImpliedLoss(results, limits);
}
