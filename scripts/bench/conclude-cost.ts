/**
 * The cost of one more observation of a pod: reducing it and inferring the timeline again, for pods with 5 and with 40
 * containers. A simulated exit runs many times in this process. The cost of an observation is the median of its turns,
 * because a single turn may contain a pause of the garbage collector. The first turns are not counted: V8 compiles the
 * code in them. Most of them use the small pod, because a turn of the large one takes half a second.
 */
import { timelineOf } from '../../src/infer/conclude.ts';
import { reduce } from '../../src/model/reduce.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { observationsOf } from '../../test/helpers/recordings.ts';
import { rawObservationsOfStory } from '../../test/helpers/simulated.ts';
import { drains, plainContainer, plainStory } from '../../test/sim/plain-story.ts';
import type { Contest } from './contest.ts';
import { quantile, spreadOf } from './spread.ts';

/**
 * `most`: the promised 99th percentile, ms. The small pod has more turns: it makes so little garbage that in a few turns the
 * collector pauses at the same observation each time.
 */
const sizes = [
  { containers: 5, most: 1, warmUpTurns: 200, turnsPerRound: 10 },
  { containers: 40, most: 10, warmUpTurns: 10, turnsPerRound: 1 },
] as const;

export async function concludeCost(rounds: number): Promise<Contest[]> {
  return sizes.map(({ containers, most, warmUpTurns, turnsPerRound }) => {
    const turns = turnsPerRound * rounds;
    const costs = costsOf(containers, turns, warmUpTurns);
    const medians = costs.map((ofOne) => quantile(ofOne, 0.5)).sort(ascending);
    const all = costs.flat().sort(ascending);
    return {
      name: `an observation of ${containers} containers`,
      unit: 'ms',
      ours: spreadOf(medians),
      promise: { of: 'p99, ms', value: quantile(medians, 0.99), most },
      note: `medians of ${turns} turns; p99 of all ${all.length}, pauses included: ${quantile(all, 0.99).toFixed(2)} ms`,
    };
  });
}

/** For each observation its cost in each turn, ms, ascending. */
function costsOf(containers: number, turns: number, warmUpTurns: number): number[][] {
  const story = plainStory({
    containers: Array.from({ length: containers }, (_, index) =>
      plainContainer({ name: `app-${index}`, app: drains(1000 + 100 * index) }),
    ),
  });
  const observations = observationsOf(rawObservationsOfStory(story));
  const costs = observations.map((): number[] => []);
  for (let turn = -warmUpTurns; turn < turns; turn += 1) {
    let trace = emptyTrace;
    observations.forEach((observation, index) => {
      const began = performance.now();
      trace = reduce(trace, observation);
      timelineOf(trace);
      if (turn >= 0) costs[index]?.push(performance.now() - began);
    });
  }
  return costs.map((ofOne) => ofOne.sort(ascending));
}

const ascending = (a: number, b: number): number => a - b;
