/** What a pipeline requires of an exit: gates as data (gates.ts judges them). */
import { findingCodes, severities, type FindingCode, type Severity } from '../model/report.ts';

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
