/** A recording of many pods, watched: every exit once, as `rollout` reports it. */
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { heldAgainst } from '../helpers/truth.ts';
import { linesOf, playing, valuesOf, watchAndScrape, watchUntil } from './helpers/watching.ts';

const countOf = (text: string, words: RegExp): number => [...text.matchAll(words)].length;

const [name, pods, trigger] = ['second/scale-to-zero-40', 40, 'scale-down'] as const;

it('shows every exit once in lines, ndjson and metrics, with the outcomes and triggers of rollout', async () => {
  const watched = await playing(name, async ({ flags, server }) => {
    const [lines, { stdout, metrics }] = await Promise.all([
      watchUntil(flags, (text) => countOf(text, /✔|✖|\? /g) >= pods),
      watchAndScrape([...flags, '-o', 'ndjson'], (text) => countOf(text, /"type":"report"/g) >= pods),
    ]);
    expect(lines.code).toBe(0);
    expect(lines.stderr).toMatch(/^podexit: watching \d+ pods of namespace\/\S+; Ctrl-C prints a summary\n$/);
    expect(new Set([...lines.stdout.matchAll(/ \S+\/(\S+) {2}✔ Graceful/g)].map(([, pod]) => pod)).size).toBe(pods);
    expect(lines.stdout).toMatch(new RegExp(`\n${pods} exits of 1 workload: ${pods} graceful\n$`));
    const labels = `{namespace="${server.namespace}",workload="deployment/checkout",outcome="graceful",trigger="${trigger}"}`;
    expect(valuesOf(metrics, 'podexit_exits_total')).toEqual({ [labels]: pods });
    expect(valuesOf(metrics, 'podexit_exit_seconds_count')).toEqual({ '': pods });
    const reports = linesOf<{ report: ExitReport }>(stdout, 'report').map(({ report }) => report);
    for (const report of reports) {
      const truths = server.truth().filter(({ pod }) => pod === report.pod.name);
      expect(heldAgainst(report, truths).filter(({ hit }) => !hit)).toEqual([]);
    }
    expect(linesOf(stdout, 'watch-summary')).toMatchObject([{ exits: pods, gaps: 0, dropped: 0, stillTerminating: 0 }]);
    return reports;
  });
  const followed = await playing(name, async ({ flags }) => {
    const { stdout } = await runMain(['deploy/checkout', '--all-terminating', '-o', 'json', ...flags]);
    return (JSON.parse(stdout) as { exits: ExitReport[] }).exits;
  });
  const outcomesOf = (reports: readonly ExitReport[]) =>
    reports.map(({ pod, verdict }) => `${pod.name} ${verdict.outcome}`).sort();
  expect(watched).toHaveLength(pods);
  expect(outcomesOf(watched)).toEqual(outcomesOf(followed));
  expect([...new Set(watched.map((one) => one.trigger.kind))]).toEqual([trigger]);
});
