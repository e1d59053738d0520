/** A Role without access to Events: every claim is still true. */
import { expect, it } from 'vitest';
import { judgeStory } from '../helpers/simulated.ts';
import { rounds } from '../helpers/sweep.ts';
import { withoutEvents } from '../helpers/views.ts';
import { randomStory } from '../sim/random-story.ts';

/** A kubelet that hangs for a minute acknowledges late: 1 of 1,500 stories. May only go down. */
const knownMissShare = 1 / 1000;

it('without Events, no more than the known share of intervals misses the truth', () => {
  const stories = rounds(100, 2000);
  const missed: string[] = [];
  for (let seed = 1; seed <= stories; seed += 1) {
    const wrong = judgeStory(randomStory(seed), withoutEvents).wrong.filter((what) => what.includes(', claimed '));
    if (wrong.length > 0) missed.push(`seed ${seed}: ${wrong.join('; ')}`);
  }
  expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(stories * knownMissShare);
});
