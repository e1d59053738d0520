/** A finding with the parts that only people see, such as its clause, and the types of the rules that make findings. */
import type { ContainerTimeline } from '../infer/timeline.ts';
import type { Finding, Verdict } from '../model/report.ts';
import type { RuleInput } from './rule-input.ts';

export interface JudgedFinding extends Finding {
  readonly container?: string;
  /** The finding as part of a sentence: `finalizer example.com/audit held the pod for 5.6s`. */
  readonly clause?: string;
  /** The evidence or explanation, if the clause does not give it. */
  readonly why?: string;
  /** How much longer the exit took because of this. */
  readonly delayMs?: number;
  /** A longer grace period would have helped. */
  readonly needsGrace?: boolean;
}

export interface JudgedVerdict extends Verdict {
  findings: JudgedFinding[];
}

/** A rule about the whole pod: returns one finding, several (one per Service), or none. */
export type Rule = (input: RuleInput) => JudgedFinding | JudgedFinding[] | undefined;

/** A rule about one container that was running. Without `evidence`, its finding cites how the container was stopped. */
export type ContainerRule = (
  input: RuleInput,
  container: ContainerTimeline,
) => (Omit<JudgedFinding, 'container' | 'evidence'> & { evidence?: number[] }) | undefined;
