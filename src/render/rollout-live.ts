/** The table of a run over several pods at a terminal: kept up to date in place, and at the end one card. */
import type { Report } from '../verdict/report.ts';
import type { RolloutNumbers } from '../verdict/rollout-summary.ts';
import type { TerminalOptions } from './live.ts';
import { createPainting } from './live.ts';
import { penFor } from './palette.ts';
import { endedPodLine, rolloutCardLines } from './rollout-card.ts';
import type { RolloutState } from './rollout-state.ts';
import { rolloutFrame } from './rollout-table.ts';
import type { Timestamps } from './time-text.ts';

export interface RolloutLiveOptions extends TerminalOptions {
  readonly timestamps: Timestamps;
  /** Connection flags behind a command that is suggested, each with a blank before it. */
  readonly flags?: string | undefined;
}

export interface RolloutLive {
  /** The table is due; `state` is asked for when it is painted. */
  show(state: () => RolloutState): void;
  /** A pod that was not graceful, for good above the table; the others are only counted in it. */
  ended(report: Report): void;
  resize(): void;
  /** A message of ours, whole lines. */
  say(text: string): void;
  /** The table gives way to the card, which stays. */
  end(numbers: RolloutNumbers): void;
  /** Gives the terminal back, whatever happened; may be called more than once. */
  close(): void;
}

export function createRolloutLive(options: RolloutLiveOptions): RolloutLive {
  const { columns, rows, clock, timestamps, flags } = options;
  const pen = penFor(options.style);
  let state: (() => RolloutState) | undefined;
  const painting = createPainting(options, pen, () =>
    state ? rolloutFrame(state(), clock.now(), { columns: columns(), rows: rows(), pen, flags }) : [],
  );
  return {
    show: (next) => {
      state = next;
      painting.add([]);
    },
    ended: (report) => {
      if (report.verdict.exitCode !== 0) painting.add([endedPodLine(pen, report, timestamps)]);
    },
    resize: painting.resize,
    say: painting.say,
    end: (numbers) => painting.leave(rolloutCardLines(numbers, { pen, columns: columns(), flags })),
    close: () => painting.leave([]),
  };
}
