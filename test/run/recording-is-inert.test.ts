/** People view recordings with `cat` and `less`, so control and invisible characters are escaped. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/run/clock.ts';
import { recorderFor } from '../../src/output/report-files.ts';

it('C1 controls, bidi marks and workflow commands are escaped, and parse to the original text', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'run.ndjson');
  const text = '\u009b31m \u202e \u2066 \u200b ##[error]x';
  const recorder = recorderFor(file, true, { clock: systemClock, version: '0' }, () => {});
  const object = { metadata: { name: 'web', annotations: { text } } };
  recorder.write([{ kind: 'changed', at: 1, seq: 1, stream: 'pod', change: 'ADDED', object } as never]);
  recorder.close();
  const written = readFileSync(file, 'utf8');
  expect(written).not.toMatch(/[^ -~\n]|##\w*\[/);
  expect(JSON.parse(written.split('\n')[1] ?? '')).toMatchObject({ object });
});
