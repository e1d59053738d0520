/** One case: a recording or a simulated story, the change made to it, and what the report must say. */
import type { RawObservation } from '../../../src/model/observation.ts';
import type { ExitReport } from '../../../src/model/report.ts';
import type { StoryText } from '../../sim/story-text.ts';

/** Patterns are the text of a regular expression. Edits and checks are named as in text.ts. */
export interface Case {
  /** The name of a recording, the path of another one below test, or the differences from the plain story. */
  of: string | StoryText;
  edit?: readonly unknown[];
  expect: Expectation;
}

/** Changes what arrived. Raw objects stay as a server would send them. */
export type Edit = (rawObservations: readonly RawObservation[]) => readonly RawObservation[];

/** Expects what no field of a case can say. `untouched`: the report without the edits. */
export type Check = (
  report: ExitReport,
  rawObservations: readonly RawObservation[],
  untouched: () => ExitReport,
) => void;

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
  /** The outcome of the preStop hook, or one of several; `false`: no hook ran. */
  preStop?: string | false | readonly (string | false)[];
  /** None of these. */
  notPreStop?: readonly string[];
  preStopEnd?: Window;
}

type Texts = Readonly<Record<string, string>>;

export interface Expectation {
  trigger?: string;
  /** The text of the trigger's evidence, one line each. */
  evidence?: string;
  noEvidence?: string;
  outcome?: string;
  notOutcome?: string;
  exitCode?: number;
  containers?: Readonly<Record<string, ContainerExpectation>>;
  /** Marks, by id or name. */
  marks?: Readonly<Record<string, Reported>>;
  /** How many marks have this name. */
  markCount?: Readonly<Record<string, number>>;
  findings?: readonly string[];
  without?: readonly string[];
  /** A finding's message, with its advice on a line of its own. */
  says?: Texts;
  /** No finding says this. */
  noMessage?: string;
  /** A finding's explanation. */
  why?: Texts;
  severity?: Texts;
  phases?: readonly string[];
  noPhases?: readonly string[];
  /** The length of a phase, and its share of the grace: as windows around its minimum and maximum. */
  lasting?: Readonly<Record<string, Window>>;
  ofGrace?: Readonly<Record<string, Window>>;
  /** The removal of the first endpoint. */
  endpoint?: Window;
  assumes?: readonly string[];
  /** The name of the replacement; `false`: none is known. */
  replacement?: string | false;
  /** podexit waits for more facts. */
  awaits?: boolean;
  /** For how many seconds after the removal. */
  awaitsFor?: number;
  /** The sentence about the outcome. */
  sentence?: string;
  /** Parts of the report, compared as they are. */
  report?: object;
  /** Gates by their kind and limit. `exitCode`: that of the run with all of them. */
  gates?: Readonly<Record<string, { passed?: boolean; limit?: string; message?: string; exitCode?: number }>>;
  /** The card of the exit: all of these patterns. */
  card?: string | readonly string[];
  noCard?: string;
  /** The first two lines of the card: what happened, and how long the pod took to go. */
  firstLines?: string;
  notFirstLines?: string;
  /** Who owns the longest stretch of the ledger. */
  longestWait?: string;
  /** What is said of a replacement that did not come. */
  missingReplacement?: string;
  /** The timeline with the card: all of these patterns. */
  printed?: string | readonly string[];
  notPrinted?: string;
  /** The last change of a pod. */
  lastPod?: object;
  /** Everything in the report is true to the story, or an outcome is unknown. For an edited story: every instant is. */
  truth?: true | 'or unknown';
  /** Parts of the report that are the same without the edits. */
  unchanged?: readonly ('everything' | 'endpoints' | 'codes' | 'stopSignals' | 'hookEnds')[];
  /** With these edits added, all outcomes stay the same. */
  same?: readonly unknown[];
  /** During the run, no claim was withdrawn. */
  neverWithdraws?: true;
  holds?: unknown;
}
