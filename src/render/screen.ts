/**
 * Writes lines that stay and, below them, a region that is painted over. The cursor waits, hidden, behind the region's
 * last line: terminals that wrap lines anew on a resize keep it there, so that how far up the region begins can be
 * counted from the new width. Rows that a terminal pushes into its history while it wraps a wide region for a low
 * window are out of reach when we are told: they stay there, torn, since what could erase them would erase history too.
 */
import stringWidth from 'string-width';

export interface Screen {
  /** Text as it is: for the spinner. */
  put(text: string): void;
  /** Whether anything had to be written. `region` has fewer lines than the window, none as wide as it. */
  paint(above: readonly string[], region: readonly string[]): boolean;
  /** The window was reshaped: what is on it may not be what was painted. */
  forget(): void;
  /** Lines in the place of the region; the cursor below them, to be seen again. May be called more than once. */
  leave(lines: readonly string[]): void;
}

const sequences = {
  hideCursor: '\u001b[?25l',
  showCursor: '\u001b[?25h',
  /** Synchronised output: a terminal that knows it shows the whole painting at once; others ignore it. */
  begin: '\u001b[?2026h',
  end: '\u001b[?2026l',
  eraseLine: '\u001b[2K',
  /** After what is drawn, not before it: some terminals keep in their history what is erased from the first line on. */
  eraseBelow: '\u001b[J',
};

export function createScreen(write: (text: string) => void, columns: () => number): Screen {
  let region: readonly string[] = [];
  let current = true;
  let hidden = false;

  const hide = (): string => {
    const first = !hidden;
    hidden = true;
    return first ? sequences.hideCursor : '';
  };
  const home = (): string => {
    const below = rowsOf(region, columns()) - 1;
    return below > 0 ? `\u001b[${below}A\r` : '\r';
  };

  return {
    put: (text) => write(hide() + text),
    paint: (above, next) => {
      if (above.length === 0 && current && isSame(region, next)) return false;
      const text = home() + scrolled(above) + next.map(fresh).join('\r\n') + sequences.eraseBelow;
      region = next;
      current = true;
      write(hide() + sequences.begin + text + sequences.end);
      return true;
    },
    forget: () => {
      current = false;
    },
    leave: (lines) => {
      const text = region.length + lines.length > 0 ? home() + scrolled(lines) + sequences.eraseBelow : '';
      const cursor = hidden ? sequences.showCursor : '';
      region = [];
      hidden = false;
      if (text + cursor !== '') write(text + cursor);
    },
  };
}

const fresh = (line: string): string => sequences.eraseLine + line;
const scrolled = (lines: readonly string[]): string => lines.map((line) => `${fresh(line)}\r\n`).join('');
const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((line, index) => line === b[index]);

/** How many rows lines take in a window of that width. */
const rowsOf = (lines: readonly string[], columns: number): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / Math.max(1, columns))), 0);
