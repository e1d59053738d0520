/** Many exits as one: the summary of `--all-terminating`. Pure. */
import type { ExitReport, Instant, Outcome, Phase, PhaseName, ProbeReport, Range } from '../model/report.ts';
import { exitCodes, worstCode } from './exit-code.ts';
import { parseTime } from '../model/stamps.ts';

export interface RolloutSummary {
  apiVersion: 'podexit/v1';
  kind: 'RolloutSummary';
  target: string;
  pods: number;
  outcomes: Partial<Record<Outcome, number>>;
  /** Pods with a container that was killed at the end of its grace. */
  killed: string[];
  /** Pods that are gone and have no report: nobody saw how they ended. */
  unseen: string[];
  /** Why the rollout did not come to its end, in words; absent where it did, or where none was followed. */
  incomplete?: string;
  /** What the probes of the run measured; those of `pod` once for each pod. */
  probes?: ProbeReport[];
  /** From acceptance until the object was gone. */
  slowest?: { name: string; seconds: Range };
  /** At most this ratio of the grace was used, from the hook's start to the exit, by so many percent of the pods. */
  graceUsed?: { p50: number; p90: number; p99: number; max: number };
  /** The command's own. */
  exitCode: number;
}

/** What a run over several pods has beside its reports. */
export interface BesideReports {
  /** Exit codes of what is no report, such as a file that could not be written. */
  readonly codes?: readonly number[];
  /** Names of pods that are gone without a report. */
  readonly unseen?: readonly string[];
  /** Why the rollout did not come to its end. */
  readonly incomplete?: string | undefined;
  readonly probes?: readonly ProbeReport[] | undefined;
}

export function summaryOf(
  target: string,
  reports: readonly ExitReport[],
  { codes = [], unseen = [], incomplete, probes = [] }: BesideReports = {},
): RolloutSummary {
  const durations = reports.flatMap((report) => durationOf(report) ?? []);
  const [slowest] = durations.sort((a, b) => b.seconds.max - a.seconds.max);
  const used = reports
    .flatMap((report) => usedOfGrace(report) ?? [])
    .map(({ max }) => roundedUp(max))
    .sort((a, b) => a - b);
  const at = (share: number): number => used[Math.max(0, Math.ceil(share * used.length) - 1)] ?? 0;
  const outcomes: RolloutSummary['outcomes'] = {};
  for (const { verdict } of reports) outcomes[verdict.outcome] = (outcomes[verdict.outcome] ?? 0) + 1;
  return {
    apiVersion: 'podexit/v1',
    kind: 'RolloutSummary',
    target,
    pods: reports.length,
    outcomes,
    killed: reports.filter(wasKilled).map(({ pod }) => pod.name),
    unseen: [...unseen],
    slowest,
    graceUsed: used.length > 0 ? { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) } : undefined,
    exitCode: exitCodeOf(reports, { codes, unseen }),
    incomplete,
    probes: probes.length > 0 ? [...probes] : undefined,
  };
}

/** The worst of the reports' own, of pods without a report, and of all else. */
export const exitCodeOf = (
  reports: readonly { readonly verdict: { readonly exitCode: number } }[],
  { codes = [], unseen = [] }: BesideReports,
): number =>
  worstCode([
    ...reports.map(({ verdict }) => verdict.exitCode),
    ...(unseen.length > 0 ? [exitCodes.unknown] : []),
    ...codes,
  ]);

const wasKilled = ({ containers }: ExitReport): boolean => containers.some(({ outcome }) => outcome === 'killed');

function durationOf(report: ExitReport): { name: string; seconds: Range } | undefined {
  const seconds = lasted(report);
  return seconds && Number.isFinite(seconds.max) ? { name: report.pod.name, seconds } : undefined;
}

/** To three decimals. */
const roundedUp = (ratio: number): number => Math.ceil(Number((ratio * 1000).toFixed(3))) / 1000;

/**
 * Seconds from the request, or from the acceptance where it was not ours, to the removal of the object; undefined while it is
 * still there. Infinite above where nothing bounds the beginning.
 */
export function lasted({ marks }: ExitReport): Range | undefined {
  const from = (marks.find(({ name }) => name === 'requested') ?? marks.find(({ name }) => name === 'accepted'))?.at;
  const to = marks.find(({ name }) => name === 'removed')?.at;
  return from && to && apart(from, to);
}

/** The ratio of the grace that the longest container used; undefined where no container had to be stopped. */
export function usedOfGrace({ phases, grace }: ExitReport): Range | undefined {
  const spent = phases.filter(({ name }) => spending.includes(name));
  const shares = [...new Set(spent.map(({ subject }) => subject))].map((subject) =>
    shareOf(
      spent.filter((phase) => phase.subject === subject),
      grace.effectiveSeconds,
    ),
  );
  return shares.sort((a, b) => b.max - a.max)[0];
}

/** Phases that a container's grace is spent on; they follow one another, and overtime is the last part of the drain. */
const spending: readonly PhaseName[] = ['prestop', 'sidecar-wait', 'drain'];

/**
 * Two ways to the same figure, each with an uncertainty that the other does not have: the lengths one by one know that their ends
 * hang together, and count each edge between two of them twice; first start and last end count no edge twice.
 */
function shareOf(phases: readonly Phase[], graceSeconds: number): Range {
  const added = {
    min: phases.reduce((sum, { ofGrace }) => sum + ofGrace.min, 0),
    max: phases.reduce((sum, { ofGrace }) => sum + ofGrace.max, 0),
  };
  const [first] = phases.map(({ start }) => start).sort(byEarliest);
  const last = phases
    .map(({ end }) => end)
    .sort(byEarliest)
    .at(-1);
  if (!first || !last || graceSeconds <= 0) return added;
  const whole = apart(first, last);
  const both = {
    min: Math.max(added.min, whole.min / graceSeconds),
    max: Math.min(added.max, whole.max / graceSeconds),
  };
  return both.min <= both.max ? both : added;
}

/** Seconds; what nothing bounds from below has no stamp that anybody means for its earliest. */
function apart(from: Instant, to: Instant): Range {
  const [start, end] = [parseTime(from.earliest) ?? -Infinity, parseTime(to.earliest) ?? -Infinity];
  return {
    min: Math.max(0, end - (parseTime(from.latest) ?? Infinity)) / 1000,
    max: Math.max(0, (parseTime(to.latest) ?? Infinity) - start) / 1000,
  };
}

const byEarliest = (a: Instant, b: Instant): number =>
  (parseTime(a.earliest) ?? -Infinity) - (parseTime(b.earliest) ?? -Infinity);
