/**
 * The live view: the lines of the history scroll above, the frame below them is painted over (screen.ts). At most ten
 * paintings a second, one write each, none where nothing changed.
 */
import type { Observation } from '../model/observation.ts';
import type { ExitReport } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import { finalPicture, frame } from './frame.ts';
import { createHistory } from './history.ts';
import { conclusion, zeroOfReport } from './lines.ts';
import type { Timestamps } from './moments.ts';
import type { Pen, Style } from './palette.ts';
import { penFor } from './palette.ts';
import { flow, plain } from './prose.ts';
import { forTerminal } from './safe-text.ts';
import { createScreen } from './screen.ts';
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
  /** Connection flags behind a command that is advised, each with a blank before it. */
  readonly reach?: string | undefined;
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

/** ms; without news the bars still grow, and the countdown counts. */
const leastPause = 100;
const heartbeat = 200;

export function createLive(options: LiveOptions): Live {
  const { style, columns, rows, clock } = options;
  const pen = penFor(style);
  const history = createHistory(pen, { timestamps: options.timestamps, logs: options.logs ?? false });
  const screen = createScreen(options.write, columns);
  const spinner = startSpinner({ write: screen.put, columns, pen, text: 'asking the cluster' });
  let trace: Trace | undefined;
  let news: string[] = [];
  let closed = false;

  const paint = (): void => {
    beat.stop();
    if (closed) return;
    const region = trace ? frame(trace, Math.max(clock.now(), trace.now), columns(), rows(), style) : [];
    if (region.length + news.length > 0) spinner.stop();
    if (screen.paint(news, region)) beat.painted();
    news = [];
    if (region.length > 0) beat.again();
  };
  const beat = createBeat(clock, paint);
  const leave = (lines: readonly string[]): void => {
    if (closed) return;
    closed = true;
    beat.stop();
    spinner.stop();
    screen.leave([...news, ...lines]);
  };

  return {
    step: (next, observation) => {
      if (closed) return;
      trace = next;
      news.push(...history.step(next, observation, columns()));
      beat.soon();
    },
    tick: () => void (closed || beat.soon()),
    resize: () => {
      if (closed) return;
      screen.forget();
      beat.soon();
    },
    say: (text) => {
      const lines = saidLines(pen, text, columns());
      if (closed) return options.write(lines.map((line) => `${line}\r\n`).join(''));
      news.push(...lines);
      beat.soon();
    },
    end: (last, report) => {
      if (closed) return;
      const width = columns();
      const rest = history.rest(last, width);
      const zero = history.zero()?.at ?? zeroOfReport(report).at;
      const picture = finalPicture(last, width, style);
      leave([
        ...rest,
        ...(picture.length > 0 ? ['', ...picture] : []),
        ...conclusion(pen, report, { zero, width, reach: options.reach }),
      ]);
    },
    close: () => leave([]),
  };
}

/** When it is painted: soon after news, but not more often than it can be read, and again without news. */
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
const saidLines = (pen: Pen, text: string, width: number): string[] =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .flatMap((line) => flow(pen, [plain(pen.letters(forTerminal(line, 2000)))], { width, hang: 2 }));
