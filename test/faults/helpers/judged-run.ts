/** A run under faults against what really happened: no outcome but the true one or `unknown`, and every truth inside. */
import type { Scenario } from '../../../src/demo/scenario.ts';
import { heldAgainst } from '../../helpers/truth.ts';
import type { Traced } from './traced.ts';
import { modeFor } from './traced.ts';

export interface JudgedRun {
  /**
   * Outcomes that are neither the wanted one nor `unknown`, of the pod or of a container, where no sentence says "probably";
   * a run without a report.
   */
  wrong: string[];
  /** The wanted outcome is only the less likely of two, and the report says so. */
  isHedged: boolean;
  /** Truths outside their interval. */
  missed: string[];
  /** The outcome of the pod is `unknown` although it is known without the faults. */
  isUnknown: boolean;
}

/** How the pod and its containers ended. */
export interface Wanted {
  outcome: string;
  containers: Readonly<Record<string, string>>;
}

export function judgeRun(run: Traced, scenario: Scenario, wanted: Wanted): JudgedRun {
  const { report, error, truths } = run;
  if (!report || error)
    return { wrong: [`no report: ${String(error)}`], isHedged: false, missed: [], isUnknown: false };
  const allowed = (outcome: string, right: string | undefined): boolean => [right, 'unknown'].includes(outcome);
  const accepted = modeFor(scenario, report.pod.name) === 'attach' ? 0 : 1;
  const others = [
    ...(allowed(report.verdict.outcome, wanted.outcome) ? [] : [`${report.verdict.outcome}, not ${wanted.outcome}`]),
    ...report.containers
      .filter(({ name, outcome }) => !allowed(outcome, wanted.containers[name]))
      .map(({ name, outcome }) => `${name} ${outcome}, not ${wanted.containers[name]}`),
  ];
  const isHedged = others.length > 0 && (report.summary?.includes('probably') ?? false);
  return {
    wrong: [
      ...(isHedged ? [] : others),
      ...(run.deletesAccepted === accepted ? [] : [`${run.deletesAccepted} deletions were accepted`]),
    ],
    isHedged,
    missed: heldAgainst(
      report,
      truths.filter(({ pod }) => pod === report.pod.name),
    )
      .filter(({ hit }) => !hit)
      .map(({ container, instant, width }) => `${instant} of ${container} (${width} ms wide)`),
    isUnknown: report.verdict.outcome === 'unknown' && wanted.outcome !== 'unknown',
  };
}
