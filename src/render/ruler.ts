/** The ruler above the lanes: seconds after the zero, the deadline that the API names, and the kill. */
import type { Scale } from './bar.ts';
import { cellAt } from './bar.ts';
import type { Pen } from './palette.ts';
import type { Piece } from './prose.ts';
import { piece, textWidth } from './prose.ts';

export interface RulerMarks {
  /** ms: metadata.deletionTimestamp as far as the client's clock knows it. */
  readonly deadline: number | undefined;
  /** ms: from when the kubelet began, plus the grace. */
  readonly kill: number | undefined;
  /** Nothing is to be killed any more, and nothing was: then it is only where the grace ends. */
  readonly spared: boolean;
}

/**
 * Long enough for the kill; once that is passed (or nobody knows it yet) longer by quarters, so that the picture does
 * not move with every frame. ms.
 */
export function scaleLength(elapsed: number, grace: number, kill: number | undefined): number {
  let length = Math.max(1000, 1.15 * Math.max(kill ?? 0, grace));
  while (elapsed > 0.97 * length) length *= 1.25;
  return length;
}

/** `0s   2s   4s   ▽   ✖ kill`, in `scale.cells` columns. */
export function rulerPieces(pen: Pen, scale: Scale, { deadline, kill, spared }: RulerMarks): Piece[] {
  const row: Piece[] = Array.from({ length: scale.cells }, () => piece('plain', ' '));
  const taken: boolean[] = [];
  const put = (start: number, text: string, ink: Piece['ink'], gap: number): boolean => {
    const wide = textWidth(text);
    if (start < 0 || start + wide > scale.cells) return false;
    for (let at = start - gap; at < start + wide + gap; at++) if (taken[at]) return false;
    [...text].forEach((letter, index) => {
      row[start + index] = piece(ink, letter);
      taken[start + index] = true;
    });
    return true;
  };
  const killLook = spared ? (['rule', 'grace', 'dim'] as const) : (['kill', 'kill', 'bad'] as const);
  const marks = [
    ...(kill === undefined ? [] : [{ cell: cellAt(scale, kill), look: killLook }]),
    ...(deadline === undefined
      ? []
      : [{ cell: cellAt(scale, deadline), look: ['deadline', 'deadline', 'warning'] as const }]),
  ];
  // A sign stands over what it marks in the lanes, always; its word goes where there is room.
  const signed = marks.filter(({ cell, look: [symbol, , ink] }) => put(cell, pen.symbol(symbol), ink, 0));
  for (const { cell, look } of signed) {
    const [, word, ink] = look;
    void (put(cell + 2, word, ink, 1) || put(cell - word.length - 1, word, ink, 1));
  }
  const step = tickStep(scale);
  for (let at = 0; at < scale.length; at += step)
    put(cellAt(scale, scale.zero + at), `${Number((at / 1000).toFixed(1))}s`, 'dim', 2);
  return row;
}

const steps = [0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];

/** ms between labels that stand at least eight columns apart. */
function tickStep({ length, cells }: Scale): number {
  const wanted = (8 / cells) * length;
  return (steps.find((step) => step * 1000 >= wanted) ?? wanted / 1000) * 1000;
}
