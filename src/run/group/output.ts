/** The reports of a run over several pods: shown and written as each pod ends, the summary at the end. */
import type { Observation } from '../../model/observation.ts';
import { exitViews, rolloutViews } from '../../output/documents.ts';
import { rolloutAnnotations } from '../../output/machine/github.ts';
import { rolloutSections } from '../../output/machine/markdown.ts';
import { annotate, publishPod, publishSummary } from '../../output/publish.ts';
import { fileOfPod, uniquePodNames, writeReports } from '../../output/report-files.ts';
import { isForEachPod } from '../../output/writable.ts';
import type { SeveralView, SoFar } from '../../output/several.ts';
import { gateFailed, worstCode } from '../../verdict/exit-code.ts';
import type { Report } from '../../verdict/report.ts';
import { reportOf } from '../../advice/report.ts';
import { rolloutNumbers, type RolloutExtras } from '../../verdict/rollout.ts';
import { lossGates, probeReportsOf } from '../probing/probe-results.ts';
import type { FinishOptions } from './finish.ts';
import type { Ports } from '../ports.ts';
import { createTraceReports } from '../ending/trace-end.ts';
import type { Traces } from '../traces/traces.ts';

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
      annotate(rolloutAnnotations(numbers), where, format, ports);
      await publishSummary(() => rolloutSections(numbers, reports), where, ports);
      return worstCode([numbers.exitCode, code]);
    },
  };
}
