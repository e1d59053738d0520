/** `-o wide` of a run over several pods is one table, like kubectl's: one header, and columns as wide as their longest value. */
import { expect, it } from 'vitest';
import { recordingFile } from '../helpers/recordings.ts';
import { runMain } from './helpers/in-process.ts';

it('has one header and a row for each pod, with aligned columns', async () => {
  const { code, stdout } = await runMain(['replay', recordingFile('rollout-25'), '-o', 'wide']);
  const [header = '', ...rows] = stdout.trimEnd().split('\n');
  expect(code).toBe(0);
  expect(header).toMatch(/^NAME +NODE +OUTCOME +DURATION /);
  expect(rows).toHaveLength(25);
  for (const row of rows) {
    expect(row).toMatch(/^checkout-\S+ +node1 +graceful +/);
    for (const title of ['NODE', 'OUTCOME', 'TRIGGER', 'FINDINGS'])
      expect(row.slice(header.indexOf(title) - 1)).toMatch(/^ \S/);
  }
});
