/** The table of a watch at a terminal: the last exits, the worst workloads, the Services with the fewest ready endpoints. */
import { penFor, type Pen } from '../output/palette.ts';
import { clipPieces, dim, liveTable, piece, plain, type Piece, type TableRow } from '../output/prose.ts';
import { forTerminal } from '../output/safe-text.ts';
import type { Timestamps } from '../output/time-text.ts';
import { createPainting, type TerminalOptions } from '../output/text/live.ts';
import type { Line } from '../output/text/screen.ts';
import { durationText } from '../output/text/status.ts';
import { plural } from '../verdict/words.ts';
import { exitLines, type WatchedExit } from './lines.ts';
import type { ServiceReady } from './services.ts';
import type { WorkloadCounts } from './exit-counts.ts';

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

export function createWatchTable(options: TerminalOptions, state: () => WatchState) {
  const { columns, rows, clock, timestamps } = options;
  const pen = penFor(options.style);
  const { add, leave, ...painting } = createPainting(options, pen, () =>
    watchFrame(state(), clock.now(), { pen, columns: columns(), rows: rows(), timestamps }),
  );
  return {
    ...painting,
    /** Requests a repaint. */
    changed: (): void => add([]),
    /** Replaces the table by its last state and the summary. */
    end: (summary: string): void =>
      leave([
        ...state().last.flatMap((exit) => exitLines(pen, exit, timestamps, columns())),
        '',
        pen.paint('strong', pen.letters(forTerminal(summary, 2000))),
      ]),
    close: (): void => leave([]),
  };
}

/** At most `rows` - 1 lines, each narrower than `columns`. */
function watchFrame(
  state: WatchState,
  now: number,
  { pen, columns, rows, timestamps }: { pen: Pen; columns: number; rows: number; timestamps: Timestamps },
): Line[] {
  const [width, room] = [columns - 1, rows - 1];
  if (room < 1 || width < 1) return [];
  const { target, since, exits, terminating, worst, services, last } = state;
  const serviceRows = services.map(({ namespace, service, ready }): TableRow => {
    return { cells: [forTerminal(`${namespace}/${service}`), String(ready)], ink: 'plain' };
  });
  const facts = [plural(exits, 'exit'), `${terminating} terminating`, durationText(now - since)];
  const lines: Piece[][] = [
    [piece('strong', forTerminal(target)), ...facts.map((fact) => plain(` · ${fact}`))],
    ...liveTable(pen, ['WORKLOAD', 'BAD', 'EXITS', 'OUTCOMES'], worst.map(workloadRow), width),
    ...liveTable(pen, ['SERVICE', 'READY'], serviceRows, width),
    [dim(last.length > 0 ? 'LAST EXITS' : 'no pod has terminated yet')],
  ];
  const free = Math.max(0, room - lines.length);
  // A line that is clipped must not contain escape sequences.
  const inkless = penFor({ ...pen.style, color: false });
  const newest = last.slice(-free).map((exit): Piece[] => [plain(exitLines(inkless, exit, timestamps)[0] ?? '')]);
  return [...lines, ...(free > 0 ? newest : [])].slice(0, room).map((line) => clipPieces(pen, line, width));
}

function workloadRow({ namespace, workload, bad, exits, outcomes }: WorkloadCounts): TableRow {
  const counts = [...outcomes].map(([outcome, count]) => `${count} ${outcome}`);
  const cells = [forTerminal(`${namespace}/${workload}`), String(bad), String(exits), counts.join(', ')];
  return { cells, ink: 'plain' };
}
