/** A trace as `-o json` prints it. */
import type { ExitReport } from '../../src/model/report.ts';
import type { Trace } from '../../src/model/trace.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';
import type { Policy } from '../../src/verdict/policy.ts';
import { reportOf } from '../../src/verdict/report.ts';

/** Undefined while not even the pod has been seen. */
export function exitReportFrom(trace: Trace, policy?: Policy): ExitReport | undefined {
  const report = reportOf(trace, policy);
  return report && exitReportOf(report);
}
