/**
 * `npm run campaign -- --runs 1000 --seed 1`: random combinations of faults at random times, over all recordings of
 * single pods. The embedded server plays them to the real streams in virtual time. Prints how many runs ended with a
 * wrong outcome, with a true instant outside its interval, or with `unknown`. Exits 1 if there is any of the first two,
 * or more than 1 % of the last. A run depends only on its number: `--from N --runs 1` repeats one and prints its faults.
 */
import { parseArgs } from 'node:util';
import type { Scenario } from '../src/demo/scenarios.ts';
import type { Fault } from '../test/sim/faults/fault.ts';
import { loadRecording } from '../test/demo/helpers/load.ts';
import { drawFaults } from '../test/faults/helpers/random-faults.ts';
import { judgeRun, type JudgedRun, type Wanted } from '../test/faults/helpers/judged-run.ts';
import { sideBySide } from '../test/faults/helpers/side-by-side.ts';
import { traced } from '../test/faults/helpers/traced.ts';
import { recordingNames, secondSeriesNames } from '../test/helpers/recordings.ts';
import { seeded } from '../test/helpers/seeded.ts';

/** The largest share of runs that may end with `unknown`. */
const maxUnknownShare = 0.01;
const concurrentRuns = 6;

interface CleanRun {
  name: string;
  scenario: Scenario;
  wanted: Wanted;
  lastedMs: number;
}

interface FaultyRun extends JudgedRun {
  number: number;
  recording: string;
  faults: Fault[];
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      from: { type: 'string', default: '1' },
    },
  });
  const clean = await sideBySide([...recordingNames, ...secondSeriesNames.map((name) => `second/${name}`)], 8, play);
  const numbers = Array.from({ length: Number(values.runs) }, (_, index) => Number(values.from) + index);
  const runs = await sideBySide(numbers, concurrentRuns, (number) => faultyRun(clean, Number(values.seed), number));
  for (const run of runs.filter(({ wrong, missed }) => wrong.length + missed.length > 0 || runs.length === 1))
    process.stdout.write(`${sentence(run)}\n`);
  const wrong = runs.filter((run) => run.wrong.length > 0).length;
  const missed = runs.filter((run) => run.missed.length > 0).length;
  const unknown = runs.filter(({ isUnknown }) => isUnknown).length;
  const hedged = runs.filter(({ isHedged }) => isHedged).length;
  for (const run of runs.filter(({ isUnknown }) => isUnknown))
    process.stdout.write(`unknown: ${run.number} ${run.recording} ${JSON.stringify(run.faults)}\n`);
  process.stdout.write(
    `campaign: ${runs.length} runs over ${clean.length} recordings, ${wrong} wrong outcomes, ${missed} with a truth outside, ` +
      `${hedged} with "probably" another one, ${unknown} unknown (${((100 * unknown) / runs.length).toFixed(2)} %)\n`,
  );
  return wrong + missed > 0 || unknown > runs.length * maxUnknownShare ? 1 : 0;
}

/** Plays a recording without faults; every run of it is compared with this one. */
async function play(name: string): Promise<CleanRun> {
  const scenario = loadRecording(name);
  const { report, error, lasted } = await traced(scenario);
  if (!report || error) throw new Error(`${name} has no report without a fault`, { cause: error });
  const containers = Object.fromEntries(report.containers.map((one) => [one.name, one.outcome]));
  return { name, scenario, wanted: { outcome: report.verdict.outcome, containers }, lastedMs: lasted };
}

async function faultyRun(clean: readonly CleanRun[], seed: number, number: number): Promise<FaultyRun> {
  const random = seeded(seed * 1_000_003 + number * 7919);
  const { name, scenario, wanted, lastedMs } = clean[Math.floor(random() * clean.length)] as CleanRun;
  const faults = drawFaults(random, lastedMs);
  const phaseMs = Math.floor(random() * 1000);
  const run = await traced(scenario, { server: { faults }, phaseMs, seed: number });
  return { number, recording: name, faults, ...judgeRun(run, scenario, wanted) };
}

const sentence = ({ number, recording, wrong, missed, faults }: FaultyRun): string =>
  `run ${number}, ${recording}: ${[...wrong, ...missed.map((what) => `outside: ${what}`)].join('; ')}\n  ${JSON.stringify(faults)}`;

process.exitCode = await main();
