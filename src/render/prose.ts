/** Lays out text of several inks in lines of a given width. Widths are columns of a terminal, not characters. */
import stringWidth from 'string-width';
import type { Ink, Pen } from './palette.ts';

export interface Piece {
  readonly ink: Ink;
  readonly text: string;
}

export const piece = (ink: Ink, text: string): Piece => ({ ink, text });
export const plain = (text: string): Piece => ({ ink: 'plain', text });
export const dim = (text: string): Piece => ({ ink: 'dim', text });

export interface Layout {
  /** Columns of a line; Infinity: never wrapped. */
  readonly width: number;
  /** Blanks before every line but the first. */
  readonly hang: number;
}

/** Columns that an indent must leave for the text. */
const minTextColumns = 10;

/**
 * Wraps between words, never between a number and its unit; a word longer than a line is broken at the end of the line.
 * Returns at least one line.
 */
export function flow(pen: Pen, pieces: readonly Piece[], { width, hang }: Layout): string[] {
  // In a few columns nothing can be laid out: then a line may be wider than asked.
  const room = Math.max(width, 2);
  const indent = hang + minTextColumns <= room ? hang : 2 + minTextColumns <= room ? 2 : 0;
  const lines = [new Line(0)];
  const words = tokens(
    pieces.map(({ ink, text }) => ({ ink, text: pen.letters(text) })),
    room - indent,
  );
  for (const { ink, text } of words) {
    const blank = text.trim() === '';
    let rest = text;
    while (rest !== '') {
      const line = lines[lines.length - 1]!;
      const left = room - line.width;
      if (stringWidth(rest) <= left) {
        if (!(blank && line.isEmpty && lines.length > 1)) line.add({ ink, text: rest });
        rest = '';
      } else if (blank) {
        lines.push(new Line(indent));
        rest = '';
      } else if (!line.isEmpty && stringWidth(rest) <= room - indent) {
        lines.push(new Line(indent));
      } else {
        const head = cutToWidth(rest, left);
        // If not even one wide character fits after the indent, it exceeds the line.
        const taken = head === '' && line.isEmpty ? firstOf(rest) : head;
        line.add({ ink, text: taken });
        rest = rest.slice(taken.length);
        if (rest !== '') lines.push(new Line(indent));
      }
    }
  }
  return lines.map((line) => line.print(pen));
}

/** At most `width` columns, the rest cut off with an ellipsis; no blanks at the end. */
export function clipPieces(pen: Pen, pieces: readonly Piece[], width: number): Piece[] {
  const last = pieces.findLastIndex(({ text }) => text.trim() !== '');
  const whole = pieces.slice(0, last + 1).map(({ ink, text }) => ({ ink, text: pen.letters(text) }));
  if (widthOf(whole) <= width) return whole;
  const ellipsis = pen.letters('…');
  let left = width - stringWidth(ellipsis);
  if (left < 0) return [plain(cutToWidth(whole.map(({ text }) => text).join(''), width))];
  const line: Piece[] = [];
  for (const { ink, text } of whole) {
    const head = cutToWidth(text, left);
    line.push({ ink, text: head });
    left -= stringWidth(head);
    if (head !== text) break;
  }
  return [...line, plain(ellipsis)];
}

export const textWidth = (text: string): number => stringWidth(text);

export const widthOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { text }) => sum + stringWidth(text), 0);

/** Pads to `width` columns with trailing blanks. */
export const padTo = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - stringWidth(text)));

/** Pads cells to the width of their column, three spaces apart like kubectl's tables. */
export function columnsOf(rows: readonly (readonly string[])[]): string[] {
  const widest = (at: number): number => rows.reduce((max, row) => Math.max(max, stringWidth(row[at] ?? '')), 0);
  const widths = (rows[0] ?? []).map((_, at) => widest(at));
  return rows.map((row) => {
    const cells = row.map((cell, at) => padTo(cell, widths[at] ?? 0));
    return cells.join('   ').trimEnd();
  });
}

/** Plain text in lines of at most `width` columns; a longer word has a line of its own. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && stringWidth(last) + 1 + stringWidth(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A name in at most `width` columns, its middle left out: names of one kind differ at their ends. */
export function shorten(pen: Pen, name: string, width: number): string {
  const text = pen.letters(name);
  if (stringWidth(text) <= width) return text;
  const ellipsis = pen.letters('…');
  const room = width - stringWidth(ellipsis);
  if (room < 2) return cutToWidth(text, Math.max(width, 0));
  const tail = lastColumns(text, Math.floor(room / 2));
  return `${cutToWidth(text, room - stringWidth(tail))}${ellipsis}${tail}`;
}

class Line {
  private readonly runs: { ink: Ink; text: string }[] = [];
  private blanks = '';
  width: number;

  constructor(private readonly indent: number) {
    this.width = indent;
  }

  get isEmpty(): boolean {
    return this.runs.length === 0;
  }

  /** Blanks are kept back until text follows, so that no line ends in a blank. */
  add({ ink, text }: Piece): void {
    if (text === '') return;
    this.width += stringWidth(text);
    if (text.trim() === '') {
      this.blanks += text;
      return;
    }
    const last = this.runs.at(-1);
    if (last?.ink === ink) last.text += this.blanks + text;
    else this.runs.push({ ink, text: this.blanks + text });
    this.blanks = '';
  }

  print(pen: Pen): string {
    if (this.isEmpty) return '';
    return ' '.repeat(this.indent) + this.runs.map(({ ink, text }) => pen.paint(ink, text)).join('');
  }
}

/** Words and the blanks between them. A number and its unit are one word, if a line of `room` columns can hold both. */
const tokens = (pieces: readonly Piece[], room: number): Piece[] =>
  pieces.flatMap(({ ink, text }) =>
    (text.match(wordOrBlanks) ?? [])
      .flatMap((token) => (stringWidth(token) <= room ? token : (token.match(/ +|[^ ]+/g) ?? [])))
      .map((token) => ({ ink, text: token })),
  );

const wordOrBlanks = / +|[^ ]*\d (?:ms|s|min|h)(?![\p{L}\p{N}])[^ ]*|[^ ]+/gu;

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const firstOf = (text: string): string => graphemes.segment(text).containing(0)?.segment ?? text;

function cutToWidth(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let head = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    head += segment;
  }
  return head;
}

function lastColumns(text: string, width: number): string {
  const segments = [...graphemes.segment(text)].map(({ segment }) => segment);
  let tail = '';
  for (let index = segments.length - 1; index >= 0; index--) {
    const next = `${segments[index]}${tail}`;
    if (stringWidth(next) > width) break;
    tail = next;
  }
  return tail;
}
