/**
 * The text and JSON output of every recording: test/goldens/NAME.txt and NAME.json. For the second series, the text of
 * the first pod and, with several pods, of the run over all pods: test/goldens/second/NAME.txt. To add a case, add a
 * file to test/recordings. To accept a change, run with -u, read the diff, and commit it only if you know why each line
 * changed.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { renderJson } from '../src/output/machine/json.ts';
import { renderText } from '../src/output/text/lines.ts';
import { exitReportOf } from '../src/verdict/exit-report.ts';
import { allNames, recordingNames, secondSeriesNames } from './helpers/recordings.ts';
import { rounds } from './helpers/sweep.ts';
import { manyPodsOutput, podsOf } from './output/helpers/every-output.ts';

const folder = fileURLToPath(new URL('./goldens/', import.meta.url));

describe.each(recordingNames)('%s', (name) => {
  it('has the text of its golden', async () => compare(`${name}.txt`, (await printed(name)).text));
  it('has the JSON report of its golden', async () => compare(`${name}.json`, (await printed(name)).json));
});

it.each(secondSeriesNames)('%s has the text of its golden', async (name) => {
  const pods = await podsOf(name);
  await compare(`second/${name}.txt`, [pods[0]?.lines, manyPodsOutput(pods)].filter(Boolean).join('\n'));
});

it.each(allNames)('%s prints no moment twice, and no time or offset that runs backwards', async (name) => {
  for (const [nth, { report, lines }] of (await podsOf(name)).slice(0, rounds(2, 5)).entries()) {
    const pod = report.timeline.pod.metadata.name;
    const moments = momentsIn(renderText(report));
    expectOrdered(pod, moments);
    expect(new Set(moments.map(({ words }) => words)).size, pod).toBe(moments.length);
    if (nth === 0) expectOrdered(`${pod}, as it came`, momentsIn(lines));
  }
});

it('has no golden without a recording', () => {
  const namesIn = (path: string): string[] => [
    ...new Set(readdirSync(path).flatMap((file) => /(.*)\.(txt|json)$/.exec(file)?.[1] ?? [])),
  ];
  expect(namesIn(folder).sort()).toEqual(recordingNames);
  expect(namesIn(`${folder}second/`).sort()).toEqual(secondSeriesNames);
});

async function printed(name: string): Promise<{ text: string; json: string }> {
  const [pod] = await podsOf(name);
  if (!pod) throw new Error(`${name} has no pod`);
  return { text: pod.lines, json: renderJson(exitReportOf(pod.report)) };
}

const compare = (file: string, actual: string): Promise<void> => expect(actual).toMatchFileSnapshot(`${folder}${file}`);

/** `  23:04:29.60     +0.02  api          deletionTimestamp …`: the time of day, the offset, and the words. */
const momentsIn = (text: string): { clock: string; offset: number; words: string }[] =>
  [...text.matchAll(/^ {2}(\d\d:\d\d:\d\d\.\d\d) +[\u2248\u2264]?([+\u2212])(\d+\.\d\d) {2}(.*)/gmu)].map(
    ([, clock = '', sign, offset, words = '']) => ({ clock, offset: Number(offset) * (sign === '+' ? 1 : -1), words }),
  );

function expectOrdered(pod: string, moments: ReturnType<typeof momentsIn>): void {
  expect(moments.length, pod).toBeGreaterThan(1);
  moments.slice(1).forEach(({ clock, offset, words }, index) => {
    const before = moments[index] ?? { clock: '', offset: NaN };
    expect(offset, `${pod}: ${words}`).toBeGreaterThanOrEqual(before.offset);
    const isNewDay = clock.startsWith('00') && before.clock.startsWith('23');
    if (!isNewDay) expect(clock >= before.clock, `${pod}: ${clock} ${words}`).toBe(true);
  });
}
