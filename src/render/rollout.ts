/** The summary of many exits, for a person. */
import type { RolloutSummary } from '../verdict/rollout.ts';
import { formatLasted } from './summary.ts';
import { forTerminal } from './safe-text.ts';

export function renderRollout({ target, pods, outcomes, killed, unseen, slowest, graceUsed }: RolloutSummary): string {
  const counts = [
    ...Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`),
    ...(unseen.length > 0 ? [`${podsEnded(unseen.length)} unseen`] : []),
  ];
  const rows: [string, string][] = [
    ...(slowest
      ? [['slowest', `${forTerminal(slowest.name)}  ${formatLasted(slowest.seconds)}`] as [string, string]]
      : []),
    ...(killed.length > 0 ? [['killed', killed.map((name) => forTerminal(name)).join(', ')] as [string, string]] : []),
    ...(unseen.length > 0 ? [['unseen', unseen.map((name) => forTerminal(name)).join(', ')] as [string, string]] : []),
    ...(graceUsed ? [['grace used', used(graceUsed)] as [string, string]] : []),
  ];
  const head = `${forTerminal(target)}: ${[podsEnded(pods), ...counts].join(' · ')}`;
  return `${head}\n${rows.map(([name, text]) => `  ${name.padEnd(10)}  ${text}\n`).join('')}`;
}

const podsEnded = (count: number): string => `${count} ${count === 1 ? 'pod' : 'pods'} ended`;

function used(shares: NonNullable<RolloutSummary['graceUsed']>): string {
  const percent = (ratio: number): string => `${Math.round(ratio * 100)}%`;
  const { p50, p90, p99, max } = shares;
  return `at most: p50 ${percent(p50)} · p90 ${percent(p90)} · p99 ${percent(p99)} · most ${percent(max)}`;
}
