/** The spinner of the time in which nothing is known yet: ora's, on the stream that the picture will stand on. */
import ora from 'ora';
import type { Pen } from './palette.ts';

export interface Spinner {
  /** Takes its line away; may be called more than once. */
  stop(): void;
}

export interface SpinnerOptions {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly pen: Pen;
  readonly text: string;
}

/** Neither hides the cursor nor reads stdin nor asks the environment for colours: those are the caller's. */
export function startSpinner({ write, columns, pen, text }: SpinnerOptions): Spinner {
  const frames = pen.style.unicode ? ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] : ['-', '\\', '|', '/'];
  const spinner = ora({
    text,
    // ora calls no more of a stream than this.
    stream: terminalOf(write, columns) as unknown as NodeJS.WriteStream,
    isEnabled: true,
    discardStdin: false,
    hideCursor: false,
    color: false as never,
    spinner: { interval: 100, frames: frames.map((frame) => pen.paint('accent', frame)) },
  }).start();
  return { stop: () => void (spinner.isSpinning && spinner.stop()) };
}

const terminalOf = (write: (text: string) => void, columns: () => number) => ({
  isTTY: true,
  get columns() {
    return columns();
  },
  write: (text: string) => {
    write(text);
    return true;
  },
  cursorTo: (column: number) => write(`\u001b[${column + 1}G`),
  moveCursor: (_columns: number, rows: number) => {
    if (rows !== 0) write(rows < 0 ? `\u001b[${-rows}A` : `\u001b[${rows}B`);
  },
  clearLine: () => write('\u001b[2K'),
});
