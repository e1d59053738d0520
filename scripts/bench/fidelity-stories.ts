/** Thousands of simulated exits: wrong statements in their reports, widths of the intervals, and cost of inference. */
import { timelineOf } from '../../src/infer/conclude.ts';
import { observationsOf, traceOf } from '../../test/helpers/recordings.ts';
import { judgeStory, rawObservationsOfStory } from '../../test/helpers/simulated.ts';
import { randomStory } from '../../test/sim/random-story.ts';
import { quantile } from './spread.ts';

export interface StoryFigures {
  count: number;
  /** The wrong statements of the report, by seed. */
  wrong: Record<number, string[]>;
  /** Seeds of exits whose report has a signal that was not sent. */
  unsent: number[];
  /** Outcome of the pod and of its containers, by seed. */
  outcomes: Record<number, string>;
  /** By instant: how many happened, the share that got an interval, and the median width of the intervals, ms. */
  instants: Record<string, { count: number; share: number; median: number }>;
  /** The cost of inferring a timeline, ms. */
  solve: { median: number; p99: number };
}

export function storyFigures(count: number): StoryFigures {
  const figures: StoryFigures = {
    count,
    wrong: {},
    unsent: [],
    outcomes: {},
    instants: {},
    solve: { median: 0, p99: 0 },
  };
  const widths = new Map<string, (number | undefined)[]>();
  for (let seed = 1; seed <= count; seed += 1) {
    const { report, wrong, unsent, instants } = judgeStory(randomStory(seed));
    if (wrong.length > 0) figures.wrong[seed] = wrong;
    if (unsent.length > 0) figures.unsent.push(seed);
    figures.outcomes[seed] = [report.verdict.outcome, ...report.containers.map((one) => one.outcome)].join(' ');
    for (const { name, width } of instants) widths.set(name, [...(widths.get(name) ?? []), width]);
  }
  for (const [name, all] of widths) {
    const known = all.flatMap((width) => width ?? []).sort((a, b) => a - b);
    figures.instants[name] = { count: all.length, share: known.length / all.length, median: quantile(known, 0.5) };
  }
  return { ...figures, solve: solveCost() };
}

/** Infers the timelines of many finished traces, many times each. */
function solveCost(): StoryFigures['solve'] {
  const traces = Array.from({ length: 100 }, (_, index) =>
    traceOf(observationsOf(rawObservationsOfStory(randomStory(index + 1)))),
  );
  // The minimum of several rounds, because everything above it is other work of the machine.
  const times = traces.map((trace) => {
    const rounds = Array.from({ length: 12 }, () => {
      const began = performance.now();
      timelineOf({ ...trace });
      return performance.now() - began;
    });
    return Math.min(...rounds.slice(3));
  });
  times.sort((a, b) => a - b);
  return { median: quantile(times, 0.5), p99: quantile(times, 0.99) };
}
