/** The facts of a report that `compare` and `recommend` use. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { middle, readReports, sampleOf } from '../../src/advice/history/reports.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { recordingFile } from '../helpers/recordings.ts';

it('a sample has the workload, grace period, drain and outcome of a report', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const { stdout } = await runMain(['replay', recordingFile('graceful-exit'), '-o', 'json']);
  writeFileSync(join(folder, 'exit.json'), stdout);
  const [read] = await readReports([folder], async () => []);
  rmSync(folder, { recursive: true });
  const sample = read && sampleOf(read);
  expect(sample).toMatchObject({
    workload: 'Deployment/checkout',
    graceSeconds: 10,
    outcome: 'graceful',
    killed: false,
  });
  expect(sample?.drain && middle(sample.drain)).toBeGreaterThan(2.5);
  expect(sample?.drain && middle(sample.drain)).toBeLessThan(4);
});
