/** The printed timeline: times of the clock and offsets never run backwards, and a replay prints no moment twice. */
import { expect, it } from 'vitest';
import { renderText } from '../../src/output/text/lines.ts';
import { reportOf } from '../../src/advice/report.ts';
import { allNames, observationsOf, traceOf, tracedPodsOf } from '../helpers/recordings.ts';
import { play } from './helpers/every-output.ts';

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

it.each(allNames)('%s', async (name) => {
  for (const { pod, rawObservations } of (await tracedPodsOf(name)).slice(0, 5)) {
    const report = reportOf(traceOf(observationsOf(rawObservations)));
    const moments = report ? momentsIn(renderText(report)) : [];
    expectOrdered(pod, moments);
    expect(new Set(moments.map(({ words }) => words)).size, pod).toBe(moments.length);
    expectOrdered(`${pod}, as it came`, momentsIn(play(rawObservations, true).lines));
  }
});
