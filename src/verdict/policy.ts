/** What a pipeline requires of an exit, and what it gets: gates as data (gates.ts judges them), and exit codes. */
import { findingCodes, severities, type FindingCode, type Severity, type Outcome } from '../model/report.ts';
import type { Interrupted } from '../model/observation.ts';

/** `share` is a ratio of the requests sent: 0.001 is 0.1 %. */
export type MaxLost = { kind: 'max-lost' } & ({ count: number } | { share: number });

export type GateSpec =
  /** From the request (or the acceptance, if the request was not ours) until the object is gone. */
  | { kind: 'max-duration'; ms: number }
  /** From the kubelet's start until a container's exit, as a ratio to the effective grace; 1 is all of it. */
  | { kind: 'max-grace-used'; share: number }
  /** From the removal from the ready endpoints until the stop signal. */
  | { kind: 'min-drain-lead'; ms: number }
  | MaxLost
  | { kind: 'fail-on'; wanted: (typeof gateCodes)[number] };

/** What `fail-on` accepts: a finding's code, the least severity, or `any` for each that is not only a note. */
export const gateCodes: readonly (FindingCode | Severity | 'any')[] = [...findingCodes, ...severities, 'any'];

export interface Policy {
  readonly gates: readonly GateSpec[];
  readonly warnOnly: boolean;
}

/** Exit codes by outcome, for pipelines: part of the contract (docs/architecture.md). */
export const exitCodes: Record<Outcome, number> = {
  graceful: 0,
  removed: 0,
  forced: 2,
  oom: 2,
  killed: 2,
  failed: 2,
  overran: 2,
  stuck: 3,
  'not-started': 3,
  unknown: 4,
};

/** 128 + the signal's number, as in shells. */
export const signalCodes: Record<Interrupted['signal'], number> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 129,
  SIGPIPE: 141,
};

/** The exit was graceful, but a gate failed. */
export const gateFailed = 5;

interface Inputs {
  outcomes: readonly Outcome[];
  gatesFailed: boolean;
  warnOnly: boolean;
  interrupted?: Interrupted['signal'] | undefined;
}

export function exitCodeOf({ outcomes, gatesFailed, warnOnly, interrupted }: Inputs): number {
  if (interrupted) return signalCodes[interrupted];
  const code = worstCode([...outcomes.map((outcome) => exitCodes[outcome]), ...(gatesFailed ? [gateFailed] : [])]);
  return (code === 2 || code === gateFailed) && warnOnly ? 0 : code;
}

/** If several codes apply, the first of these counts. */
export const precedence = [1, 3, 4, 2, gateFailed];

/** The code of a signal comes before all others. */
export const worstCode = (codes: readonly number[]): number =>
  codes.find((code) => code > 128) ?? precedence.find((code) => codes.includes(code)) ?? 0;
