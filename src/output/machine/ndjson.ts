/** `-o ndjson`: a line for each mark when it is known, corrections under its id, the report last (docs/ndjson.md). */
import { createChatterLimit, timelineOf } from '../../infer/conclude.ts';
import type { Observation } from '../../model/observation.ts';
import type { ExitReport, MarkReport, Time } from '../../model/report.ts';
import { printTime } from '../../model/stamps.ts';
import type { Trace } from '../../model/trace.ts';
import { exitReportOf, gapReport, markReport } from '../../verdict/exit-report.ts';
import type { Report } from '../../verdict/report.ts';
import type { OutputPorts } from '../ports.ts';
import { jsonText } from './json.ts';

type Gap = ExitReport['gaps'][number];

/** Which pod a line is about, in a run over several. */
type PodOfLine = Pick<ExitReport['pod'], 'namespace' | 'name' | 'uid'>;

/** A mark as it is printed. Later facts may still move or withdraw one that is `provisional`. */
interface MarkState {
  readonly mark: MarkReport;
  readonly provisional: boolean;
  readonly withdrawn?: true;
}

/** `write` gets all lines of a call at once: a write costs a pipe more than a line does. Only changes are printed. */
export function createNdjson(write: (lines: string) => void, pod?: PodOfLine) {
  const printed = new Map<string, { readonly state: MarkState; readonly text: string; readonly revision: number }>();
  const printedGaps = new Map<string, string>();
  let isOver = false;
  let lastAt: Time | undefined;

  const writeLines = (lines: readonly object[]): void => {
    if (lines.length > 0 && !isOver) write(lines.map((line) => `${jsonText(line)}\n`).join(''));
  };

  const changedMark = (at: Time, state: MarkState, isLast: boolean): object[] => {
    const { id } = state.mark;
    const before = printed.get(id);
    // Compared before it is formatted: escaping all marks each time would cost more than inferring them.
    const text = JSON.stringify(state);
    if (before?.text === text || (before && !isLast && isMinorChange(before.state, state))) return [];
    const revision = (before?.revision ?? 0) + 1;
    printed.set(id, { state, text, revision });
    const { provisional, withdrawn, mark } = state;
    return [{ type: 'mark', at, pod, id, revision, provisional, withdrawn, mark }];
  };

  const changedMarks = (at: Time, marks: readonly MarkState[], isLast: boolean): object[] => {
    const present = new Set(marks.map(({ mark }) => mark.id));
    const gone = [...printed.values()].filter(({ state }) => !present.has(state.mark.id) && !state.withdrawn);
    const withdrawn = gone.map(({ state }): MarkState => ({ mark: state.mark, provisional: false, withdrawn: true }));
    return [...withdrawn, ...marks].flatMap((state) => changedMark(at, state, isLast));
  };

  const changedGaps = (at: Time, gaps: readonly Gap[]): object[] =>
    gaps.flatMap((gap) => {
      const key = JSON.stringify([gap.resource, gap.from, gap.cause]);
      const to = gap.to ?? '';
      if (printedGaps.get(key) === to) return [];
      printedGaps.set(key, to);
      return [{ type: 'gap', at, pod, gap }];
    });

  return {
    /** Prints what is new, changed or gone among all marks and gaps of the trace. `at`: now, client's clock. */
    step: (at: Time, marks: readonly MarkState[], gaps: readonly Gap[] = []): void => {
      lastAt = at;
      writeLines([...changedMarks(at, marks, false), ...changedGaps(at, gaps)]);
    },
    /** Prints the final state of every mark, then the report. Nothing is written after it. */
    end: (report: ExitReport): void => {
      // The report has no "now": its marks are final as of the newest time that is known.
      const times = [...report.observations.map((one) => one.at), ...report.marks.map((one) => one.at.latest)];
      const at = [...times, lastAt ?? ''].sort().at(-1) || report.grace.deadline;
      const marks = report.marks.map((mark) => ({ mark, provisional: false }));
      writeLines([...changedMarks(at, marks, true), ...changedGaps(at, report.gaps), { type: 'report', report }]);
      isOver = true;
    },
  };
}

/** The same of a run that is over; `namesPod`: it was about several. */
export function finalLines(report: ExitReport, namesPod = false): string {
  const { namespace, name, uid } = report.pod;
  let text = '';
  createNdjson((lines) => (text += lines), namesPod ? { namespace, name, uid } : undefined).end(report);
  return text;
}

/** The same mark with an interval that is narrower by less than 100 ms, which is printed with the report. */
function isMinorChange(before: MarkState, next: MarkState): boolean {
  const isSame =
    before.provisional === next.provisional &&
    before.withdrawn === next.withdrawn &&
    before.mark.note === next.mark.note &&
    before.mark.at.basis === next.mark.at.basis;
  const narrowedBy = [
    Date.parse(next.mark.at.earliest) - Date.parse(before.mark.at.earliest),
    Date.parse(before.mark.at.latest) - Date.parse(next.mark.at.latest),
  ];
  return isSame && narrowedBy.every((ms) => ms >= 0) && narrowedBy.reduce((sum, ms) => sum + ms) < 100;
}

export type LinesOfPod = ReturnType<typeof linesOfPod>;

/**
 * The lines of a pod while it is traced; `pod`: only in a run over several. Marks are printed again only after an
 * observation that adds to the trace's notes. What a `Date` header narrows is printed with the next one: at its end a run
 * asks each stream, and ten answers would come between the last watch lines and their marks.
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
      const reports = marks.map((mark) => ({ mark: markReport(mark), provisional: mark.provisional }));
      ndjson.step(printTime(trace.now, 'earlier'), reports, gaps.map(gapReport));
    },
    end: (report: Report): void => ndjson.end(exitReportOf(report)),
  };
}
