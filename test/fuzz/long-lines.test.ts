/** Recordings with lines of any length are read in linear time, or refused with a clear error. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readLines } from '../../src/recording/reader.ts';
import { isSweep } from '../helpers/sweep.ts';

const mebibyte = 1024 * 1024;

function fileOf(...lines: string[]): string {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'long.ndjson');
  writeFileSync(file, lines.join('\n'));
  return file;
}

/** The lengths of its values; `cut`: the numbers of incomplete lines. */
async function lengthsOf(file: string): Promise<{ lengths: number[]; cut: number[] }> {
  const cut: number[] = [];
  const lengths: number[] = [];
  for await (const { value } of readLines(file, (line) => cut.push(line))) lengths.push(String(value).length);
  return { lengths, cut };
}

const text = (length: number): string => `"${'x'.repeat(length)}"`;

it.each(isSweep ? ['', '\n'] : ['\n'])(
  'the longest accepted line has 64 MiB, followed by %j, read in linear time',
  async (end) => {
    const most = 64 * mebibyte - 2;
    const file = fileOf(text(1), text(most) + end);
    const began = process.cpuUsage();
    expect(await lengthsOf(file)).toEqual({ lengths: [1, most], cut: [] });
    // CPU time, as other processes do not count: about 0.3 s. Joining the line at each chunk took 15 s.
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(5000);
    await expect(lengthsOf(fileOf(text(1), text(most + 1) + end))).rejects.toMatchObject({
      code: 'recording.broken',
      message: expect.stringMatching(/^line 2 of .*long\.ndjson is longer than 64 MiB$/) as string,
    });
  },
);

it('lines with lengths around the size of a chunk are complete, and only an incomplete last line is cut', async () => {
  const lengths = [-3, -2, -1, 0, 1, 2].flatMap((one) => [65_536 + one, 0, 131_072 + one]);
  expect(await lengthsOf(fileOf(...lengths.map(text), ''))).toEqual({ lengths, cut: [] });
  expect(await lengthsOf(fileOf(...lengths.map(text), '"cut'))).toEqual({ lengths, cut: [lengths.length + 1] });
});
