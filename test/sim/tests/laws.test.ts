import { expect, it } from 'vitest';
import { simulated, storyOfSeed } from '../../helpers/simulated.ts';
import { randomStory } from '../random-story.ts';
import { simulate } from '../simulate.ts';

it('gives the same rows for the same seed, byte for byte', () => {
  for (const seed of [1, 7, 99, 2 ** 31, 123_456_789_012])
    expect(JSON.stringify(simulate(randomStory(seed)))).toBe(JSON.stringify(simulate(randomStory(seed))));
  expect(JSON.stringify(simulate(randomStory(1)).rows)).not.toBe(JSON.stringify(simulate(randomStory(2)).rows));
});

it('shows most of what can happen', () => {
  const [outcomes, triggers, reasons] = [new Set<string>(), new Set<string>(), new Set<unknown>()];
  const wanted = ['forced', 'oom', 'killed', 'failed', 'overran', 'stuck', 'unknown', 'graceful', 'removed'];
  const events = ['FailedPreStopHook', 'FailedKillPod', 'Unhealthy', 'Preempted', 'NodeNotReady'];
  const hasAll = (): boolean =>
    triggers.size >= 12 && wanted.every((one) => outcomes.has(one)) && events.every((one) => reasons.has(one));
  for (let seed = 1; seed <= 1000 && !hasAll(); seed += 1) {
    const { expected, rows } = simulated(storyOfSeed(seed));
    for (const one of expected.outcomes) outcomes.add(one);
    for (const one of expected.triggers) triggers.add(one);
    for (const row of rows) if (row.type === 'watch') reasons.add(row.event.object['reason']);
  }
  expect([...outcomes]).toEqual(expect.arrayContaining(wanted));
  expect([...reasons]).toEqual(expect.arrayContaining(events));
  expect(triggers.size).toBe(12);
});
