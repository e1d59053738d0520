/** A run over several pods for machines: the RolloutReport of `-o json`, and its lines of `-o ndjson`. */
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import { summaryOf, type RolloutNumbers } from '../verdict/rollout.ts';
import { jsonText } from './machine/json.ts';
import { finalLines } from './machine/ndjson.ts';

export interface RolloutResult {
  readonly numbers: RolloutNumbers;
  readonly reports: readonly Report[];
}

export function rolloutReportOf({ numbers, reports }: RolloutResult): object {
  const { probes, ...summary } = summaryOf(numbers);
  const exits = reports.map(exitReportOf);
  return {
    apiVersion: 'podexit/v1',
    kind: 'RolloutReport',
    workload: workloadOf(summary.target),
    summary,
    exits,
    probes,
    // The same for all pods, except their images.
    run: exits[0]?.run && { ...exits[0].run, image: undefined },
  };
}

/** Splits `deployment/checkout` into kind and name. Several pods become a list of names; a selector is its name. */
function workloadOf(target: string): { kind: string; name: string } {
  // A node may have a selector behind its name.
  const [kind = '', name] = target.split(' ', 1).join('').split('/');
  if (kind === 'pod') return { kind: 'Pod', name: target.replaceAll('pod/', '') };
  const known = kinds.find((one) => one.toLowerCase() === kind);
  return known !== undefined && name !== undefined ? { kind: known, name } : { kind: 'Selector', name: target };
}

const kinds = ['Node', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'Service'];

/** The last line of a run over several pods. */
export const summaryLine = (numbers: RolloutNumbers): string =>
  `${jsonText({ type: 'summary', ...summaryOf(numbers) })}\n`;

/** The final lines of all pods, then the summary. */
export const rolloutLines = (numbers: RolloutNumbers, reports: readonly Report[]): string =>
  reports.map((report) => finalLines(exitReportOf(report), true)).join('') + summaryLine(numbers);
