/** The report of a trace as in `-o json`. */
import type { ExitReport } from '../../src/model/report.ts';
import type { Trace } from '../../src/model/trace.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';
import type { Policy } from '../../src/verdict/policy.ts';
import { reportOf } from '../../src/advice/report.ts';

/** Undefined before the first observation of the pod. */
export function exitReportFrom(trace: Trace, policy?: Policy): ExitReport | undefined {
  const report = reportOf(trace, policy);
  return report && exitReportOf(report);
}
