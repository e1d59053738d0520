/** Lines mode: one line per change as it becomes known, then the card. `.txt` reports are the same document. */
import type { Timeline } from '../../infer/timeline.ts';
import type { Observation } from '../../model/observation.ts';
import type { Report } from '../../verdict/report.ts';
import { cardLines, type CardFlags } from './card.ts';
import { detailLines } from './details.ts';
import { createChangeLines, sortedLines, lineLayout, type HistoryOptions, type LoggedLine } from './history.ts';
import { penFor, plainStyle, type Pen, type Style } from '../palette.ts';

export interface LinesOptions extends CardFlags, Omit<HistoryOptions, 'columns'> {
  /** Called with whole lines, line feeds included. */
  readonly write: (text: string) => void;
  readonly style: Style;
  /** Current columns of the terminal; absent without a terminal: then only the card is wrapped. */
  readonly columns?: (() => number) | undefined;
}

export function createLines(options: LinesOptions) {
  const { write, columns = () => Infinity } = options;
  const pen = penFor(options.style);
  const history = createChangeLines(pen, { ...options, columns });
  const put = (lines: readonly string[]): void => {
    if (lines.length > 0) write(lines.map((line) => `${line}\n`).join(''));
  };
  return {
    /** `timeline` is undefined until the pod has been seen. */
    step: (timeline: Timeline | undefined, observation: Observation) => put(history.step(timeline, observation)),
    /** Prints what was held back, and the card. */
    end: (report: Report) => put([...history.rest(report.timeline), '', ...endLines(pen, report, columns(), options)]),
  };
}

/** The same for a run that is over: everything at its end, each moment once and sorted. */
export function createSortedLines({ write, columns, logs, ...options }: LinesOptions) {
  const log: LoggedLine[] = [];
  return {
    step: (_: unknown, observation: Observation): void =>
      void (logs && observation.kind === 'line' && log.push(observation)),
    end: (report: Report): void => write(renderText(report, { ...options, log, columns: columns?.() })),
  };
}

/** The card, and with `verbose` the details above it. */
export function endLines(pen: Pen, report: Report, columns: number, { verbose = false, flags }: CardFlags): string[] {
  const card = cardLines(report, { pen, columns, flags, verbose });
  // The answer stays the last line.
  return verbose ? [...detailLines(pen, report, columns), '', ...card] : card;
}

interface TextOptions extends CardFlags, Partial<Pick<LinesOptions, 'style' | 'timestamps'>> {
  /** Columns of a line; absent: only the card is wrapped. */
  readonly columns?: number | undefined;
  readonly log?: readonly LoggedLine[];
}

/** The document of `--report FILE.txt`: every change in the order of its time, then the card. */
export function renderText(report: Report, options: TextOptions = {}): string {
  const { style = plainStyle, timestamps = 'utc', columns: width = Infinity, log = [] } = options;
  const { timeline } = report;
  const pen = penFor(style);
  const layout = lineLayout({ pen, timestamps, width }, timeline, timeline.zero);
  const changes = sortedLines(timeline, log, layout);
  const lines = [...changes, ...(changes.at(-1) === '' ? [] : ['']), ...endLines(pen, report, width, options)];
  return lines.map((line) => `${line}\n`).join('');
}
