/** A headless terminal: what a person sees after these bytes, with the scrollback. */
import headless from '@xterm/headless';

export type Happening = { kind: 'write'; text: string } | { kind: 'resize'; columns: number; rows: number };

export interface Screen {
  /** The lines in the window, without blanks at their ends; wrapped lines as the terminal wraps them. */
  window: string[];
  /** Lines in the scrollback. */
  history: string[];
  /** All lines as they were written, before the terminal wrapped them, without blank ones at the end. */
  written: string[];
  cursorHidden: boolean;
  /** Row in the window and column of the cursor. */
  cursor: { row: number; column: number };
}

export async function screenOf(
  size: { columns: number; rows: number },
  happenings: readonly Happening[],
): Promise<Screen> {
  const terminal = new headless.Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback: 5000,
    allowProposedApi: true,
  });
  // What is written meanwhile waits for the terminal's next turn.
  const isWritten = (): Promise<void> => new Promise((resolve) => terminal.write('', resolve));
  for (const one of happenings) {
    if (one.kind === 'write') terminal.write(one.text);
    else {
      await isWritten();
      terminal.resize(one.columns, one.rows);
    }
  }
  await isWritten();
  const all = happenings.map((one) => (one.kind === 'write' ? one.text : '')).join('');
  const cursorHidden = all.lastIndexOf('\u001b[?25l') > all.lastIndexOf('\u001b[?25h');
  const buffer = terminal.buffer.active;
  const lines = Array.from(
    { length: buffer.length },
    (_, index) => buffer.getLine(index)?.translateToString(true) ?? '',
  );
  const written = lines.reduce<string[]>((whole, line, index) => {
    if (buffer.getLine(index)?.isWrapped) whole.push(`${whole.pop() ?? ''}${line}`);
    else whole.push(line);
    return whole;
  }, []);
  const screen: Screen = {
    written: written.join('\n').trimEnd().split('\n'),
    window: lines.slice(buffer.baseY),
    history: lines.slice(0, buffer.baseY),
    cursorHidden,
    cursor: { row: buffer.cursorY, column: buffer.cursorX },
  };
  terminal.dispose();
  return screen;
}

/** Everything that was ever printed, for searching, without blank lines at the end. */
export const allLines = ({ history, window }: Screen): string[] =>
  [...history, ...window].join('\n').trimEnd().split('\n');
