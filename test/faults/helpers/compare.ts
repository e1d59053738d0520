/** Compares a report under a fault with the one without: what is lost, and what is invented. */
import type { ExitReport, FindingCode } from '../../../src/model/report.ts';
import { heldAgainst } from '../../helpers/truth.ts';
import type { Traced } from './traced.ts';

export interface Difference {
  /** Something that the run without the fault reports, and whose absence no reported gap explains. */
  lost: string[];
  /** Something that did not happen, or a gap where nothing was lost. */
  invented: string[];
}

/** What proves a finding: it may be missing only if the report has a gap of one of these. */
const provenBy: Partial<Record<FindingCode, string[]>> = {
  'drain-race': ['endpointslices', 'events', 'services', 'pods'],
  'last-endpoint': ['endpointslices', 'services'],
  'no-ready-endpoint': ['endpointslices', 'services'],
  'stays-ready': ['endpointslices', 'services'],
  'prestop-failed': ['events'],
  'prestop-cut-off': ['events'],
  'kubelet-restarted': ['events', 'events (nodes)', 'nodes'],
  'slow-start': ['events'],
  'node-silent': ['events', 'pods'],
  'slow-cleanup': ['pods'],
  'finalizer-held': ['pods'],
  'no-signal-handling': ['pods/log', 'events'],
  'grace-nearly-spent': ['events', 'pods'],
  'grace-shortened-ignored': ['events', 'pods'],
};

/** What runs without a fault report, at different sub-second phases of their clocks. */
export interface Fair {
  report: ExitReport;
  /** Reported by all of them. */
  always: ReadonlySet<FindingCode>;
  /** Reported by any: whole-second timestamps prove more at one phase than at another. */
  ever: ReadonlySet<FindingCode>;
}

export function fairOf(runs: readonly Traced[]): Fair {
  const reports = runs.map(({ report, error }) => {
    if (!report || error) throw new Error(`a run without a fault has no report: ${String(error)}`);
    return report;
  });
  const [report, ...others] = reports;
  if (!report) throw new Error('there is no run to compare with');
  const codes = reports.map(codesOf);
  if (others.some((other) => other.verdict.outcome !== report.verdict.outcome))
    throw new Error('runs without a fault report different outcomes');
  return {
    report,
    always: new Set([...codesOf(report)].filter((code) => codes.every((one) => one.has(code)))),
    ever: new Set(codes.flatMap((one) => [...one])),
  };
}

export function differenceBetween(fair: Fair, struck: Traced): Difference {
  const { report } = struck;
  if (!report || struck.error) return { lost: [`the report: ${String(struck.error)}`], invented: [] };
  const gaps = new Set(report.gaps.map((gap) => gap.resource));
  const codes = codesOf(report);
  const isMissingProof = (code: FindingCode): boolean =>
    provenBy[code]?.some((resource) => gaps.has(resource)) ?? false;
  const missing = [...fair.always].filter((code) => !codes.has(code) && !isMissingProof(code));
  // The report says "may" or "perhaps" about what the remaining evidence leaves possible.
  const isHedged = (code: FindingCode): boolean =>
    isMissingProof(code) && report.verdict.findings.every((one) => one.code !== code || / perhaps /.test(one.message));
  const added = [...codes].filter(
    (code) => !fair.ever.has(code) && !(code === 'evidence-lost' && gaps.size > 0) && !isHedged(code),
  );
  const reported = ends(report);
  const unlike = [...ends(fair.report)].filter(([name, end]) => reported.get(name) !== end);
  const missed = heldAgainst(report, struck.truths).filter(({ hit }) => !hit);
  return {
    lost: [
      ...(isSameOutcome(fair.report, report, gaps) ? [] : [`outcome ${report.verdict.outcome}`]),
      ...unlike.map(([name, end]) => `${name}: ${reported.get(name) ?? 'not reported'} instead of ${end}`),
      ...missing.map((code) => `no ${code}`),
    ],
    invented: [
      ...added.map((code) => `${code}`),
      ...missed.map(({ container, instant }) => `${instant} of ${container} at another time`),
    ],
  };
}

/** Only Events show that a hook was cut off. */
const isSameOutcome = (fair: ExitReport, { verdict }: ExitReport, gaps: ReadonlySet<string>): boolean =>
  verdict.outcome === fair.verdict.outcome ||
  (fair.verdict.outcome === 'overran' && verdict.outcome === 'unknown' && gaps.has('events'));

const codesOf = ({ verdict }: ExitReport): Set<FindingCode> => new Set(verdict.findings.map(({ code }) => code));

const ends = ({ containers }: ExitReport): Map<string, string> =>
  new Map(containers.map(({ name, outcome, exit }) => [name, `${outcome} ${exit?.code ?? ''}`.trim()]));
