/** Many exits as one: the summary of `--all-terminating`. Pure. */
import type { ExitReport, Outcome, ProbeReport, Range } from '../model/report.ts';
import { exitCodes, worstCode } from './exit-code.ts';
import { lasted, usedOfGrace } from './figures.ts';

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
  /** What the probes of the run measured; those of `pod` once for each pod. */
  probes?: ProbeReport[];
  /** From acceptance until the object was gone. */
  slowest?: { name: string; seconds: Range };
  /** At most this ratio of the grace was used, from the hook's start to the exit, by so many percent of the pods. */
  graceUsed?: { p50: number; p90: number; p99: number; max: number };
  /** The command's own. */
  exitCode: number;
}

/** `codes`: exit codes of what is no report, such as a file that could not be written. */
export function summaryOf(
  target: string,
  reports: readonly ExitReport[],
  codes: readonly number[] = [],
  unseen: readonly string[] = [],
  probes: readonly ProbeReport[] = [],
): RolloutSummary {
  const durations = reports.flatMap((report) => durationOf(report) ?? []);
  const [slowest] = durations.sort((a, b) => b.seconds.max - a.seconds.max);
  const used = reports
    .flatMap((report) => usedOfGrace(report) ?? [])
    .map(({ range }) => roundedUp(range.max))
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
    ...(probes.length > 0 ? { probes: [...probes] } : {}),
    ...(slowest ? { slowest } : {}),
    ...(used.length > 0 ? { graceUsed: { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) } } : {}),
    exitCode: worstCode([
      ...reports.map(({ verdict }) => verdict.exitCode),
      ...(unseen.length > 0 ? [exitCodes.unknown] : []),
      ...codes,
    ]),
  };
}

const wasKilled = ({ containers }: ExitReport): boolean => containers.some(({ outcome }) => outcome === 'killed');

function durationOf(report: ExitReport): { name: string; seconds: Range } | undefined {
  const { range } = lasted(report) ?? {};
  return range && Number.isFinite(range.max) ? { name: report.pod.name, seconds: range } : undefined;
}

/** To three decimals. */
const roundedUp = (ratio: number): number => Math.ceil(Number((ratio * 1000).toFixed(3))) / 1000;
