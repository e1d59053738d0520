/** Where a trace is shown, and how. */
import type { Report } from '../verdict/report.ts';
import type { Trace } from '../model/trace.ts';
import type { Audience } from './run.ts';

export interface LookOptions {
  color: 'auto' | 'always' | 'never';
  ascii: boolean;
  timestamps: 'relative' | 'local' | 'utc';
  /** Show the containers' log lines. */
  logs: boolean;
  /** Evidence, phases, assumptions and gaps with the card: `-v`. */
  verbose?: boolean;
  /** The connection flags behind a command that is advised, each with a blank before it (cluster/reach.ts). */
  reach?: string;
}

export interface Stage extends Audience {
  /** The final report. */
  end(trace: Trace, report: Report): Promise<void>;
  /** A message for the person, where it must not tear the picture; false: it goes to stderr as it is. */
  say(text: string): boolean;
  /** Gives the terminal back, whatever happened. */
  close(): void;
}
