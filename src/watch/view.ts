/** What stdout shows of a watch: lines, JSON, or at a terminal a table that is kept up to date. */
import { printTime } from '../model/stamps.ts';
import { penFor, type Pen } from '../output/palette.ts';
import type { OutputPorts } from '../output/ports.ts';
import { flow, plain, dim, liveTable, piece, type Piece, type TableRow } from '../output/prose.ts';
import { forTerminal } from '../output/safe-text.ts';
import { isRepainted, viewOptions } from '../output/text/live.ts';
import type { LookOptions, View } from '../output/view.ts';
import { exitLines, exitDocument, jsonDocument, jsonLine, type WatchListener, type WatchedExit } from './lines.ts';
import { summaryText, type ExitNumbers, type WorkloadCounts, type ServiceReady } from './counts.ts';
import type { Timestamps } from '../output/time-text.ts';
import { createPainting } from '../output/text/screen.ts';
import { durationText } from '../output/text/status.ts';
import { plural } from '../verdict/words.ts';

/** How exits are printed: `table` at a terminal. */
export type WatchFormat = 'table' | 'lines' | 'ndjson' | 'json';

export interface WatchView extends Pick<WatchListener, 'exit' | 'gap'>, Pick<View, 'say' | 'close'> {
  end(numbers: ExitNumbers, stillTerminating: number): void;
}

export function watchView(
  format: WatchFormat,
  look: LookOptions,
  { dropped, ...ports }: OutputPorts & Pick<Required<WatchListener>, 'dropped'>,
  state: () => WatchState,
): WatchView {
  // Beyond 16 MiB that wait for a reader of stdout lines are left out: a watch runs on for days.
  const write = (text: string): void =>
    (ports.stdout.waiting?.() ?? 0) < 16 * 2 ** 20 ? ports.stdout.write(text) : dropped('lines', 'stdout is read late');
  const forPrograms = (print: typeof jsonLine): WatchView => ({
    exit: (exit) => write(exitDocument(exit, print)),
    gap: ({ streams, from, to }) =>
      write(print('watch-gap', { streams, from: printTime(from, 'earlier'), to: printTime(to, 'later') })),
    end: (numbers, stillTerminating) => write(print('watch-summary', { ...numbers, stillTerminating })),
  });
  switch (format) {
    case 'ndjson':
      return forPrograms(jsonLine);
    case 'json':
      return forPrograms(jsonDocument);
    case 'lines':
      return linesView(look, ports, write);
    case 'table':
      return isRepainted('live', ports) ? tableView(look, ports, state) : linesView(look, ports, write);
  }
}

function linesView(look: LookOptions, ports: OutputPorts, write: (text: string) => void): WatchView {
  const { pen, columns } = viewOptions(look, ports);
  const print = (lines: readonly string[]): void => write(lines.map((line) => `${line}\n`).join(''));
  return {
    exit: (exit) => print(exitLines(pen, exit, look.timestamps, columns())),
    end: (...numbers) =>
      print(flow(pen, [plain(forTerminal(summaryText(...numbers), 2000))], { width: columns(), hang: 2 })),
  };
}

function tableView(look: LookOptions, ports: OutputPorts, state: () => WatchState): WatchView {
  const { pen, columns, timestamps } = viewOptions(look, ports);
  const { add, leave, say, close } = createPainting(pen, ports, (width, rows) =>
    watchFrame(state(), ports.clock.now(), { pen, columns: width, rows, timestamps }),
  );
  return {
    exit: () => add([]),
    say,
    close,
    /** Replaces the table by its last state and the summary. */
    end: (...numbers) =>
      leave([
        ...state().last.flatMap((exit) => exitLines(pen, exit, timestamps, columns())),
        '',
        pen.paint('strong', pen.letters(forTerminal(summaryText(...numbers), 2000))),
      ]),
  };
}

export interface WatchState {
  /** `namespace/shop`. */
  readonly target: string;
  /** Client ms. */
  readonly since: number;
  /** The newest last. */
  readonly last: readonly WatchedExit[];
  readonly exits: number;
  readonly terminating: number;
  readonly worst: readonly WorkloadCounts[];
  readonly services: readonly ServiceReady[];
}

/** Exits, workloads and Services that the table can show; a low window shows fewer. */
export const mostRows = { last: 10, worst: 5, services: 5 } as const;

function watchFrame(
  state: WatchState,
  now: number,
  { pen, columns, rows, timestamps }: { pen: Pen; columns: number; rows: number; timestamps: Timestamps },
): Piece[][] {
  const { target, since, exits, terminating, worst, services, last } = state;
  const serviceRows = services.map(({ namespace, service, ready }): TableRow => {
    return { cells: [forTerminal(`${namespace}/${service}`), String(ready)], ink: 'plain' };
  });
  const facts = [plural(exits, 'exit'), `${terminating} terminating`, durationText(now - since)];
  const lines: Piece[][] = [
    [piece('strong', forTerminal(target)), ...facts.map((fact) => plain(` · ${fact}`))],
    ...liveTable(pen, ['WORKLOAD', 'BAD', 'EXITS', 'OUTCOMES'], worst.map(workloadRow), columns),
    ...liveTable(pen, ['SERVICE', 'READY'], serviceRows, columns),
    [dim(last.length > 0 ? 'LAST EXITS' : 'no pod has terminated yet')],
  ];
  const free = Math.max(0, rows - lines.length);
  // A line that is clipped must not contain escape sequences.
  const inkless = penFor({ ...pen.style, color: false });
  const newest = last.slice(-free).map((exit): Piece[] => [plain(exitLines(inkless, exit, timestamps)[0] ?? '')]);
  return [...lines, ...(free > 0 ? newest : [])];
}

function workloadRow({ namespace, workload, bad, exits, outcomes }: WorkloadCounts): TableRow {
  const counts = [...outcomes].map(([outcome, count]) => `${count} ${outcome}`);
  const cells = [forTerminal(`${namespace}/${workload}`), String(bad), String(exits), counts.join(', ')];
  return { cells, ink: 'plain' };
}
