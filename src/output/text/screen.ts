/**
 * Prints lines that stay and, below them, a region that is repainted in place. Only changed lines are written, each over
 * its older state, so that nothing flickers. New lines take the region's place and push it down, so that they scroll into
 * the terminal's history as usual. Between paintings the hidden cursor stays at the start of the region's last line.
 * Terminals that rewrap lines on a resize keep it there, so the new width tells how far up the region begins.
 */
import type { Pen } from '../palette.ts';
import type { Output, OutputPorts } from '../ports.ts';
import { clipPieces, flow, paintedRuns, piece, piecesWidth, plain, type Piece } from '../prose.ts';
import { safeLines } from '../safe-text.ts';

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
/** Synchronised output: a terminal that knows it shows a painting at once; others ignore it. */
const [beginSync, endSync] = ['\u001b[?2026h', '\u001b[?2026l'];
const eraseBelow = '\u001b[J';
const eraseLine = '\u001b[2K';
const eraseRest = '\u001b[K';

function createScreen(stdout: Output, pen: Pen) {
  let region: readonly { readonly text: string; readonly width: number }[] = [];
  let isKnown = true;
  let isCursorHidden = false;

  /**
   * Erases the region, wherever a resize has put it, and moves to its first column. Each row is erased as a whole: else
   * some terminals go on to take it for one line with the next row, and rewrap both at the next resize.
   */
  const erased = (): string => {
    const most = Math.max(1, stdout.columns());
    const rows = region.slice(0, -1).reduce((sum, { width }) => sum + Math.max(1, Math.ceil(width / most)), 0);
    return `\r${eraseBelow}${`\u001b[A${eraseLine}`.repeat(rows)}`;
  };
  const firstLine = (): string => (region.length > 1 ? `\u001b[${region.length - 1}A` : '');

  return {
    /** Returns whether it wrote anything. `lines`, the new region, must be fewer than those of the window. */
    paint: (above: readonly string[], lines: readonly Piece[][]): boolean => {
      const next = lines.map((line) => ({ text: paintedRuns(pen, line), width: piecesWidth(line) }));
      const isSame = (at: number): boolean =>
        isKnown && above.length === 0 && region[at] !== undefined && region[at].text === next[at]?.text;
      if (isKnown && above.length === 0 && next.length === region.length && next.every((_, at) => isSame(at)))
        return false;
      const start = isKnown ? firstLine() : erased();
      // A line that fills the window is erased before it is written: behind it, the last letter would be erased.
      const scrolled = above.map((line) => `${eraseLine}${line}\r\n`).join('');
      const painted = next.map(({ text }, at) => (isSame(at) ? '' : `${text}${eraseRest}`)).join('\r\n');
      const text = `${start}${scrolled}${painted}${next.length < region.length ? eraseBelow : ''}`;
      const isLarge = !isKnown || above.length > 0;
      stdout.write(`${isCursorHidden ? '' : hideCursor}${isLarge ? `${beginSync}${text}${endSync}` : text}\r`);
      region = next;
      isKnown = true;
      isCursorHidden = true;
      return true;
    },
    /** Call this after a resize: the screen may no longer show what was painted. */
    forget: () => void (isKnown = false),
    /** Replaces the region by lines, and shows the cursor again below them. May be called more than once. */
    leave: (lines: readonly string[]) => {
      const text = region.length + lines.length > 0 ? erased() + lines.map((line) => `${line}\r\n`).join('') : '';
      const cursor = isCursorHidden ? showCursor : '';
      region = [];
      isCursorHidden = false;
      if (text + cursor !== '') stdout.write(text + cursor);
    },
  };
}

const spinnerMs = 100;

/**
 * A region that is repainted, lines that scroll by above it, and a spinner before there is either. `draw`: the region, in
 * this many columns and rows; what exceeds them is cut off, so that it can always be repainted.
 */
export function createPainting(
  pen: Pen,
  { stdout, stderr, clock }: Pick<OutputPorts, 'stdout' | 'stderr' | 'clock'>,
  draw: (columns: number, rows: number) => Piece[][],
) {
  const screen = createScreen(stdout, pen);
  let above: string[] = [];
  let hasContent = false;
  let closed = false;
  let paintedAt = -Infinity;
  let cancel = (): void => {};
  const paint = (): void => {
    cancel();
    const [width, room] = [stdout.columns() - 1, stdout.rows() - 1];
    const drawn = width < 1 || room < 1 ? [] : draw(width, room).slice(0, room);
    const lines = drawn.map((line) => clipPieces(pen, line, width));
    hasContent ||= lines.length + above.length > 0;
    const hasWritten = screen.paint(above, hasContent ? lines : [spinner(pen, clock.now(), width)]);
    if (hasWritten && hasContent) paintedAt = clock.now();
    above = [];
    if (!hasContent || lines.length > 0) paintAfter(hasContent ? 1000 : spinnerMs);
  };
  const paintAfter = (ms: number): void => {
    cancel();
    cancel = clock.setTimeout(paint, ms);
  };
  /** Not more often than people can read. */
  const paintSoon = (): void => paintAfter(Math.max(0, paintedAt + 100 - clock.now()));
  /** Prints lines above the region, which is repainted soon. */
  const add = (lines: readonly string[]): void => {
    if (closed) return;
    above.push(...lines);
    paintSoon();
  };
  /** Replaces the region by lines that stay, and restores the terminal. May be called more than once. */
  const leave = (lines: readonly string[]): void => {
    if (closed) return;
    closed = true;
    cancel();
    unsubscribe.forEach((stop) => stop());
    screen.leave([...above, ...lines]);
  };
  const resize = (): void => {
    screen.forget();
    paintSoon();
  };
  // Once this process is suspended, the terminal is the shell's until the next painting.
  const unsubscribe = [stdout.onResize(resize), stdout.onSuspend(() => screen.leave([]))];
  paint();
  return {
    add,
    /** Prints our own message, whole lines, above the region; false: stderr is not this terminal. */
    say: (text: string): boolean => {
      if (!stderr.isTty) return false;
      // Wrapped here: if the terminal wrapped it, an older painting would show after the last row.
      const raw = safeLines(text.replace(/\n$/, '')).split('\n');
      const lines = raw.flatMap((line) => flow(pen, [plain(line)], { width: stdout.columns(), hang: 2 }));
      if (closed) stdout.write(lines.map((line) => `${line}\r\n`).join(''));
      else add(lines);
      return true;
    },
    leave,
    close: () => leave([]),
  };
}

function spinner(pen: Pen, now: number, width: number): Piece[] {
  const frames = pen.style.unicode ? '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏' : '-\\|/';
  const sign = frames.charAt(Math.floor(now / spinnerMs) % frames.length);
  return clipPieces(pen, [piece('accent', sign), plain(' reading the pod')], width);
}
