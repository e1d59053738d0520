/** Tables that people read: boxed at a terminal, plain columns in a pipe, so that other programs can cut them. */
import Table from 'cli-table3';
import type { Pen } from '../palette.ts';
import { columnsOf, textWidth } from '../prose.ts';

/** `rows`: the titles first, all escaped. The last column is wrapped so that a line has at most `columns`. */
export function tableLines(pen: Pen, rows: readonly (readonly string[])[], columns: number): string[] {
  const [titles = [], ...body] = rows.map((row) => row.map((cell) => pen.letters(cell)));
  if (!pen.style.boxes) {
    const [head = '', ...lines] = columnsOf([titles, ...body]);
    return [pen.paint('strong', head), ...lines];
  }
  const widths = titles.map((_, at) => 2 + Math.max(...rows.map((row) => textWidth(row[at] ?? ''))));
  const whole = widths.reduce((sum, width) => sum + width + 1, 1);
  const last = Math.max(16, (widths.at(-1) ?? 0) - Math.max(0, whole - columns));
  const table = new Table({
    head: titles.map((title) => pen.paint('strong', title)),
    colWidths: [...widths.slice(0, -1), last],
    wordWrap: true,
    // The colours are the pen's.
    style: { head: [], border: [], compact: true },
  });
  table.push(...body.map((row) => [...row]));
  return table.toString().split('\n');
}
