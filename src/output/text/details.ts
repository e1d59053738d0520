/** What `-v` adds to the card: who held it up, findings with their evidence, phases, accuracy. */
import { togetherWith } from '../../model/reduce/notes.ts';
import type { Report } from '../../verdict/report.ts';
import { allNotes } from '../../model/trace.ts';
import type { Pen } from '../palette.ts';
import { dim, flow, padTo, piece, plain, textWidth } from '../prose.ts';
import { tablesOf, type Cell, type ReportTable } from '../report-tables.ts';
import { forTerminal } from '../safe-text.ts';
import { signed } from '../time-text.ts';

/** The lines above the card already show every moment, and findings cite the observations. */
const shownElsewhere: readonly string[] = ['Every moment', 'Observations'];

export const detailLines = (pen: Pen, report: Report, width: number): string[] =>
  tablesOf(report)
    .filter(({ title }) => !shownElsewhere.includes(title))
    .flatMap((table, index) => [...(index === 0 ? [] : ['']), ...tableLines(pen, table, report, width)]);

/** The last column that has text is wrapped; evidence is below the row. */
function tableLines(pen: Pen, { title, rows }: ReportTable, report: Report, width: number): string[] {
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
      return [
        ...flow(pen, pieces, { width, hang }),
        ...cited.flatMap((text) => flow(pen, [dim(text)], { width, hang: 6 })),
      ];
    }),
  ];
}

/** The JSON report has all cited observations. */
const maxEvidence = 5;

function evidenceText(evidence: Cell, { timeline: { notes, zero } }: Report): string[] {
  const cited = typeof evidence === 'string' ? [] : allNotes(notes).filter(({ seq }) => evidence.includes(seq));
  if (cited.length === 0) return [];
  const shown = cited
    .slice(-maxEvidence)
    .map(({ at, what }) => `${signed(at - zero, 2)} ${forTerminal(what.split(togetherWith)[0] ?? what, 160)}`);
  const more = cited.length > shown.length ? [`${cited.length - shown.length} more`] : [];
  return [`    evidence: ${[...shown, ...more].join('; ')}`];
}
