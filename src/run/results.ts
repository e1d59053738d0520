/** The reports of a run over several pods: each is made when its trace has ended, shown, written and published. */
import type { Traces } from './traces.ts';
import type { ExitReport } from '../model/report.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import { reportOf } from '../verdict/report.ts';
import type { FinishOptions } from './finish.ts';
import type { Ports } from './ports.ts';
import { publish } from './publish.ts';
import { finishFiles, ownNames } from './report-files.ts';
import type { RolloutOutput } from './rollout-output.ts';
import type { Audience } from './run.ts';

export interface Results {
  readonly reports: ExitReport[];
  /** Of files that could not be written. */
  readonly codes: number[];
  /** Takes each trace at its end, as the log has it. */
  audience(traces: Traces, target: string): Audience;
  /** The trace has come to its end, or the run has. */
  take(traces: Traces, key: string): void;
  /** All that was taken has been shown. */
  written(): Promise<void>;
}

/** `reported`: where reports and codes are kept. */
export function createResults(
  options: FinishOptions & { reported?: Pick<Results, 'reports' | 'codes'> },
  output: RolloutOutput,
  ports: Ports,
): Results {
  const { reports, codes } = options.reported ?? { reports: [], codes: [] };
  const nameOf = ownNames();
  let writing: Promise<void> = Promise.resolve();
  const show = async (report: Report, pod: ExitReport['pod']): Promise<void> => {
    await output.ended(report);
    codes.push(await finishFiles(report, nameOf(pod), options.reports, ports));
    await publish(report, options.publish, options.format, ports);
  };
  const take = (traces: Traces, key: string): void => {
    const trace = traces.get(key);
    const report = trace && reportOf(trace, options.policy);
    traces.close(key);
    if (!report) return;
    const exit = exitReportOf(report);
    reports.push(exit);
    writing = writing.then(() => show(report, exit.pod));
  };
  return {
    reports,
    codes,
    audience: (traces, target) => ({
      step: (_trace, observation, key) => {
        output.step?.(traces, target);
        if (key !== undefined && observation.kind === 'timer' && observation.pod === key) take(traces, key);
      },
    }),
    take,
    written: () => writing,
  };
}
