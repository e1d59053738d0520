/** What stdout shows during a run, as types: the run calls a view with each step, and with the report at its end. */
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import type { Report } from '../verdict/report.ts';
import type { Pen, StyleFlags } from './palette.ts';
import type { Timestamps } from './time-text.ts';

export interface LookOptions extends StyleFlags {
  timestamps: Timestamps;
  /** Print the lines at the end, sorted: of a replay, in which nothing is waited for. */
  isSorted?: boolean;
  /** Show the containers' log lines. */
  logs: boolean;
  /** `-v`: show evidence, phases, assumptions and gaps with the card. */
  verbose?: boolean;
  /** Connection flags for suggested commands, each with a leading space (kube/connect-options.ts). */
  flags?: string;
  /** The cluster ends with the command: none is suggested that looks for the pod later. */
  isDemo?: boolean | undefined;
}

/** The same on a given output. */
export interface ViewOptions extends Pick<LookOptions, 'timestamps' | 'verbose' | 'flags' | 'isDemo'> {
  readonly logs?: boolean;
  readonly pen: Pen;
  readonly write: (text: string) => void;
  /** Now; Infinity without a terminal. */
  readonly columns: () => number;
}

/** What stdout shows in one format. */
export interface View {
  /** Shows a run as it goes on. Read only. `key` identifies the trace (traces.ts); meaningless in a run about one pod. */
  step(trace: Trace, observation: Observation, key?: string): void;
  /** Shows the final report. */
  end(report: Report): void | Promise<void>;
  /** Shows a message without damaging the display; false: the caller must write it to stderr. */
  say?(text: string): boolean;
  /** Restores the terminal, whatever happened. */
  close?(): void;
}

/** A view that is loaded when needed, and whose errors do not end the run. */
export interface Stage extends Required<View> {
  end(report: Report): Promise<void>;
}
