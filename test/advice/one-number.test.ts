/** The card, `check`, `fix` and `recommend` name one number for one field, whatever each of them knows. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runMain } from '../cli/helpers/in-process.ts';
import { allNames, recordingFile } from '../helpers/recordings.ts';
import { serving } from '../helpers/serving.ts';

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

it.each(allNames)('%s', async (name) => {
  const file = recordingFile(name);
  const { stdout: card } = await runMain(['replay', file]);
  const { stdout: report } = await runMain(['replay', file, '-o', 'json']);
  const folder = join(scratch, name);
  mkdirSync(folder);
  for (const copy of '0123456789') writeFileSync(join(folder, `${copy}.json`), report);
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
