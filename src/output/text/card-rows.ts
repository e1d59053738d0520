/** The card's rows, labelled and wrapped at 80 columns (commands never), and the rows of containers with their bars. */
import type { ContainerTimeline, Timeline } from '../../infer/timeline.ts';
import { boundOf, graceUsedLength, isVague, lengthText, secondsText } from '../../verdict/words.ts';
import type { Report } from '../../verdict/report.ts';
import { graceMs, isGraceSeen } from '../../verdict/rule-input.ts';
import { exitInk, exitText, shareInk } from '../mark-text.ts';
import type { Pen } from '../palette.ts';
import { dim, flow, padTo, paintedRuns, piece, plain, shorten, textWidth, type Piece } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';

export interface CardRow {
  /** A container's name, or `traffic`, `why`, … Unescaped. */
  readonly label: string;
  /** Escaped. */
  readonly pieces: readonly Piece[];
  /** A command to paste, below the words: one line, whatever its length. Escaped. */
  readonly command?: string | undefined;
}

/** `head`: before the sentence. Sentence and command are unescaped. */
export const sentenceRow = (
  label: string,
  sentence: string,
  head: readonly Piece[] = [],
  command?: string,
): CardRow => ({
  label,
  pieces: [...head, plain(forTerminal(sentence, 1000))],
  command: command && forTerminal(command, 4000),
});

export interface CardLayout {
  readonly pen: Pen;
  /** Columns of a line of prose. */
  readonly width: number;
  /** Columns of a label, without the blanks around it. */
  readonly labelColumns: number;
}

export function cardLayout(pen: Pen, columns: number, rows: readonly { label: string }[]): CardLayout {
  const width = Math.max(20, Math.min(80, columns));
  const longest = Math.max(8, ...rows.map(({ label }) => textWidth(forTerminal(label))));
  return { pen, width, labelColumns: Math.min(longest, Math.max(8, Math.floor(width / 4))) };
}

export function rowLines(layout: CardLayout, { label, pieces, command }: CardRow): string[] {
  const { pen, width } = layout;
  const hang = layout.labelColumns + 4;
  const name = padTo(shorten(pen, forTerminal(label), layout.labelColumns), layout.labelColumns);
  const head = [plain('  '), piece('dim', name), plain('  ')];
  const isBare = pieces.length === 0;
  const lines = isBare ? [] : flow(pen, [...head, ...pieces], { width, hang });
  const before = isBare ? head : [plain(' '.repeat(hang))];
  return command === undefined
    ? lines
    : [...lines, paintedRuns(pen, [...before, piece('accent', pen.letters(command))])];
}

interface ExitRow {
  readonly label: string;
  readonly container?: ContainerTimeline;
  /** ms. */
  readonly grace: number;
  readonly words: readonly Piece[];
}

export function exitRows({ timeline }: Report): ExitRow[] {
  const grace = graceMs(timeline);
  return timeline.containers
    .filter(({ ran, kind }) => ran || kind === 'container')
    .map((container) => ({
      label: container.name,
      container,
      grace,
      words: container.ran
        ? [piece(exitInk[container.outcome], endText(container)), plain(`  ${usedText(container, timeline)}`)]
        : [dim('was not running')],
    }));
}

/** `SIGKILL`, `exited 0`: how the container ended. */
function endText(container: ContainerTimeline): string {
  if (container.outcome === 'signalled' && container.exit) return `exited ${container.exit.code ?? '?'}`;
  return `${container.probable ? 'probably ' : ''}${container.outcome === 'killed' ? 'SIGKILL' : exitText(container)}`;
}

