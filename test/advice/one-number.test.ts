/** The card, `check`, `fix` and `recommend` name one number for one field, whatever each of them knows. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runMain } from '../cli/helpers/in-process.ts';
import { allNames, recordingFile } from '../helpers/recordings.ts';
import { serving } from '../helpers/serving.ts';
import { everyNth } from '../helpers/sweep.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(scratch, { recursive: true }));

/** What a text asks for, as `grace period 25` and `preStop 10`. */
function askedIn(text: string): string[] {
  const joined = text.replace(/\s+/g, ' ');
  const graces = [...joined.matchAll(/grace period (\d+)s \(|terminationGracePeriodSeconds(?: \d+ →|"?:) (\d+)/gi)];
  const hooks = [...joined.matchAll(/preStop sleep (\d+)s|preStop: sleep: seconds: (\d+)/gi)];
  return [
    ...graces.map(([, words, field]) => `grace period ${words ?? field}`),
    ...hooks.map(([, words, field]) => `preStop ${words ?? field}`),
  ];
}

it.each(everyNth(4, allNames))('%s', async (name) => {
  const file = recordingFile(name);
  const folder = join(scratch, name);
  mkdirSync(folder);
  const report = join(folder, '0.json');
  const { stdout: card } = await runMain(['replay', file, '--report', report]);
  for (const copy of '123456789') copyFileSync(report, join(folder, `${copy}.json`));
  const { stdout: recommended } = await runMain(['recommend', folder]);
  const { stdout: patch } = await runMain(['fix', file]);
  const live = await serving(name, {}, async ({ server, flags }) => [
    (await runMain(['check', server.pod, ...flags])).stdout,
    (await runMain(['fix', server.pod, ...flags])).stdout,
  ]);
  const asked = [card, recommended, patch, ...live].map(askedIn);
  for (const field of ['grace period', 'preStop'])
    expect(new Set(asked.flat().filter((one) => one.startsWith(field))).size, JSON.stringify(asked)).toBeLessThan(2);
});
