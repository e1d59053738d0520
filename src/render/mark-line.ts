/** One mark as one line (or a few, where the terminal is narrow): time, offset, lane, words. */
import type { Moment, Timestamps, Zero } from './moments.ts';
import { boundsText, clockColumn, offsetColumn, shownAt } from './moments.ts';
import type { Context } from './mark-words.ts';
import { wordsOf } from './mark-words.ts';
import type { Pen } from './palette.ts';
import type { Piece } from './prose.ts';
import { dim, flow, padTo, piece, plain, shorten, textWidth, widthOf } from './prose.ts';
import type { Saying } from './telling.ts';

export interface Columns {
  /** Of the whole line; Infinity: never wrapped. */
  readonly width: number;
  /** Of the lane's name. */
  readonly lane: number;
}

/** Lanes with fixed names, and how wide they are: `replacement`. */
const fixedLane = 11;
const widestLane = 24;
/** The longest that Kubernetes allows: nothing is left out where nothing limits the line. */
export const longestName = 63;

/** The lane column holds the containers' names, up to a third of a narrow line. */
export function columnsFor(width: number, containers: readonly string[]): Columns {
  const limit = width === Infinity ? longestName : widestLane;
  const wanted = Math.min(limit, Math.max(fixedLane, ...containers.map((name) => textWidth(name))));
  return { width, lane: Math.min(wanted, Math.max(7, Math.floor(width / 3) - 4)) };
}

export function markLines(pen: Pen, saying: Saying, zero: Zero, context: Context, columns: Columns): string[] {
  const { mark } = saying;
  const { lane, text, ink } = wordsOf(saying, context);
  const bounds = boundsText(mark.at, zero);
  const shown = shownAt(mark, zero);
  const time = timeText(shown, mark.at, zero, context.timestamps);
  const head = lineHead(pen, time, lane, columns);
  return hung(pen, head, [piece(ink, text), ...(bounds === undefined ? [] : [dim(` (${bounds})`)])], columns.width);
}

/** A line of a container's log, which came at `at` (ms). Without a zero its time is left blank. */
export function logLines(
  pen: Pen,
  { container, text, at, zero }: { container: string; text: string; at: number; zero: Zero | undefined },
  timestamps: Timestamps,
  columns: Columns,
): string[] {
  const moment: Moment = { lo: at, hi: at, basis: 'observed' };
  const time = timeText(at, moment, zero ?? { at, accepted: at }, timestamps);
  const head = lineHead(pen, zero ? time : ' '.repeat(time.length), container, columns);
  return hung(pen, head, [dim(`${pen.symbol('bar')} `), dim(text)], columns.width);
}

const timeText = (shown: number, moment: Moment, zero: Zero, timestamps: Timestamps): string =>
  clockColumn(shown, moment, timestamps) + offsetColumn(shown, moment, zero);

/** Fewer columns than this beside the head are not worth using: the words then stand below it. */
const leastWords = 18;

function hung(pen: Pen, head: Head, words: readonly Piece[], width: number): string[] {
  if (width - head.width >= leastWords) return flow(pen, [...head.pieces, ...words], { width, hang: head.width });
  const below = [plain('    '), ...words];
  return [...flow(pen, head.pieces, { width, hang: 4 }), ...flow(pen, below, { width, hang: 4 })];
}

interface Head {
  readonly pieces: readonly Piece[];
  readonly width: number;
}

function lineHead(pen: Pen, time: string, lane: string, columns: Columns): Head {
  const gap = columns.width < 60 ? '' : '  ';
  const name = padTo(shorten(pen, lane, columns.lane), columns.lane);
  const pieces = [dim(`${gap}${time}`), plain('  '), piece('accent', name), plain('  ')];
  return { pieces, width: widthOf(pieces) };
}
