/** Clocks that are set during an exit, and API servers whose clocks differ. */
import { describe, expect, it } from 'vitest';
import { plainStory } from '../sim/plain-story.ts';
import type { Story } from '../sim/story.ts';
import { drains } from '../sim/plain-story.ts';
import { simulate } from '../sim/simulate.ts';
import { endedLikeLive } from '../../scripts/convert/end-like-live.ts';
import type { Instant } from '../../src/model/report.ts';
import { alone, ignoresSignal, editing, judged, stampOf, storyObservations } from '../helpers/cases.ts';
import { checkPrefixes } from '../helpers/prefixes.ts';
import { observationsOf } from '../helpers/recordings.ts';
import { judgeStory } from '../helpers/simulated.ts';

const still = { offsetMs: 0, driftPpm: 0 };

/** The clock is set by `byMs` at `atMs` of the story. */
const set = (which: 'api' | 'node', atMs: number, byMs: number): Pick<Story, 'clocks'> => ({
  clocks: {
    api: still,
    node: still,
    controller: still,
    client: still,
    [which]: { offsetMs: 7, driftPpm: 0, step: { atMs, byMs } },
  },
});

const sleeps = alone({ preStop: { kind: 'sleep', seconds: 3 } });
const exits: [string, Partial<Story>, number][] = [
  ['killed at the end of the grace period', alone({ app: ignoresSignal }), 5000],
  ['drains 8.5 s of 10', alone({ app: drains(8500) }), 5000],
  ['sleep hook, set before the deletion', sleeps, 900],
  ['sleep hook, set while it runs', sleeps, 2500],
];

describe.each(exits)('%s', (_name, change, atMs) => {
  it.each([-5000, 3000])("every interval contains the truth if the API server's clock is set by %i ms", (by) => {
    expect(judgeStory(plainStory({ ...set('api', atMs, by), ...change })).wrong).toEqual([]);
  });

  it.each([3000])("every interval contains the truth if the node's clock is set by %i ms", (by) => {
    const { wrong, report } = judgeStory(plainStory({ ...set('node', atMs, by), ...change }));
    // Nothing is dated by such a clock, so a kill by its time alone is unknown.
    expect(wrong.filter((one) => !one.includes('unknown, not killed'))).toEqual([]);
    expect(report.phases.filter(({ seconds }) => seconds.min < 0)).toEqual([]);
  });
});

it.each([
  ['api', 2000, 'clock of the API server', 'clock-stepped'],
  ['node', 2000, 'clock of the node', 'clock-stepped'],
] as const)('the report says that the clock was set: %s by %i ms', (which, by, resource, cause) => {
  const { gaps } = judgeStory(plainStory({ ...set(which, 5000, by), ...alone({ app: drains(8500) }) })).report;
  expect(gaps).toContainEqual(expect.objectContaining({ resource, cause }));
});

it('podexit withdraws no claim if the clock of the Killing is set later', () => {
  const lines = [2000, 6000].map((atMs) => ({ atMs, text: `at ${atMs}` }));
  const rawObservations = storyObservations({
    ...set('node', 5000, 2000),
    ...alone({ app: { ...drains(8500), lines } }),
  });
  expect(checkPrefixes(observationsOf([...endedLikeLive(rawObservations)]), () => undefined).broken).toEqual([]);
});

it.each([-3000, 3000])(
  'every interval contains the truth if an API server that is %i ms off stamps the Events',
  (by) => {
    const { expected } = simulate(plainStory(sleeps));
    const skewed = editing(storyObservations(sleeps), 'events', (event) => ({
      ...event,
      metadata: {
        ...event.metadata,
        creationTimestamp: stampOf(Date.parse(String(event.metadata['creationTimestamp'])) + by),
      },
    }));
    const report = judged(skewed);
    const [app] = report.containers;
    const claims: Record<string, Instant | undefined> = {
      'stop-signal': app?.stopSignal,
      exited: app?.exit?.at,
      'prestop-end': app?.preStop?.end,
      noticed: report.marks.find(({ id }) => id === 'stopping/app')?.at,
    };
    for (const [name, claim] of Object.entries(claims)) {
      const truth = Date.parse(expected.instants.find((one) => one.name === name)?.client ?? '');
      expect(Date.parse(claim?.earliest ?? ''), name).toBeLessThanOrEqual(truth);
      expect(Date.parse(claim?.latest ?? ''), name).toBeGreaterThanOrEqual(truth);
    }
    expect(report.clocks.api?.offsetMs.min).toBeLessThanOrEqual(0);
    expect(report.clocks.api?.offsetMs.max).toBeGreaterThanOrEqual(0);
  },
);
