/** Findings of a check: their codes, and the rules that find them. */
import type { FindingCode, Severity } from '../model/report.ts';
import { gateCodes } from '../verdict/policy.ts';
import type { ContainerSpec, Path } from './container-spec.ts';
import type { Situation } from './situation.ts';

/** Codes that only a check uses, besides those of an exit report. Explained in docs/explain.md. */
export const checkOnlyCodes = [
  'shell-as-pid-1',
  'no-signal-handler',
  'stop-signal-mismatch',
  'target-port-missing',
  'budget-blocks-eviction',
  'classic-sidecar',
  'host-network',
  'companion-stops-first',
  'rollout-blocked',
  'timeout-exceeds-grace',
] as const;
export type CheckCode = FindingCode | (typeof checkOnlyCodes)[number];

export interface Problem {
  code: CheckCode;
  severity: Severity;
  container?: string;
  message: string;
  /** What a person can do about it, if it is not for remedies.ts to decide: a sentence. */
  advice?: string;
  path: Path;
}

type Details = Omit<Problem, 'code' | 'severity' | 'message'>;
const findingOf =
  (severity: Severity) =>
  (code: CheckCode, message: string, details: Details): Problem => ({ code, severity, message, ...details });
export const error = findingOf('error');
export const warning = findingOf('warning');
export const note = findingOf('info');

export const at = ({ name, path }: ContainerSpec, ...field: Path) => ({ container: name, path: [...path, ...field] });

export type Rule = (spec: Situation) => Problem[];

/** Containers that get a stop signal when the pod is deleted. */
export const signalled = ({ containers }: { containers: readonly ContainerSpec[] }): readonly ContainerSpec[] =>
  containers.filter(({ isOver, kind }) => !isOver && kind !== 'init');

export const ofContainer =
  (find: (container: ContainerSpec, spec: Situation) => Problem | undefined): Rule =>
  (spec) =>
    signalled(spec).flatMap((container) => find(container, spec) ?? []);

export const isProblem = ({ severity }: { severity: string }): boolean => severity !== 'info';

export type FailOn = CheckCode | (typeof gateCodes)[number];
export const failOnWords: readonly FailOn[] = [...new Set<FailOn>([...checkOnlyCodes, ...gateCodes])];
