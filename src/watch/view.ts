/** What stdout shows of a watch: lines, JSON, or at a terminal a table that is kept up to date. */
import { printTime } from '../model/stamps.ts';
import { penFor } from '../output/palette.ts';
import type { OutputPorts } from '../output/ports.ts';
import { flow, plain } from '../output/prose.ts';
import { forTerminal } from '../output/safe-text.ts';
import { isRepainted, repainting, viewOptions } from '../output/text/views.ts';
import type { LookOptions } from '../output/view.ts';
import { exitLines, exitDocument, jsonDocument, jsonLine, type WatchListener } from './lines.ts';
import type { WatchFormat } from './options.ts';
import { createWatchTable, type WatchState } from './table.ts';
import { summaryText, type ExitNumbers } from './exit-counts.ts';

export interface WatchView extends Pick<WatchListener, 'exit' | 'gap'> {
  /** Shows a message without damaging the display; false: the caller must write it to stderr. */
  say?(text: string): boolean;
  end(numbers: ExitNumbers, stillTerminating: number): void;
  close?(): void;
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
  const pen = penFor(viewOptions(look, ports).style);
  const columns = (): number => (ports.stdout.isTty ? ports.stdout.columns() : Infinity);
  const print = (lines: readonly string[]): void => write(lines.map((line) => `${line}\n`).join(''));
  return {
    exit: (exit) => print(exitLines(pen, exit, look.timestamps, columns())),
    end: (...numbers) =>
      print(flow(pen, [plain(forTerminal(summaryText(...numbers), 2000))], { width: columns(), hang: 2 })),
  };
}

function tableView(look: LookOptions, ports: OutputPorts, state: () => WatchState): WatchView {
  const table = createWatchTable(viewOptions(look, ports), state);
  const { say, close } = repainting(ports, table);
  return {
    exit: table.changed,
    say,
    close,
    end(...numbers) {
      table.end(summaryText(...numbers));
      close();
    },
  };
}
