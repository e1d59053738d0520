/**
 * The live view: changes scroll by above, the frame below them is kept up to date (screen.ts). At most ten paintings a
 * second, one write each, and one a second where nothing changed but the time.
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
  /** Let the containers' log lines scroll by, where the observations hold them; otherwise the newest are shown below. */
  readonly logs?: boolean;
}

/** `now`: ms, the clock of the observations. `setTimeout` calls back once and returns how to cancel it. */
interface LiveClock {
  now(): number;
  setTimeout(callback: () => void, ms: number): () => void;
}

export interface Live {
  /** `timeline` is undefined while the pod has not been seen. */
  step(timeline: Timeline | undefined, observation: Observation): void;
  /** The window has another size. */
  resize(): void;
  /** A message of ours, whole lines, to scroll by above the picture. */
  say(text: string): void;
  /** The picture gives way to the card, which stays; to its last line where somebody left with Ctrl-C. */
  end(report: Report): void;
  /** Gives the terminal back, whatever happened; may be called more than once. */
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

/** Enough that those of a container that still runs are among them. */
const keptLines = 20;

const withLine = (log: readonly LogText[], observation: Observation): readonly LogText[] =>
  observation.kind === 'line' && observation.text !== undefined
    ? [...log, { container: observation.container, text: observation.text }].slice(-keptLines)
    : log;

/** A region that is painted over and over, lines that scroll by above it, and the spinner before there is either. */
interface Painting {
  /** Lines to scroll by above the region, which is soon drawn again. */
  add(lines: readonly string[]): void;
  resize(): void;
  say(text: string): void;
  /** Lines in the place of the region. */
  leave(lines: readonly string[]): void;
}

export function createPainting(
  { write, columns, rows, clock }: TerminalOptions,
  pen: Pen,
  region: () => Line[],
): Painting {
  const screen = createScreen(write, { columns, rows }, pen);
  const spinner = startSpinner({ write: screen.put, columns, pen, text: 'reading the pod' });
  let above: string[] = [];
  let closed = false;
  const paint = (): void => {
    beat.stop();
    if (closed) return;
    const lines = region();
    if (lines.length + above.length > 0) spinner.stop();
    if (lines.length + above.length > 0 && screen.paint(above, lines)) beat.painted();
    above = [];
    if (lines.length > 0) beat.again();
  };
  const beat = createBeat(clock, paint);
  const add = (lines: readonly string[]): void => {
    if (closed) return;
    above.push(...lines);
    beat.soon();
  };
  return {
    add,
    resize: () => {
      if (closed) return;
      screen.forget();
      beat.soon();
    },
    say: (text) => {
      const lines = messageLines(pen, text, columns());
      if (closed) write(lines.map((line) => `${line}\r\n`).join(''));
      else add(lines);
    },
    leave: (lines) => {
      if (closed) return;
      closed = true;
      beat.stop();
      spinner.stop();
      screen.leave([...above, ...lines]);
    },
  };
}

/** ms between paintings, at least; and until the next one where nothing changes but the time. */
const leastPause = 100;
const heartbeat = 1000;

/** When it is painted: soon after a change, but not more often than it can be read, and once a second without one. */
function createBeat(clock: LiveClock, paint: () => void) {
  let paintedAt = -Infinity;
  let cancel = (): void => {};
  const after = (ms: number): void => {
    cancel();
    cancel = clock.setTimeout(paint, ms);
  };
  return {
    soon: () => {
      const due = paintedAt + leastPause - clock.now();
      if (due <= 0) paint();
      else after(due);
    },
    again: () => after(heartbeat),
    painted: () => void (paintedAt = clock.now()),
    stop: () => cancel(),
  };
}

/** Wrapped here: where the terminal did it, what it painted before would show behind the last row. */
const messageLines = (pen: Pen, text: string, width: number): string[] =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .flatMap((line) => flow(pen, [plain(pen.letters(forTerminal(line, 2000)))], { width, hang: 2 }));

interface Spinner {
  /** Takes its line away; may be called more than once. */
  stop(): void;
}

interface SpinnerOptions {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly pen: Pen;
  readonly text: string;
}

/** Neither hides the cursor nor reads stdin nor asks the environment for colours: those are the caller's. */
function startSpinner({ write, columns, pen, text }: SpinnerOptions): Spinner {
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
