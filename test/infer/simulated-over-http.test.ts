/** Some simulated exits, which the loopback server plays in real time to the real cluster code. */
import { expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../sim/plain-story.ts';
import { randomStory } from '../sim/random-story.ts';
import type { Story } from '../sim/story.ts';
import { simulate } from '../sim/simulate.ts';
import { parseScenario } from '../../src/demo/scenarios.ts';
import { sideBySide } from '../faults/helpers/side-by-side.ts';
import { traced } from '../faults/helpers/traced.ts';
import { rounds } from '../helpers/sweep.ts';
import { heldAgainst } from '../helpers/truth.ts';

const stories = Number(process.env['PODEXIT_HTTP_STORIES'] ?? rounds(6, 96));

/** The loopback server has one clock and renews Leases itself. Wrong clocks: robust.test.ts, simulated.test.ts. */
const exact = { offsetMs: 0, driftPpm: 0 };
const withOneClock = (story: Story): Story => ({
  ...story,
  readsLeases: false,
  clocks: { api: exact, node: exact, controller: exact, client: exact },
});

/**
 * The server cannot play our second DELETE, a node that never comes back, a pod that is never removed, and a slow
 * DELETE: it takes the time of its response as the time of acceptance.
 */
const isPlayable = ({ faults, trigger, network }: Story): boolean =>
  network.requestMs[1] < 20 &&
  trigger.kind === 'this-command' &&
  trigger.graceSeconds === null &&
  faults.every((fault) => fault.kind === 'log-break');

it(`judges ${stories} simulated exits over HTTP without a false claim`, { timeout: 300_000 }, async () => {
  const seeds = Array.from({ length: stories * 40 }, (_, index) => index + 1)
    .filter((seed) => isPlayable(randomStory(seed)) && randomStory(seed).later.length === 0)
    .slice(0, stories);
  const wrong = (await sideBySide(seeds, 6, judge)).flat();
  expect(seeds).toHaveLength(stories);
  expect(wrong).toEqual([]);
});

/** One status reports all exits, in whole seconds: they must stay with their containers. */
it('two containers that exit in the same second keep their own exits', async () => {
  const [one, two] = [plainContainer({ app: drains(300) }), plainContainer({ name: 'two', app: drains(620) })];
  expect(await judgeStory('both', withOneClock(plainStory({ containers: [one, two] })))).toEqual([]);
  expect(await judgeStory('swapped', withOneClock(plainStory({ containers: [two, one] })))).toEqual([]);
});

const judge = (seed: number): Promise<string[]> => judgeStory(`seed ${seed}`, withOneClock(randomStory(seed)));

async function judgeStory(name: string, story: Story): Promise<string[]> {
  const { rows, truth, expected } = simulate(story);
  const lines = [...rows, ...truth.map((one) => ({ type: 'truth', ...one }))].map((row) => JSON.stringify(row));
  const run = await traced(parseScenario(lines.join('\n')));
  if (!run.report) return [`${name}: no report: ${String(run.error)}`];
  const missed = heldAgainst(run.report, run.truths).filter((one) => !one.hit);
  const { outcome } = run.report.verdict;
  return [
    ...missed.map((one) => `${name}: ${one.instant} of ${one.container}`),
    ...(expected.outcomes.includes(outcome) ? [] : [`${name}: ${outcome}, not ${expected.outcomes.join(' or ')}`]),
    ...(run.deletesAccepted === 1 ? [] : [`${name}: ${run.deletesAccepted} deletions`]),
  ];
}
