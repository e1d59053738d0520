/**
 * Thousands of exits that a simulated kubelet tells, with everything known about them: no instant misses the truth, no
 * outcome is wrong. A failing seed prints its story; it then becomes a case in test/trace/stories.
 */
import { expect, it } from 'vitest';
import { randomStory } from '../../src/loopback/kubelet/random-story.ts';
import { judgeStory } from '../helpers/simulated.ts';

const stories = Number(process.env['PODEXIT_STORIES'] ?? 2000);
const first = Number(process.env['PODEXIT_FIRST'] ?? 1);

it(`judges ${stories} simulated exits without a miss`, { timeout: 600_000 }, () => {
  const wrong: string[] = [];
  let held = 0;
  for (let seed = first; seed < first + stories; seed += 1) {
    const judged = judgeStory(randomStory(seed));
    held += judged.held;
    if (judged.wrong.length > 0) wrong.push(`seed ${seed}: ${judged.wrong.join('; ')}`);
  }
  expect(wrong).toEqual([]);
  expect(held).toBeGreaterThan(stories * 5);
});
