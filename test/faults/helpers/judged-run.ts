/** Judges a run under faults: each outcome is true or `unknown`, and each interval contains the truth. */
import type { Scenario } from '../../../src/demo/scenarios.ts';
import { heldAgainst } from '../../helpers/truth.ts';
import type { Traced } from './traced.ts';
import { modeFor } from './traced.ts';

export interface JudgedRun {
  /**
   * Outcomes of the pod or of a container that are neither the wanted one nor `unknown`, unless the report says
   * "probably"; or a run without a report.
   */
  wrong: string[];
  /** The report says that the wanted outcome is the less likely of two. */
  isHedged: boolean;
  /** True times outside their interval. */
  missed: string[];
  /** The pod's outcome is `unknown`, although it is known without the faults. */
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
