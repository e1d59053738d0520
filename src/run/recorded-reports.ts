/** The exits of a recording as reports, for the commands that explain or compare exits instead of showing them. */
import type { RawObservation } from '../model/observation.ts';
import { reportOf, type Report } from '../verdict/report.ts';
import { openReplay } from './replay.ts';
import { run, type RunOptions } from './run.ts';
import { createTraceReports } from './traces.ts';
import { tracesOfLog } from './traces-of-log.ts';

/** One report for each pod that terminates, in the order in which they ended. Throws what `openReplay` throws. */
export async function reportsInRecording(file: string): Promise<Report[]> {
  const { rawObservations: source, logText, traces } = await openReplay(file, () => {});
  return reportsFrom({ source, logText, traces });
}

/** The report of a log about one pod; undefined if the log does not hold the pod. */
export async function reportOfLog(source: Iterable<RawObservation>): Promise<Report | undefined> {
  const [report] = await reportsFrom({ source, logText: false, traces: tracesOfLog() });
  return report;
}

async function reportsFrom(log: Pick<RunOptions, 'source' | 'logText' | 'traces'>): Promise<Report[]> {
  const reports: Report[] = [];
  const taken = createTraceReports(log.traces, reportOf, (report) => void reports.push(report));
  await run({ ...log, audience: { step: (_trace, observation, key) => taken.step(observation, key) } });
  taken.takeRest();
  return reports;
}
