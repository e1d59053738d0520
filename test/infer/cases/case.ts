/** One case: a recording or a simulated story, the change made to it, and what the report must say. */
import type { Story } from '../../sim/story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import type { ExitReport, TriggerKind } from '../../../src/model/report.ts';

export interface Case {
  sentence: string;
  /** The name of a recording, or the differences from the plain story. */
  of: string | Partial<Story>;
  edit?: readonly Edit[];
  expect: Expectation;
}

/** Changes what arrived. Raw objects stay as a server would send them. */
export type Edit = (rawObservations: readonly RawObservation[]) => readonly RawObservation[];

/** In seconds from our request or, in an attached run, from the acceptance of the deletion. */
export interface Window {
  /** The interval starts after this. */
  after?: number;
  /** The interval ends before this. */
  before?: number;
  /** The interval reaches at least to this. */
  until?: number;
  /** The interval reaches back at least to this. */
  from?: number;
  /** The interval is narrower than this. */
  width?: number;
}

/** `true`: it is reported; `false`: it is not. */
export type Reported = boolean | Window;

export interface ContainerExpectation {
  /** The outcome, or one of several. */
  outcome?: string | readonly string[];
  /** None of these. */
  notOutcome?: readonly string[];
  code?: number;
  stopSignal?: Reported;
  kill?: Reported;
  exit?: Reported;
  /** The outcome of the preStop hook; `false`: no hook ran. */
  preStop?: string | false;
  preStopEnd?: Window;
}

export interface Expectation {
  trigger?: TriggerKind;
  /** The text of the trigger's evidence, one line each. */
  evidence?: RegExp;
  noEvidence?: RegExp;
  outcome?: string;
  notOutcome?: string;
  exitCode?: number;
  containers?: Readonly<Record<string, ContainerExpectation>>;
  /** Marks, by id or name. */
  marks?: Readonly<Record<string, Reported>>;
  findings?: readonly string[];
  without?: readonly string[];
  /** A finding's message, with its advice on a line of its own. */
  says?: Readonly<Record<string, RegExp>>;
  /** No finding says this. */
  noMessage?: RegExp;
  severity?: Readonly<Record<string, string>>;
  phases?: readonly string[];
  noPhases?: readonly string[];
  /** The length of a phase, and its share of the grace: as windows around its minimum and maximum. */
  lasting?: Readonly<Record<string, Window>>;
  ofGrace?: Readonly<Record<string, Window>>;
  /** Causes of gaps. */
  gaps?: readonly string[];
  noGaps?: readonly string[];
  assumes?: readonly string[];
  /** The name of the replacement; `true`: any. */
  replacement?: string | boolean;
  /** The sentence about the outcome. */
  sentence?: RegExp;
  /** Parts of the report, compared as they are. */
  report?: Partial<ExitReport> | object;
  /** Everything in the report is true to the story. For an edited story: every instant is. */
  truth?: true;
  /** With these edits added, all outcomes stay the same. */
  same?: readonly Edit[];
  /** During the run, no claim was withdrawn. */
  neverWithdraws?: true;
  /** Anything else. `untouched`: the report without the edits. */
  holds?: (report: ExitReport, rawObservations: readonly RawObservation[], untouched: () => ExitReport) => void;
}
