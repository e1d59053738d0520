/**
 * The live view: changes scroll by, and the frame below them is repainted in place (screen.ts): at most ten times a
 * second, with one write each, and once a second if only the time has changed.
 */
import type { Timeline } from '../infer/timeline.ts';
import type { Observation } from '../model/observation.ts';
import type { Report } from '../verdict/report.ts';
import type { CardFlags } from './card.ts';
import { frame, type LogText } from './frame.ts';
import { createHistory } from './history.ts';
import { endLines } from './lines.ts';
import { penFor, type Pen, type Style } from './palette.ts';
import { flow, plain } from './prose.ts';
import { forTerminal } from './safe-text.ts';
import { createScreen, type Line } from './screen.ts';
import type { Timestamps } from './time-text.ts';
import ora from 'ora';

export interface TerminalOptions {
  /** Text and escape sequences for the terminal. */
  readonly write: (text: string) => void;
  readonly style: Style;
  readonly columns: () => number;
  readonly rows: () => number;
  readonly clock: LiveClock;
}

export interface LiveOptions extends TerminalOptions, CardFlags {
  readonly timestamps: Timestamps;
  /** Let the containers' log lines scroll by, if the observations contain them; else the frame shows the newest. */
  readonly logs?: boolean;
}

/** `now`: ms, the clock of the observations. `setTimeout` calls back once and returns how to cancel it. */
interface LiveClock {
  now(): number;
  setTimeout(callback: () => void, ms: number): () => void;
}

export interface Live {
  /** `timeline` is undefined until the pod has been seen. */
  step(timeline: Timeline | undefined, observation: Observation): void;
  /** The window was resized. */
  resize(): void;
  /** Prints our own message, whole lines, above the frame. */
  say(text: string): void;
  /** Replaces the frame by the card, or after Ctrl-C by its last line. */
  end(report: Report): void;
  /** Restores the terminal, whatever happened; may be called more than once. */
  close(): void;
}

export function createLive(options: LiveOptions): Live {
  const { columns, rows, clock, timestamps, logs = false, flags } = options;
  const pen = penFor(options.style);
  const history = createHistory(pen, { timestamps, logs });
  let timeline: Timeline | undefined;
  let log: readonly LogText[] = [];
  const stage = createPainting(options, pen, () =>
    timeline
      ? frame(timeline, Math.max(clock.now(), timeline.now), { columns: columns(), rows: rows(), pen, flags, log })
      : [],
  );
  return {
    step: (next, observation) => {
      timeline = next;
      log = logs ? [] : withLine(log, observation);
      stage.add(history.step(next, observation, columns()));
    },
    resize: stage.resize,
    say: stage.say,
    end: (report) => {
      const card = endLines(pen, report, columns(), options);
      // run/leaving.ts has already printed what happens to the pod.
      const wasInterrupted = report.verdict.exitCode > 128 && !options.verbose;
      stage.leave(wasInterrupted ? card.slice(-1) : [...history.rest(report.timeline, columns()), '', ...card]);
    },
    close: () => stage.leave([]),
  };
}

/** Enough to include lines of a container that still runs. */
const maxKeptLogLines = 20;

const withLine = (log: readonly LogText[], observation: Observation): readonly LogText[] =>
  observation.kind === 'line' && observation.text !== undefined
    ? [...log, { container: observation.container, text: observation.text }].slice(-maxKeptLogLines)
    : log;

/** A region that is repainted, lines that scroll by above it, and a spinner before there is either. */
export function createPainting({ write, columns, rows, clock }: TerminalOptions, pen: Pen, region: () => Line[]) {
  const screen = createScreen(write, { columns, rows }, pen);
  const spinner = startSpinner(screen.put, columns, pen);
  let above: string[] = [];
  let closed = false;
  const paint = (): void => {
    repaint.stop();
    if (closed) return;
    const lines = region();
    if (lines.length + above.length > 0) {
      spinner.stop();
      if (screen.paint(above, lines)) repaint.painted();
    }
    above = [];
    if (lines.length > 0) repaint.again();
  };
  const repaint = createRepaintTimer(clock, paint);
  const add = (lines: readonly string[]): void => {
    if (closed) return;
    above.push(...lines);
    repaint.soon();
  };
  return {
    /** Prints lines above the region, which is repainted soon. */
    add,
    resize: () => {
      if (closed) return;
      screen.forget();
      repaint.soon();
    },
    /** Prints our own message, whole lines, above the region. */
    say: (text: string) => {
      const lines = messageLines(pen, text, columns());
      if (closed) write(lines.map((line) => `${line}\r\n`).join(''));
      else add(lines);
    },
    /** Replaces the region by lines that stay, and restores the terminal. May be called more than once. */
    leave: (lines: readonly string[]) => {
      if (closed) return;
      closed = true;
      repaint.stop();
      spinner.stop();
      screen.leave([...above, ...lines]);
    },
  };
}

const minRepaintMs = 100;
const idleRepaintMs = 1000;

/** Schedules repaints: soon after a change, but not more often than people can read, and once a second without one. */
function createRepaintTimer(clock: LiveClock, paint: () => void) {
  let paintedAt = -Infinity;
  let cancel = (): void => {};
  const after = (ms: number): void => {
    cancel();
    cancel = clock.setTimeout(paint, ms);
  };
  return {
    soon: () => {
      const due = paintedAt + minRepaintMs - clock.now();
      if (due <= 0) paint();
      else after(due);
    },
    again: () => after(idleRepaintMs),
    painted: () => void (paintedAt = clock.now()),
    stop: () => cancel(),
  };
}

/** Wrapped here: if the terminal wrapped it, an older painting would show after the last row. */
const messageLines = (pen: Pen, text: string, width: number): string[] =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .flatMap((line) => flow(pen, [plain(pen.letters(forTerminal(line, 2000)))], { width, hang: 2 }));

/** Leaves cursor, stdin and colours to the caller. */
function startSpinner(write: (text: string) => void, columns: () => number, pen: Pen) {
  const frames = pen.style.unicode ? ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] : ['-', '\\', '|', '/'];
  const spinner = ora({
    text: 'reading the pod',
    // ora uses only these members of a stream.
    stream: terminalOf(write, columns) as unknown as NodeJS.WriteStream,
    isEnabled: true,
    discardStdin: false,
    hideCursor: false,
    color: false as never,
    spinner: { interval: 100, frames: frames.map((frame) => pen.paint('accent', frame)) },
  }).start();
  return {
    /** Erases its line; may be called more than once. */
    stop: () => void (spinner.isSpinning && spinner.stop()),
  };
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
