/** Lines mode: one line per change as it becomes known, then the card. `.txt` reports are the same document. */
import type { Timeline } from '../../infer/timeline.ts';
import type { Observation } from '../../model/observation.ts';
import type { Report } from '../../verdict/report.ts';
import { cardLines, type CardOptions } from './card.ts';
import { createChangeLines, sortedLines, lineLayout, type LoggedLine } from './history.ts';
import { plainPen } from '../palette.ts';
import { togetherWith } from '../../model/reduce/notes.ts';
import { allNotes } from '../../model/trace.ts';
import { dim, flow, padTo, piece, plain, textWidth } from '../prose.ts';
import { tablesOf, type Cell, type ReportTable } from '../report-tables.ts';
import { forTerminal } from '../safe-text.ts';
import { signed } from '../time-text.ts';
import type { ViewOptions } from '../view.ts';

export function createLines(options: ViewOptions) {
  const { write, columns } = options;
  const history = createChangeLines(options);
  const put = (lines: readonly string[]): void => {
    if (lines.length > 0) write(lines.map((line) => `${line}\n`).join(''));
  };
  return {
    /** `timeline` is undefined until the pod has been seen. */
    step: (timeline: Timeline | undefined, observation: Observation) => put(history.step(timeline, observation)),
    /** Prints what was held back, and the card. */
    end: (report: Report) =>
      put([...history.rest(report.timeline), '', ...endLines(report, { ...options, columns: columns() })]),
  };
}

/** The same for a run that is over: everything at its end, each moment once and sorted. */
export function createSortedLines({ write, columns, logs, ...options }: ViewOptions) {
  const log: LoggedLine[] = [];
  return {
    step: (_: unknown, observation: Observation): void =>
      void (logs && observation.kind === 'line' && log.push(observation)),
    end: (report: Report): void => write(renderText(report, { ...options, log, columns: columns() })),
  };
}

/** The card, and with `verbose` above it: who held it up, findings with their evidence, phases, accuracy. */
export function endLines(report: Report, options: CardOptions): string[] {
  const card = cardLines(report, options);
  if (!options.verbose) return card;
  // The lines above already show every moment, and findings cite the observations.
  const tables = tablesOf(report).filter(({ title }) => !['Every moment', 'Observations'].includes(title));
  // The answer stays the last line.
  return [...tables.flatMap((table) => ['', ...tableLines(table, report, options)]).slice(1), '', ...card];
}

/** The document of `--report FILE.txt`: every change in the order of its time, then the card. Without `columns` only the card is wrapped. */
export function renderText(
  report: Report,
  options: Partial<CardOptions & Pick<ViewOptions, 'timestamps'>> & { log?: readonly LoggedLine[] } = {},
): string {
  const { pen = plainPen, timestamps = 'utc', columns = Infinity, log = [] } = options;
  const { timeline } = report;
  const layout = lineLayout({ pen, timestamps, width: columns }, timeline, timeline.zero);
  const changes = sortedLines(timeline, log, layout);
  const lines = [...changes, ...(changes.at(-1) === '' ? [] : ['']), ...endLines(report, { ...options, pen, columns })];
  return lines.map((line) => `${line}\n`).join('');
}

/** The last column that has text is wrapped; evidence is below the row. */
function tableLines({ title, rows }: ReportTable, report: Report, { pen, columns: width }: CardOptions): string[] {
  const texts = rows.map((row) => row.flatMap((cell) => (typeof cell === 'string' ? forTerminal(cell, 1000) : [])));
  const widest = (at: number): number => Math.max(...texts.map((row) => textWidth(row[at] ?? '')));
  const widths = (texts[0] ?? []).slice(0, -1).map((_, at) => widest(at));
  return [
    pen.paint('strong', title),
    ...rows.flatMap((row, index) => {
      const [name = '', ...more] = (texts[index] ?? []).map((text, at) => padTo(text, widths[at] ?? 0));
      const pieces = [piece('accent', `  ${name}`), plain(more.map((text) => `  ${text}`).join(''))];
      const hang = 2 + widths.reduce((sum, columns) => sum + columns + 2, 0);
      const cited = row.flatMap((cell) => evidenceText(cell, report));
      const evidence = cited.flatMap((text) => flow(pen, [dim(text)], { width, hang: 6 }));
      return [...flow(pen, pieces, { width, hang }), ...evidence];
    }),
  ];
}

/** The last five: the JSON report has all cited observations. */
function evidenceText(evidence: Cell, { timeline: { notes, zero } }: Report): string[] {
  const cited = typeof evidence === 'string' ? [] : allNotes(notes).filter(({ seq }) => evidence.includes(seq));
  if (cited.length === 0) return [];
  const shown = cited
    .slice(-5)
    .map(({ at, what }) => `${signed(at - zero, 2)} ${forTerminal(what.split(togetherWith)[0] ?? what, 160)}`);
  const more = cited.length > shown.length ? [`${cited.length - shown.length} more`] : [];
  return [`    evidence: ${[...shown, ...more].join('; ')}`];
}
