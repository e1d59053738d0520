/** `fix` of a recording: `compare` and `recommend` read recordings beside reports, and so does it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runMain } from '../cli/helpers/in-process.ts';
import { recordingFile } from '../helpers/recordings.ts';

const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each(['graceful-exit', 'rollout-25'])('of %s is the fix of its report', async (name) => {
  const report = join(folder, `${name}.json`);
  writeFileSync(report, (await runMain(['replay', recordingFile(name), '-o', 'json'])).stdout);
  const ofReport = await runMain(['fix', report]);
  expect(ofReport.stdout).toMatch(/^# preStop sleep 10s/);
  expect(await runMain(['fix', recordingFile(name)])).toEqual(ofReport);
});

it('names a recording that does not exist, instead of looking for a pod of that name', async () => {
  const { code, stderr } = await runMain(['fix', join(folder, 'none.ndjson')]);
  expect(code).toBe(1);
  expect(stderr).toContain('none.ndjson does not exist');
});
