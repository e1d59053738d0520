import { expect, it } from 'vitest';
import { playedFrom } from '../helpers/recordings.ts';
import { rawObservationsOfStory, storyOfSeed } from '../helpers/simulated.ts';
import { rounds } from '../helpers/sweep.ts';
import { play } from './helpers/every-output.ts';

/** Seconds after zero, by container: of a printed signal that stands, without bounds, and of the exits that updates name. */
function signalsAndUpdates(text: string) {
  const lines = text.replace(/\n {20,}/g, ' ');
  const signals = lines.matchAll(/^ {2}\S+ +\u2248?\+(\d+\.\d\d) {2}(\S+) +(?:SIG\w+|stop signal) sent$/gm);
  const stands = [...signals].filter(([, , name]) => !lines.includes(`update       not confirmed: ${name} `));
  const exits = lines.matchAll(/ update +(\S+) (?:exited|OOMKilled).* [\u2248\u2264]?\+(\d+\.\d\d)$/gm);
  return {
    signals: new Map(stands.map(([, seconds, name]) => [name, Number(seconds)])),
    exits: [...exits].map(([, name, seconds]) => ({ name, seconds: Number(seconds) })),
  };
}

it('no update dates an exit before the signal that is printed above it, if it may be later', () => {
  let compared = 0;
  for (let seed = 1; seed <= rounds(20, 1000); seed += 1) {
    const { lines, report } = play(playedFrom(rawObservationsOfStory(storyOfSeed(seed))));
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
