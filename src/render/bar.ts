/** Stretches of time as cells of a bar. The look of each is a glyph of its own; colour only helps. */
import type { LaneView } from './lane-views.ts';
import type { Ink, Pen } from './palette.ts';
import type { Piece } from './prose.ts';
import { piece } from './prose.ts';
import type { Edge, Stretch, StretchKind } from './stretches.ts';

/** From `zero` (ms) on, `cells` columns hold `length` ms. `now`: nothing is drawn after it. */
export interface Scale {
  readonly zero: number;
  readonly length: number;
  readonly cells: number;
  readonly now: number;
}

export const cellAt = ({ zero, length, cells }: Scale, time: number): number =>
  Math.floor(((time - zero) / length) * cells);

/** Unicode, ASCII, ink. */
const looks: Record<StretchKind, readonly [string, string, Ink]> = {
  alive: ['─', '-', 'dim'],
  hook: ['▓', '=', 'info'],
  turn: ['·', '.', 'dim'],
  drain: ['█', '#', 'accent'],
  routed: ['━', '=', 'good'],
  terminating: ['─', '-', 'dim'],
  cleanup: ['▓', '=', 'info'],
  ready: ['━', '=', 'good'],
};

/** A row of `scale.cells` columns; `rule`: the column of the kill, drawn where nothing else is. */
export function barPieces(pen: Pen, lane: LaneView, scale: Scale, rule: number | undefined): Piece[] {
  const row: Piece[] = Array.from({ length: scale.cells }, (_, index) =>
    index === rule ? piece('dim', pen.symbol('rule')) : piece('plain', ' '),
  );
  for (const stretch of lane.stretches) draw(pen, row, stretch, scale);
  for (const { at, symbol, ink } of lane.points) {
    const cell = Math.min(cellAt(scale, at), scale.cells - 1);
    if (cell >= 0 && at <= scale.now) row[cell] = piece(ink, pen.symbol(symbol));
  }
  return row;
}

function draw(pen: Pen, row: Piece[], { kind, from, to }: Stretch, scale: Scale): void {
  const [unicode, ascii, ink] = looks[kind];
  const end: Edge = to ?? { lo: scale.now, hi: scale.now };
  const sure = cellsOf(scale, from.hi, end.lo);
  const maybe = cellsOf(scale, from.lo, end.hi);
  for (let cell = maybe.first; cell <= maybe.last; cell++) {
    const certain = cell >= sure.first && cell <= sure.last;
    row[cell] = piece(ink, certain ? (pen.style.unicode ? unicode : ascii) : pen.symbol('perhaps'));
  }
}

/** Cells of which the stretch holds the middle; one that holds none still shows, in the cell where it begins. */
function cellsOf(scale: Scale, from: number, to: number): { first: number; last: number } {
  const half = scale.length / scale.cells / 2;
  const until = Math.min(to, scale.now);
  const first = Math.max(0, cellAt(scale, from + half));
  const last = Math.min(scale.cells - 1, cellAt(scale, until - half));
  if (from > scale.now) return { first: 0, last: -1 };
  if (first <= last || until <= from) return { first, last };
  const begin = Math.min(Math.max(0, cellAt(scale, from)), scale.cells - 1);
  return { first: begin, last: begin };
}