/** `3.1s of 10s grace period`, `1.1s past the 5s grace period`. */
function usedText(container: ContainerTimeline, timeline: Timeline): string {
  const grace = graceMs(timeline);
  const { pastGrace, preStop, outcome, graceUsed } = container;
  if (outcome === 'abandoned') return 'when the pod was removed';
  const allowed = secondsText(grace, grace % 1000 === 0 ? 0 : 1);
  const whole = `${allowed} grace period`;
  if (pastGrace && outcome !== 'killed') return `${lengthText(pastGrace)} past the ${whole}`;
  const length = graceUsedLength(container);
  if (!isGraceSeen(timeline)) return `${length ? lengthText(length) : '?'} of a grace period that was not seen`;
  if (!length) return graceUsed ? `${lengthText(graceUsed)} into the second ${whole}` : `grace period ${allowed}`;
  const used = lengthText(length);
  // Only a bound, and longer than what it is compared with.
  if (used.startsWith('≤') && length.max > grace) return `after at most ${used.slice(1)}, grace period ${allowed}`;
  // A bound that is longer than the whole would tell nothing.
  const isPart = preStop?.length && preStop.length.shown >= 50 && boundOf(preStop.length) <= length.shown;
  return isPart ? `${used} of ${allowed}, preStop ${lengthText(preStop.length)}` : `${used} of ${whole}`;
}

/** The lines of at most `rows` containers, fewer if they need more than `room` lines, but always those of one. */
export function barLines(exits: readonly ExitRow[], layout: CardLayout, rows: number, room: number): string[] {
  const kept = limitExitRows(exits, rows);
  const cells = barCells(kept, layout);
  const lines = kept.flatMap((row) => exitLines(row, cells, layout));
  return lines.length <= room || kept.length <= 2 ? lines : barLines(exits, layout, kept.length - 1, room);
}

/** Bad exits first, then main containers: the headline is about them. */
const exitPriority = ({ container }: ExitRow): number =>
  (container && ['completed', 'signalled', 'not-running'].includes(container.outcome) ? 0 : 2) +
  (container?.kind === 'container' ? 1 : 0);

/** Keeps the rows of highest priority and counts the others. */
function limitExitRows(rows: readonly ExitRow[], maxRows: number): ExitRow[] {
  if (rows.length <= maxRows) return [...rows];
  const kept = new Set([...rows].sort((a, b) => exitPriority(b) - exitPriority(a)).slice(0, maxRows - 1));
  const left = rows.filter((row) => !kept.has(row));
  const texts = [...new Set(left.map(({ container }) => (container ? endText(container) : '')))];
  const words = [dim(texts.length === 1 ? `each ${texts[0] ?? ''}` : texts.join(', '))];
  return [...rows.filter((row) => kept.has(row)), { label: `${left.length} more`, grace: 0, words }];
}

/** The width of every bar in cells: what the widest words leave. */
function barCells(rows: readonly ExitRow[], layout: CardLayout): number {
  const words = rows.filter(hasBar).map((row) => textWidth(row.words.map(({ text }) => text).join('')));
  return Math.min(30, layout.width - layout.labelColumns - 4 - Math.max(36, ...words.map((width) => width + 1)));
}

const hasBar = ({ container }: ExitRow): boolean =>
  container !== undefined && container.ran && container.graceUsed !== undefined && container.outcome !== 'abandoned';

function exitLines(row: ExitRow, cells: number, layout: CardLayout): string[] {
  const { label, container, grace, words } = row;
  const isDrawn = container && cells >= 8 && layout.pen.style.bars !== false && hasBar(row);
  const pieces = isDrawn ? [...barOf(layout.pen, container, grace, cells), plain(' '), ...words] : words;
  return rowLines(layout, { label, pieces });
}

/** preStop and drain against the grace period; one part if the split between them is not known. */
function barOf(pen: Pen, { graceUsed, preStop, outcome }: ContainerTimeline, grace: number, cells: number): Piece[] {
  const used = (graceUsed?.shown ?? 0) / Math.max(1, grace);
  const ink = outcome === 'killed' || outcome === 'oom' ? 'bad' : shareInk(used);
  const cellsOf = (share: number): number => Math.min(cells, Math.max(0, Math.round(share * cells)));
  const usedCells = Math.max(used > 0 ? 1 : 0, cellsOf(used));
  const hook = preStop?.length && !isVague(preStop.length) ? preStop.length.shown : 0;
  const hookCells = Math.min(usedCells, cellsOf(hook / Math.max(1, grace)));
  return [
    piece(ink, pen.symbol('hook').repeat(hookCells)),
    piece(ink, pen.symbol('full').repeat(usedCells - hookCells)),
    dim(pen.symbol('rest').repeat(cells - usedCells)),
  ];
}
