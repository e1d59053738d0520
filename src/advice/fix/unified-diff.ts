/** Two texts → a unified diff, as `diff -u` and `git apply` read it. Pure. */

const contextLines = 3;

/** Empty if nothing differs. */
export function unifiedDiff(before: string, after: string, file: string): string {
  const rows = rowsOf(markedLinesOf(before), markedLinesOf(after));
  const hunks = hunksOf(rows);
  return hunks.length === 0
    ? ''
    : `--- ${file}\n+++ ${file}\n${hunks.map(([from, to]) => printHunk(rows, from, to)).join('')}`;
}

export const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** The last line says so if no line feed ends it. */
const markedLinesOf = (text: string): string[] =>
  linesOf(text).map((line, at, { length }) =>
    at === length - 1 && !text.endsWith('\n') ? `${line}\n\\ No newline at end of file` : line,
  );

/** A line of both texts, or of the old or the new one only. */
type Row = readonly [sign: ' ' | '-' | '+', text: string];

/** By longest common subsequence, without the equal lines at the start and at the end. */
function rowsOf(before: readonly string[], after: readonly string[]): Row[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (lines: readonly string[]): Row[] => lines.map((text) => [' ', text]);
  const between = changed(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return [...same(before.slice(0, start)), ...between, ...same(before.slice(before.length - end))];
}

/** Of each line that both texts have: its index in `before` → its index in `after`. */
export function commonLines(before: readonly string[], after: readonly string[]): Map<number, number> {
  const common = new Map<number, number>();
  let [inBefore, inAfter] = [0, 0];
  for (const [sign] of rowsOf(before, after)) {
    if (sign === ' ') common.set(inBefore, inAfter);
    if (sign !== '+') inBefore++;
    if (sign !== '-') inAfter++;
  }
  return common;
}

/** A larger table would take seconds: then all old lines are removed and all new ones added. */
const maxTableCells = 25_000_000;

function changed(before: readonly string[], after: readonly string[]): Row[] {
  const [rows, columns] = [before.length, after.length];
  const removed = (lines: readonly string[]): Row[] => lines.map((text) => ['-', text]);
  const added = (lines: readonly string[]): Row[] => lines.map((text) => ['+', text]);
  if (rows * columns > maxTableCells) return [...removed(before), ...added(after)];
  const common = new Uint32Array((rows + 1) * (columns + 1));
  const at = (row: number, column: number): number => common[row * (columns + 1) + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      common[row * (columns + 1) + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const signs: Row[] = [];
  let [row, column] = [0, 0];
  while (row < rows && column < columns) {
    if (before[row] === after[column]) {
      signs.push([' ', before[row++] ?? '']);
      column++;
    } else if (at(row + 1, column) >= at(row, column + 1)) signs.push(['-', before[row++] ?? '']);
    else signs.push(['+', after[column++] ?? '']);
  }
  return [...signs, ...removed(before.slice(row)), ...added(after.slice(column))];
}

/** From and to which row; changes whose context overlaps share a hunk. */
function hunksOf(rows: readonly Row[]): [number, number][] {
  const hunks: [number, number][] = [];
  rows.forEach(([sign], index) => {
    if (sign === ' ') return;
    const last = hunks.at(-1);
    const from = Math.max(0, index - contextLines);
    if (last && from <= last[1]) last[1] = index + contextLines + 1;
    else hunks.push([from, index + contextLines + 1]);
  });
  return hunks;
}

function printHunk(rows: readonly Row[], from: number, to: number): string {
  const place = (sign: '-' | '+'): string => {
    const count = (some: readonly Row[]): number => some.filter(([one]) => one === ' ' || one === sign).length;
    const [before, lines] = [count(rows.slice(0, from)), count(rows.slice(from, to))];
    // The number of the first line, or of the line before if there is none.
    return `${sign}${lines === 0 ? before : before + 1},${lines}`;
  };
  const lines = rows.slice(from, to).map(([sign, text]) => `${sign}${text}\n`);
  return `@@ ${place('-')} ${place('+')} @@\n${lines.join('')}`;
}
