/** The pods' watch is lost, and the API server has forgotten what happened meanwhile: which exits are counted, and how. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { failure } from '../../src/demo/data/status.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { linesOf, watchStory } from './helpers/watching.ts';

const forbidden =
  'pods is forbidden: User "watcher" cannot watch resource "pods" in API group "" in the namespace "shop"';
const words = ['-o', 'ndjson', '--no-logs'];
const reportOf = (uid: string): string => `"uid":"${uid}"`;

describe.concurrent('a watch that is lost', () => {
  it.each([
    ['the permission is taken away', failure(403, 'Forbidden', forbidden), 'you may not watch pods'],
    ['the token expires', failure(401, 'Unauthorized', 'Unauthorized'), 'does not accept the credentials'],
  ])('prints its summary and ends with 1 when %s', async (_name, why, message) => {
    const { code, stdout, stderr } = await watchStory(words, ['ends'], async (server, printed) => {
      server.terminate('ends');
      server.remove('ends');
      await printed(reportOf('ends'));
      server.lose(why);
      await printed('watch-summary');
    });
    expect(code).toBe(1);
    expect(linesOf(stdout, 'watch-summary')).toMatchObject([{ exits: 1, stillTerminating: 0 }]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('"delete"');
  });

  it('counts each pod that it knew once: with a line, as unseen, or within a gap that is named', async () => {
    const known = ['stays', 'ends', 'disappears', 'is-replaced', 'ends-after-the-last-gap-began'];
    const { stdout, stderr } = await watchStory(words, known, async (server, printed) => {
      server.terminate('ends');
      await sleep(500);
      server.lose();
      await sleep(200);
      for (const name of ['ends', 'disappears', 'is-replaced']) server.remove(name);
      server.create('is-replaced', 'the-next-of-this-name');
      server.create('comes-and-goes');
      server.remove('comes-and-goes');
      server.restore();
      await Promise.all([printed('"watch-gap"'), printed(reportOf('ends'))]);
      server.terminate('is-replaced', 'the-next-of-this-name');
      server.remove('is-replaced', 'the-next-of-this-name');
      await printed(reportOf('the-next-of-this-name'));
      server.lose();
      await sleep(200);
      server.remove('ends-after-the-last-gap-began');
    });
    const reported = linesOf<{ report: ExitReport }>(stdout, 'report').map(({ report }) => report.pod.uid);
    expect(reported.sort()).toEqual(['ends', 'the-next-of-this-name']);
    expect(linesOf(stdout, 'watch-summary')).toMatchObject([{ exits: 2, unseen: 2, gaps: 2, stillTerminating: 0 }]);
    expect(stderr).toContain('disappears: its termination was not observed');
    expect(stderr).toContain('is-replaced: its termination was not observed');
    const gaps = linesOf<{ streams: string[]; from: string; to: string }>(stdout, 'watch-gap');
    expect(gaps.map(({ streams }) => streams)).toEqual([['pods'], ['pods']]);
    for (const { from, to } of gaps) expect(Date.parse(to) - Date.parse(from)).toBeGreaterThan(150);
  });
});
