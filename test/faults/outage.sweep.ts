/**
 * The API server is down for 5 to 6 s just after the DELETE. What happens meanwhile arrives when it is back, so the
 * arrival shows neither when it happened nor how clocks differ. With `refused`, the kubelet's Events are stored only
 * then.
 */
import { expect, it } from 'vitest';
import { parseScenario } from '../../src/demo/scenario.ts';
import { seeded } from '../helpers/seeded.ts';
import { drains, plainContainer, plainStory } from '../sim/plain-story.ts';
import { simulate } from '../sim/simulate.ts';
import type { ContainerStory, Story } from '../sim/story.ts';
import type { Wanted } from './helpers/judged-run.ts';
import { judgeRun } from './helpers/judged-run.ts';
import { sideBySide } from './helpers/side-by-side.ts';
import { traced } from './helpers/traced.ts';

const beginsMs = 40;
const graceSeconds = 8;
const lengths = Array.from({ length: 11 }, (_, nth) => 5000 + nth * 100);

interface Outage {
  seed: number;
  containers: number;
  forMs: number;
  events: 'stored' | 'refused';
}

const outages: Outage[] = [1, 2].flatMap((seed) =>
  [1, 2, 3, 4, 5].flatMap((containers) =>
    lengths.flatMap((forMs) => (['stored', 'refused'] as const).map((events) => ({ seed, containers, forMs, events }))),
  ),
);

it(`every interval contains the truth in ${outages.length} outages that delay Events`, async () => {
  const found = (await sideBySide(outages, 8, judge)).flat();
  process.stdout.write(`outages: ${outages.length} runs, ${found.length} wrong\n`);
  expect(outages.length).toBeGreaterThanOrEqual(200);
  expect(found).toEqual([]);
});

async function judge(outage: Outage): Promise<string[]> {
  const story = storyOf(outage);
  const { rows, truth } = simulate(story);
  const lines = [...rows, ...truth.map((one) => ({ type: 'truth', ...one }))].map((row) => JSON.stringify(row));
  const scenario = parseScenario(lines.join('\n'));
  const faults = [{ kind: 'down', afterMs: beginsMs, forMs: outage.forMs } as const];
  const run = await traced(scenario, { server: { faults } });
  const { wrong, missed } = judgeRun(run, scenario, wantedOf(story, truth));
  const unstated = run.report?.gaps.length === 0 ? ['no gap is stated'] : [];
  return [...wrong, ...missed, ...unstated].map((what) => `${JSON.stringify(outage)}: ${what}`);
}

/** Containers with different exits, drawn by the seed. */
function storyOf({ seed, containers, forMs, events }: Outage): Story {
  const random = seeded(seed * 7919 + containers * 104_729 + forMs);
  return plainStory({
    pod: { ...plainStory().pod, graceSeconds },
    containers: Array.from({ length: containers }, (_, nth) => plainContainer(containerOf(random, nth))),
    faults: events === 'refused' ? [{ kind: 'events-refused', atMs: beginsMs, forMs }] : [],
  });
}

function containerOf(random: () => number, nth: number): Partial<ContainerStory> {
  const name = nth === 0 ? 'app' : `other${nth}`;
  const preStop = random() < 0.3 ? ({ kind: 'sleep', seconds: 1 + Math.floor(random() * 3) } as const) : undefined;
  const ignores = random() < 0.4;
  const app = ignores ? { ...drains(100), onSignal: { kind: 'ignores' } as const } : drains(100 + random() * 4500);
  return { name, app, logged: random() < 0.7, ...(preStop && { preStop }) };
}

/** The wanted outcomes, according to the simulated runtime's log. */
function wantedOf(story: Story, truth: ReturnType<typeof simulate>['truth']): Wanted {
  const isKilled = (name: string): boolean =>
    truth.some((one) => one.container === name && one.sigkill_sent !== undefined);
  const containers = story.containers.map(({ name }) => [name, isKilled(name) ? 'killed' : 'completed'] as const);
  return {
    outcome: containers.some(([, outcome]) => outcome === 'killed') ? 'killed' : 'graceful',
    containers: Object.fromEntries(containers),
  };
}
