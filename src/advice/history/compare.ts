/** Two sets of exits → what changed. Pure. A difference that the intervals do not prove is not claimed. */
import { outcomes, type Outcome } from '../../model/report.ts';
import { totalRequests, type ExitSample, type Seconds } from './reports.ts';

export type Change = 'better' | 'worse' | 'same' | 'mixed';

export interface Side {
  exits: number;
  /** The worst of them. */
  outcome: Outcome;
  killed: number;
  /** Of the median exit. */
  hook?: Seconds;
  drain?: Seconds;
  total?: Seconds;
  graceSeconds: number;
  requests?: { sent: number; failed: number };
  /** Of problems: warnings and errors. */
  codes: string[];
  versions: string[];
}

export interface Comparison {
  change: Change;
  before: Side;
  after: Side;
  findings: { fixed: string[]; new: string[]; left: string[] };
  /** What got better and what got worse, each in a few words. */
  better: string[];
  worse: string[];
  warnings: string[];
}

export function compare(before: readonly ExitSample[], after: readonly ExitSample[]): Comparison {
  const [was, is] = [sideOf(before), sideOf(after)];
  const findings = {
    fixed: was.codes.filter((code) => !is.codes.includes(code)),
    new: is.codes.filter((code) => !was.codes.includes(code)),
    left: is.codes.filter((code) => was.codes.includes(code)),
  };
  const rows = [...outcomeRow(was, is), ...lengthRows(was, is), ...lossRow(was, is)];
  const better = [...rows.filter(({ sign }) => sign < 0).map(({ text }) => text), ...listed(findings.fixed, 'fixed')];
  const worse = [...rows.filter(({ sign }) => sign > 0).map(({ text }) => text), ...listed(findings.new, 'new')];
  const change = worse.length > 0 ? (better.length > 0 ? 'mixed' : 'worse') : better.length > 0 ? 'better' : 'same';
  return { change, before: was, after: is, findings, better, worse, warnings: warningsOf(was, is, before, after) };
}

const listed = (codes: readonly string[], word: string): string[] =>
  codes.length > 0 ? [`${word}: ${codes.join(', ')}`] : [];

function sideOf(samples: readonly ExitSample[]): Side {
  const problems = samples.flatMap(({ findings }) => findings.filter(({ severity }) => severity !== 'info'));
  return {
    exits: samples.length,
    outcome:
      samples.map(({ outcome }) => outcome).sort((a, b) => outcomes.indexOf(a) - outcomes.indexOf(b))[0] ?? 'unknown',
    killed: samples.filter(({ killed }) => killed).length,
    hook: median(samples.flatMap(({ hook }) => hook ?? [])),
    drain: median(samples.flatMap(({ drain }) => drain ?? [])),
    total: median(samples.flatMap(({ total }) => total ?? [])),
    graceSeconds: Math.max(0, ...samples.map(({ graceSeconds }) => graceSeconds)),
    requests: totalRequests(samples),
    codes: [...new Set(problems.map(({ code }) => code))].sort(),
    versions: [...new Set(samples.flatMap(({ version }) => version ?? []))].sort(),
  };
}

function median(ranges: readonly Seconds[]): Seconds | undefined {
  if (ranges.length === 0) return undefined;
  const at = (values: number[]): number => values.sort((a, b) => a - b)[Math.ceil(values.length / 2) - 1] ?? 0;
  return { min: at(ranges.map(({ min }) => min)), max: at(ranges.map(({ max }) => max)) };
}

/** `sign`: below 0 is better, above 0 worse. */
interface Row {
  sign: number;
  text: string;
}

/** Outcomes of which one is better than another; of the others nothing is claimed. */
const ranks: Partial<Record<Outcome, number>> = {
  graceful: 0,
  removed: 0,
  overran: 1,
  failed: 2,
  killed: 3,
  oom: 3,
  forced: 3,
  stuck: 4,
};

function outcomeRow(was: Side, is: Side): Row[] {
  const [before, after] = [ranks[was.outcome], ranks[is.outcome]];
  const shares = is.killed / Math.max(1, is.exits) - was.killed / Math.max(1, was.exits);
  if (shares !== 0)
    return [{ sign: shares, text: `killed: ${was.killed} of ${was.exits} → ${is.killed} of ${is.exits}` }];
  if (before === undefined || after === undefined || before === after) return [];
  return [{ sign: after - before, text: `outcome: ${was.outcome} → ${is.outcome}` }];
}

/** Shorter than this is noise of a cluster, whatever the intervals prove. */
const noticeable = { seconds: 1, share: 0.2 };

function lengthRows(was: Side, is: Side): Row[] {
  return (['drain', 'total'] as const).flatMap((name): Row[] => {
    const [before, after] = [was[name], is[name]];
    if (!before || !after) return [];
    const longer = after.min - before.max;
    const shorter = before.min - after.max;
    const least = Math.max(noticeable.seconds, noticeable.share * before.max);
    if (Math.max(longer, shorter) < least) return [];
    return [{ sign: longer > 0 ? 1 : -1, text: `${name}: ${lengthText(before)} → ${lengthText(after)}` }];
  });
}

export const lengthText = ({ min, max }: Seconds): string =>
  max - min < 0.3 ? `${((min + max) / 2).toFixed(1)}s` : `${min.toFixed(1)}–${max.toFixed(1)}s`;

function lossRow({ requests: was }: Side, { requests: is }: Side): Row[] {
  if (!was || !is || was.sent === 0 || is.sent === 0) return [];
  const difference = is.failed / is.sent - was.failed / was.sent;
  return difference === 0
    ? []
    : [{ sign: difference, text: `requests lost: ${was.failed} of ${was.sent} → ${is.failed} of ${is.sent}` }];
}

function warningsOf(was: Side, is: Side, before: readonly ExitSample[], after: readonly ExitSample[]): string[] {
  const workloads = new Set([...before, ...after].map(({ workload }) => workload));
  return [
    ...(workloads.size > 1 ? [`these are different workloads: ${[...workloads].join(', ')}`] : []),
    ...(was.versions.length > 1 || is.versions.length > 1 ? ['a mixture of versions on one side'] : []),
    ...(was.requests && !is.requests ? ['requests were measured before, and not after'] : []),
  ];
}
