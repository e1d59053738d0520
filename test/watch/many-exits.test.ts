/** A recording of many pods, watched: every exit once, as test/cli/many-pods.test.ts sees it. */
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { heldAgainst } from '../helpers/truth.ts';
import { linesOf, playing, valuesOf, watchAndScrape, watchUntil } from './helpers/watching.ts';

const countOf = (text: string, words: RegExp): number => [...text.matchAll(words)].length;

const [name, pods, trigger] = ['second/scale-to-zero-40', 40, 'scale-down'] as const;

it('shows every exit once in lines, ndjson and metrics, with its outcome and trigger', () =>
  playing(name, async ({ flags, server }) => {
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
    expect(reports).toHaveLength(pods);
    expect(new Set(reports.map(({ pod }) => pod.uid)).size).toBe(pods);
    const kinds = reports.map((report) => `${report.verdict.outcome} ${report.trigger.kind}`);
    expect([...new Set(kinds)]).toEqual([`graceful ${trigger}`]);
  }));
