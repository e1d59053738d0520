/** `-o ndjson`: marks and gaps as they become known, and the report at the end. */
import { createChatterLimit, timelineOf } from '../../infer/conclude.ts';
import type { Observation } from '../../model/observation.ts';
import { printTime } from '../../model/stamps.ts';
import type { Trace } from '../../model/trace.ts';
import { createNdjson, type PodOfLine } from './ndjson.ts';
import { exitReportOf, gapReport, markReport } from '../../verdict/exit-report.ts';
import type { Report } from '../../verdict/report.ts';
import type { OutputPorts } from '../ports.ts';

export type LinesOfPod = ReturnType<typeof linesOfPod>;

/**
 * `-o ndjson`: marks and gaps as they become known, and the report at the end.
 *
 * Marks are printed again only after an observation about the pod, which adds to the trace's notes. A `Date` header
 * alone prints nothing: what it narrows is printed with the next observation, or with the report. At its end a run asks
 * each of its streams; ten answers would come between the last watch lines and their marks. `pod`: only in a run over
 * several pods.
 */
export function linesOfPod({ stdout }: Pick<OutputPorts, 'stdout'>, pod?: PodOfLine) {
  const ndjson = createNdjson((lines) => stdout.write(lines), pod);
  let printed: Trace['notes'];
  const isWorthIt = createChatterLimit();
  return {
    step(trace: Trace, observation: Observation): void {
      if (trace.notes === printed || observation.kind === 'dated' || !isWorthIt(trace, observation)) return;
      printed = trace.notes;
      const { marks = [], gaps = [] } = timelineOf(trace) ?? {};
      const at = printTime(trace.now, 'earlier');
      const reports = marks.map((mark) => ({ ...markReport(mark), provisional: mark.provisional }));
      ndjson.marks(at, reports);
      ndjson.gaps(at, gaps.map(gapReport));
    },
    end: (report: Report): void => ndjson.end(exitReportOf(report)),
  };
}
