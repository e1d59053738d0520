/** Plain text tables for terminals and CI logs, with numbers right-aligned. */

/** Columns are as wide as their widest cell, and right-aligned if all cells begin with a digit, `-` or `–`. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const isNumeric = head.map((_, column) => rows.every((row) => /^[-–\d]/.test(row[column] ?? '–')));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        isNumeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line), ''].join('\n');
}
