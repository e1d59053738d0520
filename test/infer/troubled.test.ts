/**
 * Clusters in trouble: the controller manager hangs, the API server is busy or accepts no Events, a kubelet freezes.
 */
import { expect, it } from 'vitest';
import type { Trouble } from '../sim/troubled-story.ts';
import { storiesOfOneNode, troubledStory, troubles } from '../sim/troubled-story.ts';
import { isDeleted, judgeStory } from '../helpers/simulated.ts';
import { rounds } from '../helpers/sweep.ts';

/** The known shares of stories with an instant outside its interval. They may only go down. */
const knownMissShares: Partial<Record<Trouble, number>> = { 'api-overloaded': 0.36, 'events-refused': 0.001 };

it.each(troubles)('%s: no more stories than known have a false claim', (trouble) => {
  // To measure a share takes more stories.
  const stories = rounds((knownMissShares[trouble] ?? 0) < 0.01 ? 20 : 60, 2000);
  const wrong: string[] = [];
  for (let seed = 1; seed <= stories; seed += 1) {
    const story = troubledStory(seed, trouble);
    if (!isDeleted(story)) continue;
    const judged = judgeStory(story);
    // An unknown outcome is not a false claim.
    const claimed = judged.wrong.filter((line) => !/ unknown, not /.test(line));
    if (claimed.length > 0) wrong.push(`seed ${seed}: ${claimed.join('; ')}`);
  }
  expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(stories * (knownMissShares[trouble] ?? 0));
});

it('several pods of one node, each traced alone: no claim is false', () => {
  for (let seed = 1; seed <= rounds(3, 200); seed += 1)
    for (const story of storiesOfOneNode(seed, 5)) expect(judgeStory(story).wrong, JSON.stringify(story)).toEqual([]);
});
