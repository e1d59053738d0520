/**
 * The live view: the lines of the history scroll above, the frame below them is painted over. Between two paintings the
 * cursor waits at the frame's first column, so that a terminal which wraps lines anew on a resize takes it along and
 * erasing from there always erases the whole frame. One write a painting; nothing where nothing changed.
 */
import type { Observation } from '../trace/observation.ts';
import type { ExitReport } from '../trace/report.ts';
import type { Trace } from '../trace/trace.ts';
import { finalPicture, frame } from './frame.ts';
import { createHistory } from './history.ts';
import { conclusion, zeroOfReport } from './lines.ts';
import type { Timestamps } from './moments.ts';
import type { Style } from './palette.ts';
import { penFor } from './palette.ts';
import { startSpinner } from './spinner.ts';

export interface LiveOptions {
  /** Text and escape sequences for the terminal. */
  readonly write: (text: string) => void;
  readonly style: Style;
  readonly columns: () => number;
  readonly rows: () => number;
  readonly clock: LiveClock;
  readonly timestamps: Timestamps;
  /** Show the containers' log lines, where the observations hold them. */
  readonly logs?: boolean;
}

/** `now`: ms, the clock of the observations. `setTimeout` calls back once and returns how to cancel it. */
export interface LiveClock {
  now(): number;
  setTimeout(callback: () => void, ms: number): () => void;
}

export interface Live {
  step(trace: Trace, observation: Observation): void;
  /** Paints if anything is due: time has passed. Called on its own timer too. */
  tick(): void;
  /** The window has another size. */
  resize(): void;
  /** A message of ours, whole lines, to scroll by above the picture. */
  say(text: string): void;
  /** The picture becomes the whole timeline with its verdict, and stays. */
  end(trace: Trace, report: ExitReport): void;
  /** Gives the terminal back, whatever happened; may be called more than once. */
  close(): void;
}

/** At most ten paintings a second; without news the bars still grow, and the countdown counts. */
const leastPause = 100;
const heartbeat = 200;

export function createLive(options: LiveOptions): Live {
  const { style, columns, rows, clock } = options;
  const pen = penFor(style);
  const history = createHistory(pen, { timestamps: options.timestamps, logs: options.logs ?? false });
  const screen = createScreen(options.write);
  const spinner = startSpinner({ write: screen.put, columns, pen, text: 'asking the cluster' });
  let trace: Trace | undefined;
  let news: string[] = [];
  let paintedAt = -Infinity;
  let cancel: (() => void) | undefined;
  let closed = false;

  const paint = (): void => {
    cancel?.();
    cancel = undefined;
    if (closed) return;
    const region = trace ? frame(trace, Math.max(clock.now(), trace.now), columns(), rows(), style) : [];
    if (region.length + news.length > 0) spinner.stop();
    if (screen.paint(news, region)) paintedAt = clock.now();
    news = [];
    if (region.length > 0) cancel = clock.setTimeout(paint, heartbeat);
  };
  const schedule = (): void => {
    const due = paintedAt + leastPause - clock.now();
    if (due <= 0) return paint();
    cancel?.();
    cancel = clock.setTimeout(paint, due);
  };
  const leave = (lines: readonly string[]): void => {
    if (closed) return;
    closed = true;
    cancel?.();
    spinner.stop();
    screen.leave([...news, ...lines]);
  };

  return {
    step: (next, observation) => {
      if (closed) return;
      trace = next;
      news.push(...history.step(next, observation, columns()));
      schedule();
    },
    tick: () => void (closed || schedule()),
    resize: () => {
      if (closed) return;
      screen.forget();
      schedule();
    },
    say: (text) => {
      if (closed) return options.write(text);
      news.push(...text.replace(/\n$/, '').split('\n'));
      schedule();
    },
    end: (last, report) => {
      if (closed) return;
      const width = columns();
      const rest = history.rest(last, width);
      const zero = history.zero()?.at ?? zeroOfReport(report).at;
      const picture = finalPicture(last, width, style);
      leave([...rest, ...(picture.length > 0 ? ['', ...picture] : []), ...conclusion(pen, report, zero, width)]);
    },
    close: () => leave([]),
  };
}

const sequences = {
  hideCursor: '\u001b[?25l',
  showCursor: '\u001b[?25h',
  /** Synchronised output: a terminal that knows it shows the whole painting at once; others ignore it. */
  begin: '\u001b[?2026h',
  end: '\u001b[?2026l',
  eraseBelow: '\r\u001b[J',
};

interface Screen {
  /** As it is: for the spinner. */
  put(text: string): void;
  /** Whether anything had to be written. */
  paint(above: readonly string[], region: readonly string[]): boolean;
  /** The window was reshaped: what is on it may not be what was painted. */
  forget(): void;
  /** Lines in the place of the region; the cursor below them, to be seen again. */
  leave(lines: readonly string[]): void;
}

function createScreen(write: (text: string) => void): Screen {
  let shown: readonly string[] | undefined;
  let hidden = false;
  const hide = (): string => {
    const first = !hidden;
    hidden = true;
    return first ? sequences.hideCursor : '';
  };
  const lined = (lines: readonly string[]): string => lines.map((line) => `${line}\r\n`).join('');
  return {
    put: (text) => write(hide() + text),
    paint: (above, region) => {
      const same = shown?.length === region.length && region.every((line, index) => line === shown?.[index]);
      if (above.length === 0 && (same || (region.length === 0 && shown === undefined))) return false;
      shown = region;
      const back = region.length > 1 ? `\u001b[${region.length - 1}A\r` : '\r';
      write(
        `${hide()}${sequences.begin}${sequences.eraseBelow}${lined(above)}${region.join('\r\n')}${back}${sequences.end}`,
      );
      return true;
    },
    forget: () => {
      shown = undefined;
    },
    leave: (lines) => {
      const painted = shown !== undefined || lines.length > 0;
      const text = painted ? `${sequences.eraseBelow}${lined(lines)}` : '';
      if (text !== '' || hidden) write(`${text}${hidden ? sequences.showCursor : ''}`);
      hidden = false;
      shown = undefined;
    },
  };
}
