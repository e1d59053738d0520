/** A finding with what only people are shown: how it reads as a part of a sentence. And the shape of the rules that find one. */
import type { ContainerTimeline } from '../infer/timeline.ts';
import type { Finding, Verdict } from '../model/report.ts';
import type { RuleInput } from './rule-input.ts';

export interface JudgedFinding extends Finding {
  readonly container?: string;
  /** As a part of a sentence: `finalizer example.com/audit held the pod for 5.6s`. */
  readonly clause?: string;
  /** What shows it, or explains it, where the clause does not say so. */
  readonly why?: string;
  /** How much longer the exit took because of it, ms. */
  readonly cost?: number;
  /** A longer grace period would have helped. */
  readonly needsGrace?: boolean;
}

export interface JudgedVerdict extends Verdict {
  findings: JudgedFinding[];
}

/** One finding, several (one for each Service), or none. */
export type Rule = (input: RuleInput) => JudgedFinding | JudgedFinding[] | undefined;

/** A rule about one container that ran. Unless it cites others, its evidence is what shows how the container was stopped. */
export type ContainerRule = (
  input: RuleInput,
  container: ContainerTimeline,
) => (Omit<JudgedFinding, 'container' | 'evidence'> & { evidence?: number[] }) | undefined;
