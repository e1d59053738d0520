/** A watch that nobody looks after: lost streams, its own restart, missing permissions, wrong usage. */
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { faultsBy } from '../helpers/schemas.ts';
import type { PatientServing } from '../helpers/serving-patiently.ts';
import type { Fault } from '../sim/faults/fault.ts';
import { linesOf, playing, valuesOf, watchAndScrape, watchUntil } from './helpers/watching.ts';

const rollout = <T>(faults: Fault[], work: (serving: PatientServing) => Promise<T>): Promise<T> =>
  playing('second/rollout-25', work, faults);

const uidsOf = (stdout: string): string[] =>
  linesOf<{ report: ExitReport }>(stdout, 'report').map(({ report }) => report.pod.uid);

/** A report that never comes must fail the test, not keep it waiting. */
const allPlayed = ({ server, pause }: PatientServing, moreMs = 8000): Promise<unknown> =>
  server.played.then(() => pause(moreMs));

const countOf = (text: string): number => [...text.matchAll(/"type":"report"/g)].length;

const watches = { verb: 'watch' } as const;

const storms: [string, Fault[]][] = [
  ['all streams are cut again and again', [{ kind: 'drop', ...watches, skip: 9, times: 20 }]],
  ['the history is lost', [{ kind: 'expire', as: 'frame', ...watches, skip: 9, times: 3 }]],
  [
    'reconnecting meets 429 and 500',
    [
      { kind: 'drop', ...watches, skip: 9, times: 6 },
      { kind: 'status', code: 429, retryAfterSeconds: 1, skip: 12, times: 3 },
      { kind: 'status', code: 500, skip: 15, times: 3 },
    ],
  ],
];
it.concurrent.each(storms)(
  '%s: every exit is counted once, or as not observed in a gap that is named',
  (_name, faults) =>
    rollout(faults, async (serving) => {
      // A stream that stays silent is noticed late.
      const until = allPlayed(serving, 30_000);
      const words = [...serving.flags, '-o', 'ndjson'];
      const { code, stdout } = await watchUntil(words, (text) => countOf(text) === 25, { until });
      const uids = uidsOf(stdout);
      const gaps = linesOf<{ streams: string[] }>(stdout, 'watch-gap').flatMap(({ streams }) => streams);
      const [{ unseen } = { unseen: NaN }] = linesOf<{ unseen: number }>(stdout, 'watch-summary');
      expect(code).toBe(0);
      expect(new Set(uids).size).toBe(uids.length);
      // All of them existed when the watch began.
      expect(uids.length + unseen).toBe(25);
      expect(unseen === 0 || gaps.includes('pods'), `${unseen} not observed, gaps in ${gaps.join()}`).toBe(true);
    }),
);

it.concurrent('names the time that was not observed', () =>
  rollout([{ kind: 'half-line', ...watches, resource: 'pods', skip: 80, times: 1 }], async ({ server, flags }) => {
    // A watch that resumes gets a 410.
    const compacting = setInterval(() => server.compact(), 20);
    const isNamed = (text: string): boolean =>
      linesOf(text, 'watch-gap').some((gap) => JSON.stringify(gap).includes('"pods"'));
    const { stdout, stderr } = await watchUntil([...flags, '-o', 'ndjson'], isNamed);
    clearInterval(compacting);
    for (const gap of linesOf(stdout, 'watch-gap')) expect(faultsBy('ndjson', gap)).toEqual([]);
    expect(stderr).toMatch(
      /not observed from \d\d:\d\d:\d\d to \d\d:\d\d:\d\d: .*pods.*; exits in that time may be missing/,
    );
  }),
);

it.concurrent('counts no exit twice when it is restarted', () =>
  rollout([], async (serving) => {
    const words = [...serving.flags, '-o', 'ndjson'];
    const first = await watchUntil(words, (text) => countOf(text) >= 5);
    expect(faultsBy('ndjson', linesOf(first.stdout, 'watch-summary')[0])).toEqual([]);
    const second = await watchUntil(words, () => false, { until: allPlayed(serving) });
    const all = [...uidsOf(first.stdout), ...uidsOf(second.stdout)];
    expect(new Set(all).size).toBe(all.length);
  }),
);

const refused = (resource: string): Fault => ({
  kind: 'status',
  code: 403,
  resource,
  reason: 'Forbidden',
  message: `${resource} is forbidden: User "watcher" cannot list resource "${resource}" in API group "" in the namespace "rollout-25"`,
});

it.concurrent('says once at the start what it may not watch, counts on without it, and does not call it lost', () =>
  rollout([refused('events'), refused('nodes')], async ({ flags }) => {
    const printed = await watchAndScrape([...flags, '-o', 'ndjson'], (text) => countOf(text) === 25);
    const { code, stdout, stderr, metrics } = printed;
    expect(code).toBe(0);
    expect(new Set(uidsOf(stdout)).size).toBe(25);
    expect(stderr.match(/no permission to list events: /g)).toHaveLength(1);
    expect(stderr.match(/no permission to list nodes: /g)).toHaveLength(1);
    expect(valuesOf(metrics, 'podexit_watch_streams_lost')).toEqual({ '': 0 });
    expect(valuesOf(metrics, 'podexit_watch_streams')['']).toBeGreaterThan(0);
  }),
);

it.concurrent('ends with 1 and the Role that is missing if it may not watch the pods', () =>
  rollout([refused('pods')], async ({ flags }) => {
    const { code, stderr } = await runMain(['watch', ...flags]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: you may not list pods in namespace "rollout-25"/m);
    expect(stderr).toContain('resources: ["pods"]');
  }),
);
