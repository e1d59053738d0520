/**
 * What one more observation of a pod costs: to reduce it and to conclude the timeline anew, for a pod of 5 containers and for one
 * of 40. In this process, over simulated exits. A first part of the turns only warms the compiler and is not counted.
 */
import { timelineOf } from '../../src/infer/conclude.ts';
import { reduce } from '../../src/model/reduce.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { observationsOf } from '../../test/helpers/recordings.ts';
import { rawObservationsOfStory } from '../../test/helpers/simulated.ts';
import { drains, plainContainer, plainStory } from '../../test/sim/plain-story.ts';
import type { Contest } from './contest.ts';
import { quantile, spreadOf } from './spread.ts';

/** `most`: ms, of the 99th percentile. */
const sizes = [
  { containers: 5, most: 1 },
  { containers: 40, most: 10 },
] as const;

const warmingTurns = 60;

export async function concludeCost(turns: number): Promise<Contest[]> {
  return sizes.map(({ containers, most }) => {
    const costs = costsOf(containers, turns);
    const p99 = quantile(costs, 0.99);
    return {
      name: `an observation of ${containers} containers`,
      unit: 'ms',
      ours: spreadOf(costs),
      promise: { of: 'p99, ms', value: p99, most },
      note: `p99 of ${costs.length}: ${p99.toFixed(2)} ms`,
    };
  });
}

/** ms of each observation, ascending. */
function costsOf(containers: number, turns: number): number[] {
  const story = plainStory({
    containers: Array.from({ length: containers }, (_, index) =>
      plainContainer({ name: `app-${index}`, app: drains(1000 + 100 * index) }),
    ),
  });
  const observations = observationsOf(rawObservationsOfStory(story));
  const costs: number[] = [];
  for (let turn = -warmingTurns; turn < turns; turn += 1) {
    let trace = emptyTrace;
    for (const observation of observations) {
      const began = performance.now();
      trace = reduce(trace, observation);
      timelineOf(trace);
      if (turn >= 0) costs.push(performance.now() - began);
    }
  }
  return costs.sort((a, b) => a - b);
}
