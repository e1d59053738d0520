/**
 * The live view as lines: always an answer line on top, then a warning if the node does not respond, a bar for each
 * container against its grace period, a lane for each Service, the replacement. A pure function of the Timeline, the time
 * (ms, client's clock) and the window. At most `rows` - 1 lines, each narrower than `columns`, so that it can always be
 * repainted.
 */
import type { Timeline } from '../../infer/timeline.ts';
import type { CardFlags } from './card.ts';
import { podText } from '../pod-facts.ts';
import { containerLanes, probeLanes, replacementLane, serviceLanes, type LiveLane } from './live-lanes.ts';
import { nodeTrouble, liveStatus } from './status.ts';
import type { Pen } from '../palette.ts';
import { clipPieces, dim, padTo, piece, plain, shorten, textWidth, piecesWidth, type Piece } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import type { Line } from './screen.ts';

export interface FrameWindow extends Pick<CardFlags, 'flags'> {
  readonly columns: number;
  readonly rows: number;
  readonly pen: Pen;
}

export function frame(timeline: Timeline, now: number, window: FrameWindow): Line[] {
  const { columns, rows, pen, flags = '' } = window;
  const [width, room] = [columns - 1, rows - 1];
  if (room < 1 || width < 1) return [];
  const clipped = (lines: readonly Piece[][]): Line[] => lines.map((line) => clipPieces(pen, line, width));
  const top = topLine(pen, timeline, now, width);
  if (!timeline.deleted) return clipped([top]);
  const warning = nodeTrouble(timeline, now, flags).map((text, index) => [
    piece('bad', `${index === 0 ? `  ${pen.symbol('bad')} ` : '    '}${forTerminal(text)}`),
  ]);
  const lanes = [
    ...containerLanes(timeline, now),
    ...serviceLanes(timeline, now),
    ...probeLanes(timeline),
    ...replacementLane(timeline),
  ];
  const space = room - 1 - Math.min(warning.length, room - 1);
  const shown = fitLanes(lanes, space);
  const widths = widthsFor(width, lanes);
  const left = lanes.length - shown.length;
  return clipped([
    top,
    ...warning.slice(0, room - 1),
    ...shown.slice(0, left > 0 ? Math.max(0, space - 1) : space).map((lane) => laneLine(pen, lane, widths)),
    ...(left > 0 && space > 0 ? [[dim(`  … ${left + 1} more`)]] : []),
  ]);
}

/** `shop/checkout-… Terminating · 0:21 of 0:30 · SIGKILL in 9s · removed from Service checkout`, the last if it fits. */
function topLine(pen: Pen, timeline: Timeline, now: number, width: number): Piece[] {
  const { word, ink, facts } = liveStatus(timeline, now);
  const piecesOf = (isBrief: boolean, shown = facts): Piece[] =>
    shown.flatMap(({ text, brief = text, ink: own }) => [dim(' · '), piece(own, forTerminal(isBrief ? brief : text))]);
  // The countdown says more than the word.
  const shownWord = width < narrowColumns && facts.length > 1 ? '' : word;
  const leftBy = (pieces: readonly Piece[]): number => width - textWidth(shownWord) - 1 - piecesWidth(pieces);
  const least = shownWord === '' ? minNarrowPodColumns : minPodColumns;
  const forms = [piecesOf(false), piecesOf(true), piecesOf(true, facts.slice(0, 2))];
  const rest = forms.find((pieces) => leftBy(pieces) >= least) ?? piecesOf(true);
  const name = shorten(pen, forTerminal(podText(timeline)), Math.max(least, leftBy(rest)));
  return [piece('strong', name), ...(shownWord === '' ? [] : [plain(' '), piece(ink, shownWord)]), ...rest];
}

/** Enough of a pod's name to tell it from its siblings. */
const minPodColumns = 12;
const minNarrowPodColumns = 6;
const narrowColumns = 58;

interface Widths {
  readonly name: number;
  readonly bar: number;
}

const maxNameColumns = 20;
const maxBarCells = 60;

/** Names get a fifth, words up to 46 columns, the bar the rest. In a narrow window words matter more than the bar. */
function widthsFor(width: number, lanes: readonly LiveLane[]): Widths {
  const longest = Math.max(8, ...lanes.map(({ name }) => textWidth(forTerminal(name))));
  const name = Math.min(longest, maxNameColumns, Math.max(6, Math.floor(width / 5)));
  const rest = width - name - 4;
  const bar = Math.min(maxBarCells, rest - Math.min(46, Math.ceil(rest * 0.68)) - 2);
  return { name, bar: bar < 8 ? 0 : bar };
}

function laneLine(pen: Pen, lane: LiveLane, { name, bar }: Widths): Piece[] {
  return [
    plain('  '),
    piece('accent', padTo(shorten(pen, forTerminal(lane.name), name), name)),
    plain('  '),
    ...(bar > 0 ? [...barPieces(pen, lane, bar), plain('  ')] : []),
    piece(lane.ink, forTerminal(lane.words)),
  ];
}

/** Draws the stretches one after the other, and the rest of the scale dim. */
function barPieces(pen: Pen, { stretches, isTrack }: LiveLane, cells: number): Piece[] {
  let used = 0;
  const pieces = stretches.map(({ look, ink, until }) => {
    const end = Math.min(cells, Math.max(used, Math.round(until * cells)));
    const text = pen.symbol(look).repeat(end - used);
    used = end;
    return piece(ink, text);
  });
  return [...pieces, isTrack ? dim(pen.symbol('rest').repeat(cells - used)) : plain(' '.repeat(cells - used))];
}

/** Keeps the order, and drops the lanes that matter least now. */
function fitLanes(lanes: readonly LiveLane[], room: number): LiveLane[] {
  if (lanes.length <= room) return [...lanes];
  const kept = new Set([...lanes].sort((a, b) => a.rank - b.rank).slice(0, Math.max(0, room)));
  return lanes.filter((lane) => kept.has(lane));
}
