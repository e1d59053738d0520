/** The reports of a run over several pods: shown and written as each pod ends, the summary with its probes at the end. */
import type { Observation } from '../../model/observation.ts';
import { exitViews, rolloutViews } from '../../output/documents.ts';
import { annotate, gateAnnotations, publishPod, publishSummary } from '../../output/publish.ts';
import { rolloutSections } from '../../output/machine/markdown.ts';
import { fileOfPod, uniquePodNames, writeReports, isForEachPod } from '../../output/report-files.ts';
import type { SeveralView, SoFar } from '../../output/several.ts';
import { gateFailed, worstCode } from '../../verdict/exit-code.ts';
import type { Report } from '../../verdict/report.ts';
import { reportOf } from '../../advice/report.ts';
import { rolloutNumbers, type RolloutExtras } from '../../verdict/rollout.ts';
import type { FinishOptions } from './finish.ts';
import type { Ports } from '../ports.ts';
import { createTraceReports } from '../ending/trace-end.ts';
import type { Traces } from '../traces/traces.ts';
import { probeReportOf, probeResultsOf } from '../../infer/probes.ts';
import type { ProbeFacts } from '../../model/trace.ts';
import type { Gate, MarkName, ProbeReport } from '../../model/report.ts';
import { lostWithin, withImpliedLoss } from '../../verdict/gates.ts';
import type { Policy } from '../../verdict/policy.ts';

export type Results = ReturnType<typeof createResults>;

/** Reports each trace at its end, also in files, and the summary at the end of the run. */
export function createResults(
  { policy, reports: files, publish: where, format }: FinishOptions,
  soFar: Pick<SoFar, 'target' | 'held'>,
  traces: Traces,
  output: SeveralView,
  ports: Ports,
) {
  const { target } = soFar;
  const reports: Report[] = [];
  const fileCodes: number[] = [];
  const nameOf = uniquePodNames();
  let writing: Promise<void> = Promise.resolve();
  const show = async (report: Report): Promise<void> => {
    await output.ended?.(report);
    const own = files.filter(isForEachPod).map((file) => fileOfPod(file, nameOf(report.timeline.pod.metadata)));
    fileCodes.push(await writeReports(exitViews, report, own, ports));
    await publishPod(report, where, format, ports);
  };
  const take = (report: Report): void => {
    reports.push(report);
    writing = writing.then(() => show(report));
  };
  const taken = createTraceReports(traces, (trace) => reportOf(trace, policy), take);
  return {
    traces,
    reports: reports as readonly Report[],
    take: (observations: readonly Observation[]): void => output.take?.({ ...soFar, traces, reports }, observations),
    step: output.step,
    ...taken,
    /** Resolves when all reports have been shown. */
    written: (): Promise<void> => writing,
    /** Prints the summary. Returns the worst exit code of all. */
    async end({ codes = [], ...extras }: Omit<RolloutExtras, 'probes'> = {}, isShown = true): Promise<number> {
      const gates = lossGates(traces.probes(), policy);
      const failed = gates.flatMap(({ passed }) => (passed || policy.warnOnly ? [] : gateFailed));
      const numbers = rolloutNumbers(target, reports, {
        ...extras,
        gates,
        codes: [...codes, ...fileCodes, ...failed],
        probes: probeReportsOf(traces.probes(), reports),
      });
      const rollout = { numbers, reports };
      if (isShown) await output.end(rollout);
      const whole = files.filter((file) => !isForEachPod(file));
      const code = await writeReports(rolloutViews, rollout, whole, ports);
      if (!isShown) return code;
      annotate(gateAnnotations(numbers, numbers.target), where, format, ports);
      await publishSummary(() => rolloutSections(numbers, reports), where, ports);
      return worstCode([numbers.exitCode, code]);
    },
  };
}

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
