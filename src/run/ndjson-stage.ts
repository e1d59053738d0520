/** `-o ndjson`: marks and gaps as they become known, and the report at the end. */
import { createChatterLimit, timelineOf } from '../infer/conclude.ts';
import type { Observation } from '../model/observation.ts';
import { printTime } from '../model/stamps.ts';
import type { Trace } from '../model/trace.ts';
import { createNdjson, type Ndjson, type PodOfLine } from '../render/ndjson.ts';
import { exitReportOf, gapReport, markReport } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import type { Ports } from './ports.ts';
import type { Stage } from './run.ts';

export function ndjsonStage(ports: Ports): Stage {
  const { step, end } = linesOfPod(ports);
  return { step, end: async (_trace, report) => end(report), say: () => false, close: () => {} };
}

export interface LinesOfPod {
  step(this: void, trace: Trace, observation: Observation): void;
  end(this: void, report: Report): void;
}

/**
 * Marks are printed again only when something was observed about the pod, which its notes show. A `Date` alone is never
 * printed: what it narrows comes with the next observation, or with the report. A run asks each of its streams at the end, and
 * ten answers would stand between the last lines of the watches and their marks. `pod`: in a run over several.
 */
export function linesOfPod({ stdout }: Pick<Ports, 'stdout'>, pod?: PodOfLine): LinesOfPod {
  const ndjson = createNdjson((lines) => stdout.write(lines), pod);
  let printed: Trace['notes'];
  const isWorthIt = createChatterLimit();
  return {
    step(trace, observation) {
      if (trace.notes === printed || observation.kind === 'dated' || !isWorthIt(trace, observation)) return;
      printed = trace.notes;
      writeNews(ndjson, trace);
    },
    end: (report) => ndjson.end(exitReportOf(report)),
  };
}

function writeNews(ndjson: Ndjson, trace: Trace): void {
  const { marks = [], gaps = [] } = timelineOf(trace) ?? {};
  const at = printTime(trace.now, 'earlier');
  ndjson.marks(
    at,
    marks.map((mark) => ({ ...markReport(mark), provisional: mark.provisional })),
  );
  ndjson.gaps(at, gaps.map(gapReport));
}
