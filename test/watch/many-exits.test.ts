/** Recordings of many pods, watched: every exit once, as `rollout` reports it. */
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { heldAgainst } from '../helpers/truth.ts';
import { linesOf, playing, watchUntil } from './helpers/watching.ts';

const countOf = (text: string, words: RegExp): number => [...text.matchAll(words)].length;

const rows = [
  ['rollout-25', 25, 'rollout'],
  ['scale-to-zero-40', 40, 'scale-down'],
] as const;

it('prints a line for every exit once, and a summary', () =>
  playing('second/rollout-25', async ({ flags }) => {
    const { code, stdout, stderr } = await watchUntil(flags, (text) => countOf(text, /✔/g) === 25);
    expect(stderr).toMatch(/^podexit: watching the pods of namespace\/\S+; Ctrl-C prints a summary\n$/);
    expect(code).toBe(0);
    expect(new Set([...stdout.matchAll(/ \S+\/(checkout-\S+) {2}✔ Graceful/g)].map(([, pod]) => pod)).size).toBe(25);
    expect(stdout).toMatch(/\n25 exits of 1 workload: 25 graceful\n$/);
  }));

describe.concurrent.each(rows)('the recording %s', (name, pods, trigger) => {
  it('reports every exit once in ndjson, with the outcomes and triggers of rollout', async () => {
    const watched = await playing(`second/${name}`, async ({ flags, server }) => {
      const isEnough = (text: string): boolean => countOf(text, /"type":"report"/g) === pods;
      const { stdout } = await watchUntil([...flags, '-o', 'ndjson'], isEnough);
      const reports = linesOf<{ report: ExitReport }>(stdout, 'report').map(({ report }) => report);
      for (const report of reports) {
        const truths = server.truth().filter(({ pod }) => pod === report.pod.name);
        expect(heldAgainst(report, truths).filter(({ hit }) => !hit)).toEqual([]);
      }
      expect(linesOf(stdout, 'watch-summary')).toMatchObject([
        { exits: pods, gaps: 0, dropped: 0, stillTerminating: 0 },
      ]);
      return reports;
    });
    const followed = await playing(`second/${name}`, async ({ flags }) => {
      const { stdout } = await runMain(['deploy/checkout', '--all-terminating', '-o', 'json', ...flags]);
      return (JSON.parse(stdout) as { exits: ExitReport[] }).exits;
    });
    const outcomesOf = (reports: readonly ExitReport[]) =>
      reports.map(({ pod, verdict }) => `${pod.name} ${verdict.outcome}`).sort();
    expect(watched).toHaveLength(pods);
    expect(outcomesOf(watched)).toEqual(outcomesOf(followed));
    expect([...new Set(watched.map((one) => one.trigger.kind))]).toEqual([trigger]);
  });
});
