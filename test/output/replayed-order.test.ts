/** The printed timeline: times of the clock and offsets never run backwards, and a replay prints no moment twice. */
import { expect, it } from 'vitest';
import { renderText } from '../../src/output/text/lines.ts';
import { allNames } from '../helpers/recordings.ts';
import { rawObservationsOfStory } from '../helpers/simulated.ts';
import { rounds } from '../helpers/sweep.ts';
import { randomStory } from '../sim/random-story.ts';
import { play, podsOf } from './helpers/every-output.ts';

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
  for (const [nth, { report, lines }] of (await podsOf(name)).slice(0, rounds(2, 5)).entries()) {
    const pod = report.timeline.pod.metadata.name;
    const moments = momentsIn(renderText(report));
    expectOrdered(pod, moments);
    expect(new Set(moments.map(({ words }) => words)).size, pod).toBe(moments.length);
    if (nth === 0) expectOrdered(`${pod}, as it came`, momentsIn(lines));
  }
});

/** Seconds after zero, by container: of a printed signal without bounds, and of the exits that updates name. */
function signalsAndUpdates(text: string) {
  const lines = text.replace(/\n {20,}/g, ' ');
  const signals = lines.matchAll(/^ {2}\S+ +\u2248?\+(\d+\.\d\d) {2}(\S+) +(?:SIG\w+|stop signal) sent$/gm);
  const exits = lines.matchAll(/ update +(\S+) (?:exited|OOMKilled).* [\u2248\u2264]?\+(\d+\.\d\d)$/gm);
  return {
    signals: new Map([...signals].map(([, seconds, name]) => [name, Number(seconds)])),
    exits: [...exits].map(([, name, seconds]) => ({ name, seconds: Number(seconds) })),
  };
}

it('no update dates an exit before the signal that is printed above it, if it may be later', () => {
  let compared = 0;
  for (let seed = 1; seed <= rounds(20, 1000); seed += 1) {
    const { lines, report } = play(rawObservationsOfStory(randomStory(seed)), true);
    const { signals, exits } = signalsAndUpdates(lines);
    for (const { name, seconds } of exits.filter((one) => signals.has(one.name))) {
      compared += 1;
      const exit = report.timeline.marks.find((mark) => mark.name === 'exited' && mark.subject === name);
      const latest = ((exit?.at.latest ?? Infinity) - report.timeline.zero) / 1000 - 0.01;
      const least = Math.min(signals.get(name) ?? Infinity, latest);
      expect.soft(seconds, `seed ${seed}: ${name}`).toBeGreaterThanOrEqual(least);
    }
  }
  expect(compared).toBeGreaterThan(1);
});
