/**
 * Prints lines that stay and, below them, a region that is repainted in place. Only changed columns are written, each run
 * of one colour once, and nothing is erased before it is drawn, except after a resize. New lines push the region down with
 * the terminal's own line insertion, so that they scroll into its history as usual. Between paintings the hidden cursor
 * stays at the start of the region's last line. Terminals that rewrap lines on a resize keep it there, so the new width
 * tells how far up the region begins.
 */
import stringWidth from 'string-width';
import type { Ink, Pen } from '../palette.ts';
import { graphemesOf, type Piece } from '../prose.ts';

/** One line of the region, narrower than the window. */
export type Line = readonly Piece[];

interface Window {
  readonly columns: () => number;
  readonly rows: () => number;
}

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
/** Synchronised output: a terminal that knows it shows a larger painting at once; others ignore it. */
const [beginSync, endSync] = ['\u001b[?2026h', '\u001b[?2026l'];
const eraseBelow = '\u001b[J';
const eraseLine = '\u001b[2K';
const eraseRest = '\u001b[K';

export function createScreen(write: (text: string) => void, window: Window, pen: Pen) {
  let region: readonly Cells[] = [];
  let isKnown = true;
  let isCursorHidden = false;

  const send = (text: string): void => {
    write(`${isCursorHidden ? '' : hideCursor}${text}\r`);
    isCursorHidden = true;
  };
  /**
   * Erases the region, wherever a resize has put it, and moves to its first column. Each row is erased as a whole: else
   * some terminals go on to take it for one line with the next row, and rewrap both at the next resize.
   */
  const erased = (): string => {
    const columns = Math.max(1, window.columns());
    const rows = region.slice(0, -1).reduce((sum, { length }) => sum + Math.max(1, Math.ceil(length / columns)), 0);
    return `\r${eraseBelow}${`\u001b[A${eraseLine}`.repeat(rows)}`;
  };
  const whole = (above: readonly string[], next: readonly Cells[]): string =>
    erased() + above.map((line) => `${line}\r\n`).join('') + next.map((cells) => written(pen, cells, 0)).join('\r\n');

  return {
    /** Returns whether it wrote anything. `lines`, the new region, must be fewer than those of the window. */
    paint: (above: readonly string[], lines: readonly Line[]): boolean => {
      const next = lines.map((line) => cellsOf(line));
      const fits = above.length + Math.max(region.length, next.length) < window.rows();
      const text =
        isKnown && region.length > 0 && next.length > 0 && fits
          ? inserted(above, region.length) + changed(pen, region, next)
          : isKnown && above.length + region.length + next.length === 0
            ? ''
            : beginSync + whole(above, next) + endSync;
      region = next;
      isKnown = true;
      if (text === '') return false;
      send(text);
      return true;
    },
    /** Call this after a resize: the screen may no longer show what was painted. */
    forget: () => {
      isKnown = false;
    },
    /** Replaces the region by lines, and shows the cursor again below them. May be called more than once. */
    leave: (lines: readonly string[]) => {
      const text = region.length + lines.length > 0 ? erased() + lines.map((line) => `${line}\r\n`).join('') : '';
      const cursor = isCursorHidden ? showCursor : '';
      region = [];
      isCursorHidden = false;
      if (text + cursor !== '') write(text + cursor);
    },
  };
}

/** One cell per column; the second cell of a wide character is empty. */
type Cells = readonly { readonly ink: Ink; readonly text: string }[];

const cellsOf = (line: Line): Cells =>
  line.flatMap(({ ink, text }) =>
    graphemesOf(text).flatMap((character) => {
      const width = stringWidth(character);
      return width === 0 ? [] : [{ ink, text: character }, ...(width > 1 ? [{ ink, text: '' }] : [])];
    }),
  );

const isSameCell = (a: Cells[number] | undefined, b: Cells[number] | undefined): boolean =>
  a?.text === b?.text && (a?.ink === b?.ink || (a?.text === ' ' && b !== undefined));

/** Inserts lines above the region. The cursor starts and ends in the region's last line. */
function inserted(above: readonly string[], height: number): string {
  if (above.length === 0) return '';
  const count = above.length;
  const toFirst = `\u001b[${count + height - 1}A`;
  const back = height > 1 ? `\u001b[${height - 1}B` : '';
  return `${'\n'.repeat(count)}${toFirst}\r\u001b[${count}L${above.map((line) => `${line}\r\n`).join('')}${back}`;
}

/** Turns the region `before` into `next`. The cursor ends in the last line of `next`. */
function changed(pen: Pen, before: readonly Cells[], next: readonly Cells[]): string {
  let row = before.length - 1;
  let text = '';
  const goTo = (target: number): void => {
    if (target !== row) text += target < row ? `\u001b[${row - target}A` : `\u001b[${target - row}B`;
    row = target;
  };
  next.slice(0, before.length).forEach((cells, index) => {
    const update = changedLine(pen, before[index] ?? [], cells);
    if (update === '') return;
    goTo(index);
    text += update;
  });
  if (next.length < before.length) {
    goTo(next.length);
    text += `\r${eraseBelow}`;
  }
  goTo(Math.min(before.length, next.length) - 1);
  for (const cells of next.slice(before.length)) text += `\r\n${written(pen, cells, 0)}`;
  return text;
}

/** Rewrites the columns from the first to the last change. */
function changedLine(pen: Pen, before: Cells, next: Cells): string {
  const isChanged = (_: unknown, at: number): boolean => !isSameCell(before[at], next[at]);
  let from = next.findIndex(isChanged);
  // Half of a wide character cannot be written.
  while (from > 0 && (next[from]?.text === '' || before[from]?.text === '')) from--;
  let end = next.findLastIndex(isChanged) + 1;
  while (next[end]?.text === '') end++;
  const text = from < 0 ? '' : `\u001b[${from + 1}G${written(pen, next, from, end)}`;
  return next.length < before.length ? `${text}\u001b[${next.length + 1}G${eraseRest}` : text;
}

/** Runs of one ink, each painted once. */
function written(pen: Pen, cells: Cells, from: number, to = cells.length): string {
  let text = '';
  let run = '';
  let ink: Ink | undefined;
  for (const cell of cells.slice(from, to)) {
    if (cell.ink !== ink && ink !== undefined) {
      text += pen.paint(ink, run);
      run = '';
    }
    ink = cell.ink;
    run += cell.text;
  }
  return text + (ink === undefined ? '' : pen.paint(ink, run));
}
