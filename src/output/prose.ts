/** Lays out text of several inks in lines of a given width. Widths are columns of a terminal, not characters. */
import stringWidth from 'string-width';
import { plainPen, type Ink, type Pen } from './palette.ts';

export interface Piece {
  readonly ink: Ink;
  readonly text: string;
}

export const piece = (ink: Ink, text: string): Piece => ({ ink, text });
export const plain = (text: string): Piece => ({ ink: 'plain', text });
export const dim = (text: string): Piece => ({ ink: 'dim', text });

/** Columns that an indent must leave for the text. */
const minTextColumns = 10;

/**
 * Wraps between words, never between a number and its unit; a word longer than a line is broken at the end of the line.
 * `width`: columns of a line; Infinity: never wrapped. `hang`: blanks before every line but the first. Returns at least
 * one line.
 */
export function flow(pen: Pen, pieces: readonly Piece[], { width, hang }: { width: number; hang: number }): string[] {
  const indent = hang + minTextColumns <= width ? hang : 0;
  let line: Piece[] = [];
  let left = width;
  const lines = [line];
  const startLine = (): void => {
    line = [];
    left = width - indent;
    lines.push(line);
  };
  const add = (ink: Ink, text: string): void => {
    line.push({ ink, text });
    left -= textWidth(text);
  };
  const letters = pieces.map(({ ink, text }) => ({ ink, text: pen.letters(text) }));
  for (const { ink, text } of tokens(letters, width - indent)) {
    if (isBlank({ text })) {
      if (textWidth(text) > left) startLine();
      else if (lines.length === 1 || !line.every(isBlank)) add(ink, text);
      continue;
    }
    let rest = text;
    while (rest !== '') {
      const columns = textWidth(rest);
      if (columns > left && columns <= width - indent && !line.every(isBlank)) startLine();
      const head = cutToWidth(rest, left);
      // If not even one wide character fits after the indent, it exceeds the line.
      const taken = head === '' && line.every(isBlank) ? (graphemesOf(rest)[0] ?? rest) : head;
      add(ink, taken);
      rest = rest.slice(taken.length);
      if (rest !== '') startLine();
    }
  }
  return lines.map(
    (one, index) =>
      (index === 0 || one.every(isBlank) ? '' : ' '.repeat(indent)) + paintedRuns(pen, withoutLastBlanks(one)),
  );
}

const isBlank = ({ text }: Pick<Piece, 'text'>): boolean => text.trim() === '';

const withoutLastBlanks = (line: readonly Piece[]): Piece[] =>
  line.slice(0, line.findLastIndex((one) => !isBlank(one)) + 1);

/** Each run of one ink is painted once. */
export function paintedRuns(pen: Pen, line: readonly Piece[]): string {
  const runs: { ink: Ink; text: string }[] = [];
  for (const { ink, text } of line) {
    const last = runs.at(-1);
    if (last?.ink === ink) last.text += text;
    else runs.push({ ink, text });
  }
  return runs.map(({ ink, text }) => pen.paint(ink, text)).join('');
}

/** At most `width` columns, the rest cut off with an ellipsis; no blanks at the end. */
export function clipPieces(pen: Pen, pieces: readonly Piece[], width: number): Piece[] {
  const whole = withoutLastBlanks(pieces).map(({ ink, text }) => ({ ink, text: pen.letters(text) }));
  if (piecesWidth(whole) <= width) return whole;
  const ellipsis = pen.letters('…');
  let left = width - textWidth(ellipsis);
  if (left < 0) return [plain(cutToWidth(whole.map(({ text }) => text).join(''), width))];
  const line: Piece[] = [];
  for (const { ink, text } of whole) {
    const head = cutToWidth(text, left);
    line.push({ ink, text: head });
    left -= textWidth(head);
    if (head !== text) break;
  }
  return [...line, plain(ellipsis)];
}

