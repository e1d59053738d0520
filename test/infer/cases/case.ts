/** One case of the net under the inference: a recording or a simulated story, what is changed of it, what must be said. */
import type { Story } from '../../sim/story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import type { ExitReport, TriggerKind } from '../../../src/model/report.ts';

export interface Case {
  sentence: string;
  /** The name of a recording, or what differs from the plain story. */
  of: string | Partial<Story>;
  edit?: readonly Edit[];
  expect: Expectation;
}

/** Changes what arrived: raw objects stay as a server would have sent them. */
export type Edit = (rawObservations: readonly RawObservation[]) => readonly RawObservation[];

/** In seconds from the request, or from the acceptance of a deletion that somebody else asked for. */
export interface Window {
  /** Its earliest is later than this. */
  after?: number;
  /** Its latest is sooner than this. */
  before?: number;
  /** Its latest is later than this: the interval reaches so far. */
  until?: number;
  /** Its earliest is sooner than this: the interval reaches back so far. */
  from?: number;
  /** It is narrower than this. */
  width?: number;
}

/** `false`: nothing is said of it. */
export type Said = boolean | Window;

export interface ContainerExpectation {
  /** Or one of these. */
  outcome?: string | readonly string[];
  /** Not one of these. */
  notOutcome?: readonly string[];
  code?: number;
  stopSignal?: Said;
  kill?: Said;
  exit?: Said;
  /** The outcome of its preStop hook; `false`: it ran none. */
  preStop?: string | false;
  preStopEnd?: Window;
}

export interface Expectation {
  trigger?: TriggerKind;
  /** What the evidence of the trigger says, a line each. */
  evidence?: RegExp;
  noEvidence?: RegExp;
  outcome?: string;
  notOutcome?: string;
  exitCode?: number;
  containers?: Readonly<Record<string, ContainerExpectation>>;
  /** Marks by their id or their name. */
  marks?: Readonly<Record<string, Said>>;
  findings?: readonly string[];
  without?: readonly string[];
  /** What a finding says: its message, and its advice on a line of its own. */
  says?: Readonly<Record<string, RegExp>>;
  /** What no finding says. */
  unsaid?: RegExp;
  severity?: Readonly<Record<string, string>>;
  phases?: readonly string[];
  noPhases?: readonly string[];
  /** How long a phase lasted, and which share of the grace that was: the least is its earliest, the most its latest. */
  lasting?: Readonly<Record<string, Window>>;
  ofGrace?: Readonly<Record<string, Window>>;
  /** Causes of gaps. */
  gaps?: readonly string[];
  noGaps?: readonly string[];
  assumes?: readonly string[];
  /** The name of the pod that came for this one; `true`: any. */
  replacement?: string | boolean;
  /** The sentence about the outcome. */
  sentence?: RegExp;
  /** Parts of the report as they are. */
  report?: Partial<ExitReport> | object;
  /** Nothing in it misses the truth of the story; of one that was edited, no instant does. */
  truth?: true;
  /** With these edits as well, all outcomes stay what they are. */
  same?: readonly Edit[];
  /** While it lasted, no word was taken back. */
  lasts?: true;
  /** What no table can say; `untouched` is the report without the edits. */
  holds?: (report: ExitReport, rawObservations: readonly RawObservation[], untouched: () => ExitReport) => void;
}
