/** What a recorder beside the cluster wrote becomes the recording that a live run would have written. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recordingOf, rowsOf as parsed } from '../../scripts/convert/convert.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { recordingFile, rowsOf, scenarioFile } from '../helpers/recordings.ts';

it.each(['evicted', 'statefulset-rollout'])('the stored recording of %s is its scenario, converted', (name) => {
  expect(
    readFileSync(recordingFile(name), 'utf8') === recordingOf(rowsOf(name)),
    `run: npx tsx scripts/convert-recording.ts ${scenarioFile(name)}`,
  ).toBe(true);
});

it('a recording that lost a watch is refused: what it missed is not known', () => {
  const lost = { at: '2026-11-28T10:00:00Z', type: 'watch-end', resource: 'pods' };
  expect(() => parsed([lost])).toThrow('the watch of pods ended');
});

it('replay refuses what is not converted, and says how to convert it', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'namespace.ndjson');
  writeFileSync(file, readFileSync(scenarioFile('exit-143')));
  const { code, stderr } = await runMain(['replay', file]);
  expect(code).toBe(1);
  expect(stderr).toContain(`${file} contains the lists and watches of a whole namespace`);
  expect(stderr).toContain(`npx tsx scripts/convert-recording.ts ${file} --to FOLDER`);
});
