/**
 * The exit as lines: the heading, a line a mark as it becomes known, then phases, verdict and what was not seen.
 * The same document is made from a report alone (`.txt`).
 */
import type { Observation } from '../model/observation.ts';
import type { ExitReport } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import type { Header } from '../infer/view/header.ts';
import { headingLines, headingOf, headingOfReport } from './heading.ts';
import { createHistory } from './history.ts';
import { columnsFor, markLines } from './mark-line.ts';
import type { MarkView, Timestamps, Zero } from './moments.ts';
import { clockText, dayText, shownAt, toldMoment, zeroOfMarks } from './moments.ts';
import type { Pen, Style } from './palette.ts';
import { penFor, plainStyle } from './palette.ts';
import { phaseTable } from './phase-table.ts';
import { millis } from './offsets.ts';
import { dim, flow } from './prose.ts';
import { forTerminal } from './safe-text.ts';
import { viewsOf } from './shown.ts';
import type { VerdictPlace } from './verdict-text.ts';
import { verdictLines } from './verdict-text.ts';

export interface LinesOptions {
  /** Called with whole lines, line feeds included. */
  readonly write: (text: string) => void;
  readonly style: Style;
  readonly timestamps: Timestamps;
  /** Columns of the terminal, now; absent: no terminal, so that no line is wrapped. */
  readonly columns?: () => number;
  /** Show the containers' log lines, where the observations hold them. */
  readonly logs: boolean;
  /** Connection flags behind a command that is advised, each with a blank before it. */
  readonly reach?: string | undefined;
}

export interface Lines {
  step(trace: Trace, observation: Observation): void;
  /** The rest: phases and verdict. */
  end(trace: Trace, report: ExitReport): void;
}

export function createLines({ write, style, timestamps, columns, logs, reach }: LinesOptions): Lines {
  const pen = penFor(style);
  const history = createHistory(pen, { timestamps, logs });
  const width = (): number => columns?.() ?? Infinity;
  const put = (lines: readonly string[]): void => {
    if (lines.length > 0) write(lines.map((line) => `${line}\n`).join(''));
  };
  return {
    step: (trace, observation) => put(history.step(trace, observation, width())),
    end: (trace, report) => {
      const rest = history.rest(trace, width());
      const zero = history.zero()?.at ?? zeroOfReport(report).at;
      put([...rest, ...conclusion(pen, report, { zero, width: width(), reach })]);
    },
  };
}

export interface TextOptions {
  readonly style?: Style;
  readonly timestamps?: Timestamps;
  /** Columns of a line; absent: no line is wrapped. */
  readonly columns?: number;
  /** What is known of the pod beside its report. */
  readonly header?: Header;
  /** Connection flags behind a command that is advised, each with a blank before it. */
  readonly reach?: string | undefined;
}

/** The same document as of `createLines`, from a report alone, its marks in the order in which they happened. */
export function renderText(report: ExitReport, options: TextOptions = {}): string {
  const { style = plainStyle, timestamps = 'utc', columns: width = Infinity, header, reach } = options;
  const pen = penFor(style);
  const zero = zeroOfReport(report);
  const day = timestamps === 'relative' ? undefined : dayText(zero.at, timestamps);
  const heading = header ? headingOf(header, report.grace.effectiveSeconds, day) : headingOfReport(report, day);
  const columns = columnsFor(
    width,
    report.containers.map(({ name }) => forTerminal(name)),
  );
  const hookOf = (name: string) => report.containers.find((one) => one.name === name)?.preStop?.kind;
  const marks = inArrival(viewsOf(report), zero).flatMap((mark) =>
    markLines(pen, { kind: 'told', mark }, zero, { timestamps, hookOf }, columns),
  );
  const lines = [
    ...headingLines(pen, heading, width),
    ...(marks.length > 0 ? ['', ...marks] : []),
    ...conclusion(pen, report, { zero: zero.at, width, reach }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** What stands below the marks: the phases as a table, then the verdict. */
export function conclusion(pen: Pen, report: ExitReport, place: VerdictPlace): string[] {
  const { zero, width } = place;
  const table = phaseTable(pen, report, width);
  return [
    ...(table.length > 0 ? ['', ...table] : []),
    '',
    ...verdictLines(pen, report, place),
    ...movedZero(pen, report, zero, width),
  ];
}

/** ms; nobody compares offsets more closely. */
const notable = 50;

/** The lines count from what was known when the first of them was written; a report from what is known at the end. */
function movedZero(pen: Pen, report: ExitReport, zero: number, width: number): string[] {
  const now = zeroOfReport(report).at;
  if (Math.abs(now - zero) < notable) return [];
  const text = `  offsets above count from ${clockText(zero, 3, 'utc')} UTC, when the deletion was first known to be accepted; those of reports from ${clockText(now, 3, 'utc')} UTC, as it is known now`;
  return flow(pen, [dim(text)], { width, hang: 4 });
}

/** A report has them as they happened. Those that were seen one after the other are told as they came, as in the live lines. */
function inArrival(marks: readonly MarkView[], zero: Zero): MarkView[] {
  const isSeen = (mark: MarkView): boolean => toldMoment(mark).basis === 'observed';
  const runs: MarkView[][] = [];
  for (const mark of marks) {
    const run = runs.at(-1);
    if (run?.[0] && isSeen(run[0]) && isSeen(mark)) run.push(mark);
    else runs.push([mark]);
  }
  return runs.flatMap((run) => run.sort((a, b) => shownAt(a, zero) - shownAt(b, zero)));
}

/** Without a mark, what the deadline says of the request. */
export function zeroOfReport(report: ExitReport): Zero {
  const known = zeroOfMarks(viewsOf(report));
  if (known) return known;
  const at = (millis(report.grace.deadline) ?? 0) - report.grace.effectiveSeconds * 1000;
  return { at, accepted: at };
}
