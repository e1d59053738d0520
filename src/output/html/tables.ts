/** Tables folded below the picture: everything that it shows as text, with bounds and evidence. */
import type { Timeline } from '../../infer/timeline.ts';
import { allNotes } from '../../model/trace.ts';
import type { Cell, ReportTable } from '../report-tables.ts';
import { join, markup, type Child } from './markup.ts';

/** `notes`: what cells of evidence may link to. */
export function foldedTable({ title, columns, rows }: ReportTable, notes?: Timeline['notes']): Child {
  const listed = new Set(allNotes(notes).map(({ seq }) => seq));
  const numeric = columns.map((column) => column.startsWith('#') && markup` class="num"`);
  const head = columns.map((column, at) => markup`<th scope="col"${numeric[at]}>${column.replace(/^[#`]/, '')}</th>`);
  const citation = (seq: number): Child => (listed.has(seq) ? markup`<a href="#o${seq}">${seq}</a>` : String(seq));
  const cellOf = (cell: Cell, at: number): Child => {
    if (typeof cell !== 'string') return join(cell.map(citation), ' ');
    if (columns[at]?.startsWith('`')) return markup`<code>${cell}</code>`;
    return columns[at] === 'severity' ? markup`<span class="severity ${cell}">${cell}</span>` : cell;
  };
  const body = rows.map(
    (row) =>
      markup`<tr${title === 'Observations' && markup` id="o${String(row[0])}"`}>${row.map((cell, at) => markup`<td${numeric[at]}>${cellOf(cell, at)}</td>`)}</tr>`,
  );
  return markup`
    <details>
      <summary>${title} (${rows.length})</summary>
      <div class="scroll" role="region" aria-label="${title}" tabindex="0">
        <table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>
      </div>
    </details>`;
}
