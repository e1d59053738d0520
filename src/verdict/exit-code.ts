import type { Outcome } from '../model/report.ts';
import type { Interrupted } from '../model/observation.ts';

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
export function worstCode(codes: readonly number[]): number {
  return codes.find((code) => code > 128) ?? precedence.find((code) => codes.includes(code)) ?? 0;
}
