/** The reports of a run, each taken when the log ends its trace. */
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import type { Report } from '../verdict/report.ts';
import type { Traces } from './traces.ts';

/** Passes each report to `onReport` and closes its trace. A pod that was never seen has no report. */
export function createTraceReports(
  traces: Traces,
  reportOf: (trace: Trace) => Report | undefined,
  onReport: (report: Report) => void,
) {
  const take = (key: string): void => {
    const trace = traces.get(key);
    const report = trace && reportOf(trace);
    traces.close(key, report?.timeline.replacement?.uid);
    if (report) onReport(report);
  };
  return {
    /** To be called with each observation and the trace that it concerns. */
    step(observation: Observation, key?: string): void {
      if (key !== undefined && observation.kind === 'timer' && observation.pod === key) take(key);
    },
    /** Takes the traces that are still open when the run ends. */
    takeRest: (): void => traces.keys().forEach(take),
  };
}
