/** Two texts → a unified diff, as `diff -u` and `git apply` read it. Pure. */

const contextLines = 3;

/** Empty if nothing differs. */
export function unifiedDiff(before: string, after: string, file: string): string {
  const rows = rowsOf(linesOf(before), linesOf(after));
  const hunks = hunksOf(rows);
  return hunks.length === 0 ? '' : `--- ${file}\n+++ ${file}\n${hunks.map(printHunk).join('')}`;
}

export const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

export interface Row {
  sign: ' ' | '-' | '+';
  text: string;
  /** Line numbers in the old and the new text, from 1; in the text without this line, the number of the next line. */
  old: number;
  now: number;
}

/** By longest common subsequence, without the equal lines at the start and at the end. */
export function rowsOf(before: readonly string[], after: readonly string[]): Row[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (lines: readonly string[]) => lines.map((text) => [' ', text] as const);
  const between = changed(before.slice(start, before.length - end), after.slice(start, after.length - end));
  let [old, now] = [1, 1];
  return [...same(before.slice(0, start)), ...between, ...same(before.slice(before.length - end))].map(
    ([sign, text]) => ({
      sign,
      text,
      old: sign === '+' ? old : old++,
      now: sign === '-' ? now : now++,
    }),
  );
}

/** A larger table would take seconds: then all old lines are removed and all new ones added. */
const maxTableCells = 25_000_000;

function changed(before: readonly string[], after: readonly string[]): (readonly [Row['sign'], string])[] {
  const [rows, columns] = [before.length, after.length];
  const isLarge = rows * columns > maxTableCells;
  const common = new Uint32Array(isLarge ? 0 : (rows + 1) * (columns + 1));
  const at = (row: number, column: number): number => common[row * (columns + 1) + column] ?? 0;
  for (let row = rows - 1; row >= 0 && !isLarge; row--)
    for (let column = columns - 1; column >= 0; column--)
      common[row * (columns + 1) + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const signs: [Row['sign'], string][] = [];
  for (let [row, column] = [0, 0]; row < rows || column < columns;) {
    const isBoth = row < rows && column < columns;
    if (isBoth && !isLarge && before[row] === after[column]) {
      signs.push([' ', before[row++] ?? '']);
      column++;
    } else if (row < rows && (column === columns || at(row + 1, column) >= at(row, column + 1)))
      signs.push(['-', before[row++] ?? '']);
    else signs.push(['+', after[column++] ?? '']);
  }
  return signs;
}

/** Changes whose context overlaps share a hunk. */
function hunksOf(rows: readonly Row[]): Row[][] {
  const hunks: [number, number][] = [];
  rows.forEach(({ sign }, index) => {
    if (sign === ' ') return;
    const last = hunks.at(-1);
    const from = Math.max(0, index - contextLines);
    if (last && from <= last[1]) last[1] = index + contextLines + 1;
    else hunks.push([from, index + contextLines + 1]);
  });
  return hunks.map(([from, to]) => rows.slice(from, to));
}

function printHunk(rows: readonly Row[]): string {
  const [first] = rows;
  const count = (sign: '-' | '+'): number => rows.filter((row) => row.sign === ' ' || row.sign === sign).length;
  const place = (line: number, lines: number): string => `${lines === 0 ? line - 1 : line},${lines}`;
  const head = `@@ -${place(first?.old ?? 1, count('-'))} +${place(first?.now ?? 1, count('+'))} @@\n`;
  return head + rows.map(({ sign, text }) => `${sign}${text}\n`).join('');
}
