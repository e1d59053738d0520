/** What a check finds: the codes, and the shape of a rule. */
import { findingCodes, severities, type FindingCode, type Severity } from '../model/report.ts';
import type { ContainerSpec, Path, ShutdownSpec } from './shutdown-spec.ts';

/** Codes that only a check has, beside those of every report; explained in verdict/explain/findings.ts. */
export const checkOnlyCodes = [
  'shell-as-pid-1',
  'no-signal-handler',
  'stop-signal-mismatch',
  'target-port-missing',
  'budget-blocks-eviction',
  'classic-sidecar',
  'host-network',
  'liveness-during-drain',
] as const;
export type CheckCode = FindingCode | (typeof checkOnlyCodes)[number];

/** A warning or an error is a problem; an info is worth knowing, and counts as none. */
export interface CheckFinding {
  code: CheckCode;
  severity: Severity;
  container?: string;
  message: string;
  advice?: string;
  /** The field that it is about, from the root of the object. */
  path: Path;
}

/** Something that the spec cannot show, and what would. */
export interface Unknown {
  container?: string;
  /** Completes "cannot tell …". */
  what: string;
  because: string;
}

type Details = Omit<CheckFinding, 'code' | 'severity' | 'message'>;
const findingOf =
  (severity: Severity) =>
  (code: CheckCode, message: string, details: Details): CheckFinding => ({ code, severity, message, ...details });
export const error = findingOf('error');
export const warning = findingOf('warning');
export const note = findingOf('info');

/** What a finding about a container has: its name, and the field of it that is meant. */
export const at = ({ name, path }: ContainerSpec, ...field: Path) => ({ container: name, path: [...path, ...field] });

export interface Rule {
  /** What it looks at, in a few words: the docs' table is made of these. */
  about: string;
  find(spec: ShutdownSpec): CheckFinding[];
}

export const isProblem = ({ severity }: CheckFinding): boolean => severity !== 'info';

/** What --fail-on takes: a code, or how grave a finding must be; `any` means any problem. */
export type FailOn = CheckCode | Severity | 'any';
export const failOnWords: readonly FailOn[] = [
  ...new Set<FailOn>([...checkOnlyCodes, ...findingCodes, ...severities, 'any']),
];
