/** Plain text tables for the terminal and for logs of CI: numbers to the right, words to the left. */

/** Columns are as wide as their widest cell; a column whose cells all begin with a digit, `-` or `–` is set flush right. */
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
