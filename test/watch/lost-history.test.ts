/** The pods' watch is lost, and the API server has forgotten what happened meanwhile: which exits are counted, and how. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { failure } from '../../src/demo/data/status.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { startChangeable } from './helpers/changeable.ts';
import { linesOf, watchUntil } from './helpers/watching.ts';

const forbidden =
  'pods is forbidden: User "watcher" cannot watch resource "pods" in API group "" in the namespace "shop"';

it.each([
  ['the permission is taken away', failure(403, 'Forbidden', forbidden), 'you may not watch pods'],
  ['the token expires', failure(401, 'Unauthorized', 'Unauthorized'), 'does not accept the credentials'],
])('prints its summary and ends with 1 when %s', async (_name, why, message) => {
  const { server, flags, close } = await startChangeable();
  server.create('ends');
  let begun = (): void => {};
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  void hasBegun
    .then(() => sleep(1500))
    .then(() => server.terminate('ends'))
    .then(() => sleep(500))
    .then(() => server.remove('ends'))
    .then(() => sleep(4000))
    .then(() => server.lose(why));
  const words = [...flags, '-o', 'ndjson', '--no-logs'];
  const { code, stdout, stderr } = await watchUntil(words, () => false, { onStderr: begun });
  await close();
  expect(code).toBe(1);
  expect(linesOf(stdout, 'watch-summary')).toMatchObject([{ exits: 1, stillTerminating: 0 }]);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('"delete"');
});

it('counts each pod that it knew once: with a line, as unseen, or within a gap that is named', async () => {
  const { server, flags, close } = await startChangeable();
  const known = ['stays', 'ends', 'disappears', 'is-replaced', 'ends-after-the-last-gap-began'];
  for (const name of known) server.create(name);
  let begun = (): void => {};
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  const story = async (): Promise<void> => {
    await hasBegun;
    await sleep(1500);
    server.terminate('ends');
    await sleep(500);
    server.lose();
    await sleep(200);
    for (const name of ['ends', 'disappears', 'is-replaced']) server.remove(name);
    server.create('is-replaced', 'the-next-of-this-name');
    server.create('comes-and-goes');
    server.remove('comes-and-goes');
    server.restore();
    await sleep(4000);
    server.terminate('is-replaced', 'the-next-of-this-name');
    await sleep(200);
    server.remove('is-replaced', 'the-next-of-this-name');
    await sleep(4000);
    server.lose();
    await sleep(200);
    server.remove('ends-after-the-last-gap-began');
  };
  const words = [...flags, '-o', 'ndjson', '--no-logs'];
  const printed = await watchUntil(words, () => false, { onStderr: begun, until: story() });
  await close();

  const reported = linesOf<{ report: ExitReport }>(printed.stdout, 'report').map(({ report }) => report.pod.uid);
  expect(reported.sort()).toEqual(['ends', 'the-next-of-this-name']);
  expect(linesOf(printed.stdout, 'watch-summary')).toMatchObject([
    { exits: 2, unseen: 2, gaps: 2, stillTerminating: 0 },
  ]);
  expect(printed.stderr).toContain('disappears: its termination was not observed');
  expect(printed.stderr).toContain('is-replaced: its termination was not observed');
  const gaps = linesOf<{ streams: string[]; from: string; to: string }>(printed.stdout, 'watch-gap');
  expect(gaps.map(({ streams }) => streams)).toEqual([['pods'], ['pods']]);
  for (const { from, to } of gaps) expect(Date.parse(to) - Date.parse(from)).toBeGreaterThan(150);
});
