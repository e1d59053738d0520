/** What is printed about recordings of a real cluster; the first two lines of their cards: test/infer/cases/answers.yaml. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { casesIn, pattern } from '../helpers/case-file.ts';

const ownRecording = (name: string): string => fileURLToPath(new URL(`recordings/${name}.ndjson`, import.meta.url));

interface Printed {
  file: string;
  prints: string;
  printsNot?: string;
}

it.each(casesIn<Printed>(new URL('printed.yaml', import.meta.url), ['file', 'prints', 'printsNot']))(
  '%s',
  async (_, { file, prints, printsNot }) => {
    const stdout = (await runMain(['replay', ownRecording(file), '-o', 'lines'])).stdout.replace(/\s+/g, ' ');
    expect(stdout).toMatch(pattern(prints));
    if (printsNot) expect(stdout).not.toMatch(pattern(printsNot));
  },
);

it.each([
  ['a removal that was seen late', 'connection-cut', /graceful +≤13\.5s/, /gone after ≤13\.5s/],
  ['a share that may be all of it', 'exit-about-the-end-of-its-grace', / 8s +≥98% /, /\(≥98% of its 8s grace/],
])('-o wide says of %s what the card says', async (_, name, cells, words) => {
  expect((await runMain(['replay', ownRecording(name), '-o', 'wide'])).stdout).toMatch(cells);
  expect((await runMain(['replay', ownRecording(name)])).stdout).toMatch(words);
});

it.each([
  ['whose SuccessfulDelete the limit on Events dropped', 'rollout-without-its-events'],
  ['whose strategy Recreate starts no new pod before they are gone', 'rollout-by-recreate'],
])('names the rollout of pods %s', async (_, name) => {
  const { stdout } = await runMain(['replay', ownRecording(name), '-o', 'json']);
  const { exits } = JSON.parse(stdout) as { exits: ExitReport[] };
  expect(exits.map(({ trigger }) => trigger.kind)).toEqual(['rollout', 'rollout']);
});
