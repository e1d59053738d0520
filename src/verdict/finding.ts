/** What a finding is, and the tables of rules that make findings. */
import type { ContainerTimeline } from '../infer/timeline.ts';
import type { Finding, FindingCode, Verdict } from '../model/report.ts';
import type { RuleInput } from './rule-input.ts';

/** A finding with the parts that only people see. */
export interface JudgedFinding extends Finding {
  readonly container?: string;
  /** The finding as part of a sentence: `finalizer example.com/audit held the pod for 5.6s`. */
  readonly clause?: string;
  /** The evidence or explanation, if the clause does not give it. */
  readonly why?: string;
  readonly delayMs?: number;
}

export interface JudgedVerdict extends Verdict {
  findings: JudgedFinding[];
}

export const firstOf = (order: readonly FindingCode[], findings: readonly JudgedFinding[]): JudgedFinding | undefined =>
  order.flatMap((code) => findings.find((finding) => finding.code === code) ?? [])[0];

/** Findings that other rows of the card print, or only -v. */
export const inOtherRows: ReadonlySet<FindingCode> = new Set([
  'drain-race',
  'stays-ready',
  'endpoint-not-removed',
  'requests-lost',
  'last-endpoint',
  'no-ready-endpoint',
  'unmanaged-pod',
  'evidence-lost',
]);

/** Whether something else than what other rows mark is to be mended: a hook that failed, a node that did not answer. */
export const warnsOfExit = (findings: readonly JudgedFinding[]): boolean =>
  findings.some(({ code, severity }) => severity !== 'info' && !inOtherRows.has(code));

/** `seq` of observations. */
export type Evidence = number | undefined | readonly Evidence[];

/** What a rule found. It is a warning if it does not say otherwise, and its message is the clause if it has no longer one. */
export interface Found extends Partial<Omit<JudgedFinding, 'code' | 'evidence'>> {
  readonly evidence: Evidence;
}

/** Rules about the whole pod, by the code of their finding: each returns one, several (one per Service), or none. */
export type Rules = Partial<Record<FindingCode, (input: RuleInput) => Found | Found[] | undefined>>;

/** Rules about one container that was running. Without `evidence`, a finding cites how the container was stopped. */
export type ContainerRules = Partial<Record<FindingCode, ContainerRule>>;

export type ContainerRule = (
  input: RuleInput,
  container: ContainerTimeline,
) => (Omit<Found, 'container' | 'evidence'> & Partial<Pick<Found, 'evidence'>>) | undefined;
