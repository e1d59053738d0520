import { expect, it } from 'vitest';
import { randomStory } from '../random-story.ts';
import { simulate } from '../simulate.ts';

it('gives the same rows for the same seed, byte for byte', () => {
  for (const seed of [1, 7, 99, 2 ** 31, 123_456_789_012])
    expect(JSON.stringify(simulate(randomStory(seed)))).toBe(JSON.stringify(simulate(randomStory(seed))));
  expect(JSON.stringify(simulate(randomStory(1)).rows)).not.toBe(JSON.stringify(simulate(randomStory(2)).rows));
});

it('shows most of what can happen', () => {
  const simulations = Array.from({ length: 1000 }, (_, index) => simulate(randomStory(index + 1)));
  const outcomes = new Set(simulations.flatMap(({ expected }) => expected.outcomes));
  for (const outcome of ['forced', 'oom', 'killed', 'failed', 'overran', 'stuck', 'unknown', 'graceful', 'removed'])
    expect(outcomes, outcome).toContain(outcome);
  expect(new Set(simulations.flatMap(({ expected }) => expected.triggers)).size).toBe(12);
  const rows = simulations.flatMap((one) => one.rows).filter((row) => row.type === 'watch');
  const reasons = new Set(rows.map(({ event }) => event.object['reason']));
  for (const reason of ['FailedPreStopHook', 'FailedKillPod', 'Unhealthy', 'Preempted', 'NodeNotReady'])
    expect(reasons, reason).toContain(reason);
});
