/** The live view: changes scroll by, and the frame below them is repainted, at most ten times a second. */
import type { Timeline } from '../../infer/timeline.ts';
import type { Observation } from '../../model/observation.ts';
import type { Report } from '../../verdict/report.ts';
import { iconOf, lastLines } from './card.ts';
import { frame } from './frame.ts';
import { createChangeLines } from './history.ts';
import { endLines, type LinesOptions } from './lines.ts';
import { penFor, type Pen } from '../palette.ts';
import { closingText } from '../pod-facts.ts';
import type { Clock } from '../ports.ts';
import { clipPieces, flow, piece, plain } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import { createScreen, type Line } from './screen.ts';

/** `write` gets escape sequences too. */
export interface TerminalOptions extends Pick<LinesOptions, 'write' | 'style' | 'timestamps' | 'flags'> {
  readonly columns: () => number;
  readonly rows: () => number;
  /** That of the observations. */
  readonly clock: Clock;
}

export type LiveView = ReturnType<typeof createLive>;

export function createLive(options: TerminalOptions & Partial<Pick<LinesOptions, 'logs' | 'verbose'>>) {
  const { columns, rows, clock, logs = false, flags } = options;
  const pen = penFor(options.style);
  const history = createChangeLines(pen, { ...options, logs });
  let timeline: Timeline | undefined;
  const { add, leave, ...painting } = createPainting(options, pen, () =>
    timeline
      ? frame(timeline, Math.max(clock.now(), timeline.now), { columns: columns(), rows: rows(), pen, flags })
      : [],
  );
  return {
    ...painting,
    /** `next` is undefined until the pod has been seen. */
    step: (next: Timeline | undefined, observation: Observation) => {
      timeline = next;
      add(history.step(next, observation));
    },
    /** Replaces the frame by the card, or after Ctrl-C by its closing sentence. */
    end: (report: Report) => {
      // run/ending/leaving.ts has already printed what happens to the pod.
      if (report.verdict.exitCode > 128 && !options.verbose)
        return leave(lastLines({ pen, columns: columns() }, iconOf(report), closingText(report)));
      leave([...history.rest(report.timeline), '', ...endLines(pen, report, columns(), options)]);
    },
    close: () => leave([]),
  };
}

const minRepaintMs = 100;
const idleRepaintMs = 1000;
const spinnerMs = 100;

/** A region that is repainted, lines that scroll by above it, and a spinner before there is either. */
export function createPainting({ write, columns, clock }: TerminalOptions, pen: Pen, region: () => Line[]) {
  const screen = createScreen(write, columns, pen);
  let above: string[] = [];
  let hasContent = false;
  let closed = false;
  let paintedAt = -Infinity;
  let cancel = (): void => {};
  const paint = (): void => {
    cancel();
    const lines = region();
    hasContent ||= lines.length + above.length > 0;
    const hasWritten = screen.paint(above, hasContent ? lines : [spinner(pen, clock.now(), columns())]);
    if (hasWritten && hasContent) paintedAt = clock.now();
    above = [];
    if (!hasContent || lines.length > 0) paintAfter(hasContent ? idleRepaintMs : spinnerMs);
  };
  const paintAfter = (ms: number): void => {
    cancel();
    cancel = clock.setTimeout(paint, ms);
  };
  /** Not more often than people can read. */
  const paintSoon = (): void => {
    const wait = paintedAt + minRepaintMs - clock.now();
    if (wait <= 0) paint();
    else paintAfter(wait);
  };
  /** Prints lines above the region, which is repainted soon. */
  const add = (lines: readonly string[]): void => {
    if (closed) return;
    above.push(...lines);
    paintSoon();
  };
  paint();
  return {
    add,
    resize: () => {
      if (closed) return;
      screen.forget();
      paintSoon();
    },
    /** This process is about to be suspended: the terminal is the shell's until the next painting. */
    suspend: () => screen.leave([]),
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
      cancel();
      screen.leave([...above, ...lines]);
    },
  };
}

/** Wrapped here: if the terminal wrapped it, an older painting would show after the last row. */
const messageLines = (pen: Pen, text: string, width: number): string[] =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .flatMap((line) => flow(pen, [plain(pen.letters(forTerminal(line, 2000)))], { width, hang: 2 }));

function spinner(pen: Pen, now: number, columns: number): Line {
  const frames = pen.style.unicode ? '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏' : '-\\|/';
  const sign = frames.charAt(Math.floor(now / spinnerMs) % frames.length);
  return clipPieces(pen, [piece('accent', sign), plain(' reading the pod')], columns - 1);
}
