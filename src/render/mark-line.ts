/** One mark as one line (or a few, where the terminal is narrow): time, offset, lane, words. */
import type { Moment, Timestamps, Zero } from './moments.ts';
import { arrivedAt, boundsText, clockColumn, offsetColumn, shownAt, toldMoment } from './moments.ts';
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
  const at = toldMoment(mark);
  const bounds = boundsText(at, zero);
  const time = timeText(shownAt(mark, zero), at, zero, context.timestamps);
  const head = lineHead(pen, time, lane, columns);
  return hung(pen, head, [piece(ink, text), ...(bounds === undefined ? [] : [dim(` (${bounds})`)])], columns.width);
}

/** What came at `at` (ms) and is no mark; its text is inert. Without a zero its time is left blank. */
export interface Aside {
  readonly lane: string;
  readonly text: string;
  readonly at: number;
  readonly zero: Zero | undefined;
}

/** A line of a container's log. */
export const logLines = (pen: Pen, line: Aside, timestamps: Timestamps, columns: Columns): string[] =>
  hung(pen, asideHead(pen, line, timestamps, columns), [dim(`${pen.symbol('bar')} `), dim(line.text)], columns.width);

/** `app  kubelet begins to stop it again: …`. */
export const asideLines = (pen: Pen, aside: Aside, timestamps: Timestamps, columns: Columns): string[] =>
  hung(pen, asideHead(pen, aside, timestamps, columns), [piece('warning', aside.text)], columns.width);

function asideHead(pen: Pen, { lane, at, zero }: Aside, timestamps: Timestamps, columns: Columns): Head {
  const moment: Moment = { lo: at, hi: at, basis: 'observed' };
  const time = timeText(arrivedAt(at), moment, zero ?? { at, accepted: at }, timestamps);
  return lineHead(pen, zero ? time : ' '.repeat(time.length), lane, columns);
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