/** Characters of one column each. Saves 70 ms of CPU: string-width compiles the table of all emoji (scripts/bundle.mjs). */
const oneColumnEach = /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u22ff\u2500-\u25fc\u2713-\u2718]*$/;
export const textWidth = (text: string): number => (oneColumnEach.test(text) ? text.length : stringWidth(text));

export const piecesWidth = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { text }) => sum + textWidth(text), 0);

export const padTo = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - textWidth(text)));

/** The widest cell of each column, in columns of a terminal. */
const widthsOf = (rows: readonly (readonly string[])[]): number[] =>
  (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => textWidth(row[at] ?? ''))));

/** Pads cells to the width of their column, three spaces apart like kubectl's tables. */
export function columnsOf(rows: readonly (readonly string[])[], gap = '   '): string[] {
  const widths = widthsOf(rows);
  const line = (row: readonly string[]): string => row.map((cell, at) => padTo(cell, widths[at] ?? 0)).join(gap);
  return rows.map((row) => line(row).trimEnd());
}

export interface TableRow {
  /** Escaped. */
  readonly cells: readonly string[];
  readonly ink: Ink;
}

/** The table of a live view, each row in its ink; the first column gives way in a narrow window. Nothing without rows. */
export function liveTable(pen: Pen, titles: readonly string[], rows: readonly TableRow[], width: number): Piece[][] {
  if (rows.length === 0) return [];
  const all: TableRow[] = [{ cells: titles, ink: 'dim' }, ...rows];
  const rest = widthsOf(all.map(({ cells }) => cells.slice(1))).reduce((sum, columns) => sum + columns + 2, 2);
  const cut = all.map(({ cells: [name = '', ...more] }) => [shorten(pen, name, Math.max(8, width - rest)), ...more]);
  return columnsOf(cut, '  ').map((line, at) => [plain('  '), piece(all[at]?.ink ?? 'plain', line)]);
}

/** Plain text in lines of at most `width` columns. */
export const wrapWords = (text: string, width: number): string[] => flow(plainPen, [plain(text)], { width, hang: 0 });

/** A sentence beside a report: wrapped between words at a terminal, one line in a pipe. A question keeps its last blank. */
export const sentenceOn = (output: { readonly isTty: boolean; columns(): number }, text: string): string =>
  output.isTty ? wrapWords(text, output.columns()).join('\n') + (/ $/.exec(text)?.[0] ?? '') : text;

/** A name in at most `width` columns, its middle left out: names of one kind differ at their ends. */
export function shorten(pen: Pen, name: string, width: number): string {
  const text = pen.letters(name);
  if (textWidth(text) <= width) return text;
  const ellipsis = pen.letters('…');
  const room = width - textWidth(ellipsis);
  if (room < 2) return cutToWidth(text, Math.max(width, 0));
  const tail = firstColumns(graphemesOf(text).reverse(), Math.floor(room / 2))
    .reverse()
    .join('');
  return `${cutToWidth(text, room - textWidth(tail))}${ellipsis}${tail}`;
}

/** Words and the blanks between them. A number and its unit are one word, if a line of `room` columns can hold both. */
const tokens = (pieces: readonly Piece[], room: number): Piece[] =>
  pieces.flatMap(({ ink, text }) =>
    (text.match(wordOrBlanks) ?? [])
      .flatMap((token) => (textWidth(token) <= room ? token : (token.match(/ +|[^ ]+/g) ?? [])))
      .map((token) => ({ ink, text: token })),
  );

const wordOrBlanks = / +|[^ ]*\d (?:ms|s|min|h)(?![\p{L}\p{N}])[^ ]*|[^ ]+/gu;

/** What a reader sees as single characters. */
const graphemesOf = (text: string): string[] =>
  Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);

const cutToWidth = (text: string, width: number): string =>
  textWidth(text) <= width ? text : firstColumns(graphemesOf(text), width).join('');

function firstColumns(characters: readonly string[], width: number): string[] {
  let used = 0;
  const end = characters.findIndex((character) => (used += textWidth(character)) > width);
  return characters.slice(0, end < 0 ? undefined : end);
}
