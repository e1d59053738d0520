/** Text in columns and in paragraphs, for what the commands of this folder print. */

/** Cells padded to the widest of their column, three blanks apart as kubectl prints tables. */
export function columnsOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}

/** `text` behind `label`, wrapped at the smaller of 80 and `columns`, with the following lines indented as far. */
export function wrapped(label: string, text: string, columns = 80): string[] {
  const width = Math.max(24, Math.min(80, columns) - label.length);
  const lines = text.split(' ').reduce<string[]>((done, word) => {
    const last = done.at(-1);
    const fits = last !== undefined && last.length + 1 + word.length <= width;
    return fits ? [...done.slice(0, -1), `${last} ${word}`] : [...done, word];
  }, []);
  return lines.map((line, at) => `${at === 0 ? label : ' '.repeat(label.length)}${line}`);
}
