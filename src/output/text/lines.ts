/** Lines mode: one line per change as it becomes known, then the card. `.txt` reports are the same document. */
import type { Timeline } from '../../infer/timeline.ts';
import type { Observation } from '../../model/observation.ts';
import type { Report } from '../../verdict/report.ts';
import { cardLines, type CardFlags } from './card.ts';
import { detailLines } from './details.ts';
import { createHistory, eventLines, headingLines, lineLayout, type HistoryOptions } from './history.ts';
import { worthPrinting } from './next-to-print.ts';
import { penFor, plainStyle, type Pen, type Style } from '../palette.ts';
import type { Timestamps } from '../time-text.ts';

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
  const history = createHistory(pen, { ...options, columns });
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

/** The card, and with `verbose` the details above it. */
export function endLines(pen: Pen, report: Report, columns: number, { verbose = false, flags }: CardFlags): string[] {
  const card = cardLines(report, { pen, columns, flags, verbose });
  // The answer stays the last line.
  return verbose ? [...detailLines(pen, report, columns), '', ...card] : card;
}

interface TextOptions extends CardFlags {
  readonly style?: Style;
  readonly timestamps?: Timestamps;
  /** Columns of a line; absent: only the card is wrapped. */
  readonly columns?: number | undefined;
}

/** The document of `--report FILE.txt`: every change in the order of the timeline, then the card. */
export function renderText(report: Report, options: TextOptions = {}): string {
  const { style = plainStyle, timestamps = 'utc', columns: width = Infinity } = options;
  const { timeline } = report;
  const pen = penFor(style);
  const layout = lineLayout({ pen, timestamps, width }, timeline, timeline.zero);
  const lines = [
    ...headingLines(timeline, layout),
    '',
    ...worthPrinting(timeline.marks).flatMap((mark) => eventLines({ kind: 'mark', mark }, timeline, layout)),
    ...(timeline.marks.length > 0 ? [''] : []),
    ...endLines(pen, report, width, options),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
