/** How the card is laid out: labelled rows below one another, wrapped at 80 columns. Commands are never wrapped. */
import type { Pen } from './palette.ts';
import { flow, padTo, piece, plain, shorten, textWidth, type Piece } from './prose.ts';
import { forTerminal } from './safe-text.ts';

export interface CardRow {
  /** A container's name, or `traffic`, `why`, … Unescaped. */
  readonly label: string;
  /** Escaped. */
  readonly pieces: readonly Piece[];
  /** To paste: one line whatever its length, below the words. Escaped. */
  readonly command?: string;
}

/** The widest that a card is wrapped at. */
const cardWidth = 80;

export interface CardLayout {
  readonly pen: Pen;
  /** Columns of a line of prose. */
  readonly width: number;
  /** Columns of a label, without the blanks around it. */
  readonly label: number;
}

export function cardLayout(pen: Pen, columns: number, labels: readonly string[]): CardLayout {
  const width = Math.max(20, Math.min(cardWidth, columns));
  const longest = Math.max(8, ...labels.map((label) => textWidth(forTerminal(label))));
  return { pen, width, label: Math.min(longest, Math.max(8, Math.floor(width / 4))) };
}

/** Columns that are left for the words of a row. */
export const roomFor = ({ width, label }: CardLayout): number => width - label - 4;

export function rowLines(layout: CardLayout, { label, pieces, command }: CardRow): string[] {
  const { pen, width } = layout;
  const hang = layout.label + 4;
  const name = padTo(shorten(pen, forTerminal(label), layout.label), layout.label);
  const head = [plain('  '), piece('dim', name), plain('  ')];
  if (pieces.length === 0) return command === undefined ? [] : [commandLine(pen, command, [...head])];
  return [
    ...flow(pen, [...head, ...pieces], { width, hang }),
    ...(command === undefined ? [] : [commandLine(pen, command, [plain(' '.repeat(hang))])]),
  ];
}

const commandLine = (pen: Pen, command: string, head: readonly Piece[]): string =>
  [...head, piece('accent', pen.letters(command))].map(({ ink, text }) => pen.paint(ink, text)).join('');
